import { homeOf } from '../../../protocol/accounts/account-id.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { versionIdUpTo } from '../../records/account-record-table.ts';
import { readRecord } from '../../records/record-reader.ts';
import { readBatch } from '../../records/batch-tables.ts';
import type { Reads } from '../../store/store.ts';

/** What the records that are held here say of an account. */
export interface KnownVersions {
  /** The newest version that its home made. */
  readonly newest: AttestationRecord;
  /** The newest of those that the log has decided; undefined before the first. */
  readonly decided: AttestationRecord | undefined;
}

export interface AccountVersionsOptions {
  readonly store: Reads;
  /** Hash of the envelope that the log decided of a batch; undefined while it decided none. */
  readonly envelopeOf: (node: NodeId, batch: number) => Promise<Sha256Hash | undefined>;
  /** Number of the last batch of a node that the log has decided, 0 before the first. */
  readonly lastDecided: (node: NodeId) => number;
  /** Number of the last batch of a node that is held here, 0 for none. */
  readonly lastHeld: (node: NodeId) => number;
}

/** Held batches that are looked at for the last decided one: those in between are about to be replaced. */
const MOST_OUTDONE = 64;

/**
 * The versions of statements of accounts of other nodes, as the homes' own chains tell them: the order of the chain is
 * the order of the versions, so that none can be played again. A look costs a few reads, however long the history.
 */
export class AccountVersions {
  readonly #options: AccountVersionsOptions;

  constructor(options: AccountVersionsOptions) {
    this.#options = options;
  }

  /** Undefined where the account's home has made none that is held here. */
  async of(account: string): Promise<KnownVersions | undefined> {
    const home = homeOf(account);
    const newest = home && (await this.#upTo(account, home));
    if (newest === undefined) return undefined;
    const end = await this.#decidedEnd(newest.node);
    return { newest, decided: newest.seq <= end ? newest : await this.#upTo(account, newest.node, end) };
  }

  async #upTo(account: string, home: NodeId, seq?: number): Promise<AttestationRecord | undefined> {
    const id = await versionIdUpTo(this.#options.store, account, home, seq);
    return id && (await readRecord(this.#options.store, id))?.record;
  }

  /** Seq of the last record of a node that is held in a batch as the log has decided it. */
  async #decidedEnd(node: NodeId): Promise<number> {
    const { store, envelopeOf, lastDecided, lastHeld } = this.#options;
    const last = Math.min(lastDecided(node), lastHeld(node));
    for (let batch = last; batch > Math.max(0, last - MOST_OUTDONE); batch--) {
      const held = await readBatch(store, node, batch);
      if (held === undefined) return 0;
      const { first, size } = held.envelope;
      if ((await envelopeOf(node, batch)) === hashText(nativeSuite, held.signed.statement)) return first + size - 1;
    }
    return 0;
  }
}

/** The nodes that a version names. */
export function namedBy({ claims }: Pick<AttestationRecord, 'claims'>): readonly NodeId[] {
  return claims.nodes ?? [];
}
