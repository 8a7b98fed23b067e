import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { PeerStatementError } from './members/peer-statement-error.ts';

/** What the federation's log has decided, as far as this node has read it. */
export interface Decided {
  /** Hash of the envelope that was decided of a batch; undefined while none is. */
  readonly envelopeOf: (node: NodeId, batch: number) => Promise<Sha256Hash | undefined>;
  /** Whether a revocation of a node's key is in force: a name with that key decides nothing any more. */
  readonly isRevoked: (node: NodeId, keyId: Sha256Hash) => boolean;
}

/**
 * Whether the log decided this envelope, whose statement is `text`, or may do so yet (protocol §2): not where it
 * decided another one of that number, nor where it decided none and the envelope's key is revoked.
 */
export async function isDecidable(decided: Decided, envelope: Envelope, text: string): Promise<boolean> {
  const { node, batch, keyId } = envelope;
  const hash = await decided.envelopeOf(node, batch);
  return hash === undefined ? !decided.isRevoked(node, keyId) : hash === hashText(nativeSuite, text);
}

/** Throws `PeerStatementError` `undecidable`. */
export async function requireDecidable(decided: Decided, envelope: Envelope, text: string): Promise<void> {
  if (await isDecidable(decided, envelope, text)) return;
  const { node, batch } = envelope;
  throw new PeerStatementError('undecidable', `the log cannot decide this envelope of batch ${node}/${batch} any more`);
}
