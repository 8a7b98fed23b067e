import type { Anchor } from '../anchoring/anchors.ts';
import type { NamedStatement } from '../../protocol/log/naming.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';

/** What this node has read on the ledger itself, as far as it has read. Later messages have higher sequence numbers. */
export interface LedgerView {
  /** The first message that names a roster, not the genesis one, or a revocation. */
  readonly statementAnchor: (statement: NamedStatement) => Promise<Anchor | undefined>;
  /** The first message that is the anchor of this very envelope, whose statement is `text`. */
  readonly envelopeAnchor: (envelope: Envelope, text: string) => Promise<Anchor | undefined>;
}
