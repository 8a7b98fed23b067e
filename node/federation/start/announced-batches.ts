import type { Envelope } from '../../../protocol/chain/envelope.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { SignedStatement } from '../../../protocol/statement/statement.ts';
import type { Decided } from '../../log/decidable.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import { PeerStatementError } from '../../log/members/peer-statement-error.ts';
import { openEnvelope } from '../equivocations.ts';

export interface AnnouncedBatchesOptions {
  readonly self: NodeId;
  readonly keys: Pick<FederationKeys, 'directory' | 'rosters'>;
  readonly decided: Decided;
}

/**
 * Own batches of which members show the announced envelope, whether or not anybody holds the records. The store may be
 * older than they are: another envelope of such a number would be a second story.
 */
export class AnnouncedBatches {
  readonly #options: AnnouncedBatchesOptions;
  /** By their texts: members are asked again and again. */
  readonly #envelopes = new Map<string, Envelope>();

  constructor(options: AnnouncedBatchesOptions) {
    this.#options = options;
  }

  /** Takes an envelope that a member shows. Throws `PeerStatementError` where it is none of this node. */
  take(signed: SignedStatement): void {
    const { self, keys } = this.#options;
    const envelope = openEnvelope(keys, signed);
    if (envelope.node !== self) throw new PeerStatementError('malformed', 'an announced batch of another node');
    this.#envelopes.set(signed.statement, envelope);
  }

  /**
   * The last of these numbers that the log has not decided; 0 for none. One whose key was revoked as compromised counts
   * no more: it accuses nobody.
   */
  async last(): Promise<number> {
    const { self, keys, decided } = this.#options;
    let last = 0;
    for (const { batch, keyId } of this.#envelopes.values()) {
      const isExcused = decided.isRevoked(self, keyId) && keys.directory.compromisedSince(self, keyId) !== null;
      if (batch <= last || isExcused || (await decided.envelopeOf(self, batch)) !== undefined) continue;
      last = batch;
    }
    return last;
  }
}
