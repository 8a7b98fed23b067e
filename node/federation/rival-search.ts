import type { NodeId } from '../../protocol/ids.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import { openEnvelope } from './equivocations.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import type { PageClient } from './page-client.ts';
import { decodeItem } from './page-forms.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';

export interface RivalSearchOptions {
  readonly keys: FederationKeys;
  readonly pages: Pick<PageClient, 'frames'>;
  readonly signal: AbortSignal;
}

/**
 * Asks peers to prove what they say of a batch. What a peer says of its heads is not signed; the envelope that it
 * stands on is, by the batch's own node.
 */
export class RivalSearch {
  readonly #options: RivalSearchOptions;

  constructor(options: RivalSearchOptions) {
    this.#options = options;
  }

  /**
   * The envelope that the peer holds of a batch, checked; undefined where it has none. Throws `PeerStatementError` on
   * anything else, `TransportError` where the peer does not answer.
   */
  async envelope(peer: NodeId, node: NodeId, batch: number): Promise<StoredBatch | undefined> {
    const { pages, signal, keys } = this.#options;
    const [frame] = await pages.frames(peer, { want: 'envelope', node, batch }, signal);
    if (frame === undefined) return undefined;
    const item = decodeItem(frame);
    if (item.kind !== 'envelope') throw new PeerStatementError('malformed', `a ${item.kind} instead of an envelope`);
    const envelope = openEnvelope(keys, item.signed);
    if (envelope.node !== node || envelope.batch !== batch) {
      throw new PeerStatementError('malformed', `batch ${envelope.node}/${envelope.batch} was not asked for`);
    }
    return { envelope, signed: item.signed };
  }
}
