import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { readHead } from '../../protocol/chain/record.ts';
import type { Decision } from '../../protocol/log/decision.ts';
import { fallsFrom } from '../../protocol/log/revocation.ts';
import { type ConsensusTimestamp, type Timestamp, timestampOf, timestampOfConsensus } from '../../protocol/time.ts';
import type { FederationLog } from '../log/federation-log.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { readGroup, readRecordTexts } from '../records/record-reader.ts';
import { readBatchOf, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';

/** A record of this node that does not count any more, because a key under it was compromised. */
export interface FallenRecord {
  readonly id: RecordId;
  readonly seq: number;
  /** Null while it is not sealed. */
  readonly batch: number | null;
  /** When the ledger decided its batch; null where it decided none. */
  readonly consensus: ConsensusTimestamp | null;
  /** The revoked key, of the record's group or of its batch. */
  readonly keyId: Sha256Hash;
  /** From when on what it signed falls. */
  readonly fallsFrom: Timestamp;
}

export interface FallenPage {
  readonly records: readonly FallenRecord[];
  /** Record to go on from; null after the last. A page may be empty and not the last. */
  readonly next: number | null;
}

export interface FallenRecordsOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly keys: Pick<FederationKeys, 'currentRosters' | 'directory'>;
  readonly federationLog: Pick<FederationLog, 'state'>;
  /** The decision of an own batch, where it names this very envelope. */
  readonly decisionOf: (batch: StoredBatch) => Promise<Decision | null>;
}

type FallenKey = Pick<FallenRecord, 'fallsFrom' | 'keyId'>;

interface Standing extends Pick<FallenRecord, 'batch' | 'consensus'> {
  /** Keys that signed the records: of their group, then of their batch. */
  readonly signers: readonly Sha256Hash[];
}

/** Groups that one page looks at. */
const PAGE_GROUPS = 512;
/** Records of one page, about. */
const PAGE_RECORDS = 512;

/**
 * Which of this node's own records fell by a revocation, and have to be attested again. Read-only; judged again each
 * time.
 */
export class FallenRecords {
  readonly #options: FallenRecordsOptions;

  constructor(options: FallenRecordsOptions) {
    this.#options = options;
  }

  /**
   * From when on what this node signed with a key falls, by the revocation of it that reaches furthest back: one that is
   * not in force yet as if it had been decided when it was issued. Null of a key that nobody else may have held.
   */
  fallsFrom(keyId: Sha256Hash): Timestamp | null {
    const { self, keys, federationLog } = this.#options;
    const { rosters, revoked } = federationLog.state;
    const inForce = keys.currentRosters.inForce.rosters;
    const times = keys.directory.revocations(self, keyId).flatMap(({ revocation, hash }) => {
      const decided = revoked[self]?.[keyId]?.find(({ statement }) => statement === hash);
      const before = rosters.filter(({ index }) => decided === undefined || index === null || index < decided.index);
      const roster = inForce[before.length - 1] ?? keys.currentRosters.inForce.current;
      const at = decided === undefined ? revocation.issuedAt : timestampOfConsensus(decided.consensusTimestamp);
      return fallsFrom(revocation, Date.parse(at), roster.revocationReach) ?? [];
    });
    return times.length === 0 ? null : timestampOf(Math.min(...times));
  }

  /** Those from record `from` on, in order; with `only` those that fell by this key. */
  async page(from = 1, only?: Sha256Hash): Promise<FallenPage> {
    const { store, self } = this.#options;
    const first = this.#firstSeq(only);
    if (first === undefined) return { records: [], next: null };
    const records: FallenRecord[] = [];
    let seq = Math.max(from, first);
    for (let looked = 0; looked < PAGE_GROUPS && records.length < PAGE_RECORDS; looked++) {
      const found = await readGroup(store, self, seq);
      if (found === undefined) return { records, next: null };
      const end = Math.min(found.group.first + found.group.size, seq + PAGE_RECORDS);
      const standing = await this.#standingOf(seq, found.group.keyId);
      const fallen = this.#fallenKey(standing);
      if (fallen !== undefined && (only ?? fallen.keyId) === fallen.keyId) {
        records.push(...(await this.#records(seq, end - seq, standing, fallen)));
      }
      seq = end;
    }
    return { records, next: seq };
  }

  /** The first record that a revoked key may have signed. */
  #firstSeq(only: Sha256Hash | undefined): number | undefined {
    const { self, keys } = this.#options;
    const seqs = keys.directory
      .of(self)
      .filter(({ certificate: { keyId } }) => (only ?? keyId) === keyId)
      .filter(({ certificate: { keyId } }) => keys.directory.compromisedSince(self, keyId) !== null)
      .map(({ certificate }) => certificate.seqFrom);
    return seqs.length === 0 ? undefined : Math.min(...seqs);
  }

  async #standingOf(seq: number, groupKey: Sha256Hash): Promise<Standing> {
    const { store, self, decisionOf } = this.#options;
    const stored = await readBatchOf(store, self, seq);
    if (stored === undefined) return { batch: null, consensus: null, signers: [groupKey] };
    const { envelope } = stored;
    const consensus = (await decisionOf(stored))?.consensusTimestamp ?? null;
    return { batch: envelope.batch, consensus, signers: [groupKey, envelope.keyId] };
  }

  #fallenKey({ signers, consensus }: Standing): FallenKey | undefined {
    for (const keyId of signers) {
      const from = this.fallsFrom(keyId);
      const stands = from === null || (consensus !== null && timestampOfConsensus(consensus) < from);
      if (!stands) return { keyId, fallsFrom: from };
    }
    return undefined;
  }

  async #records(
    first: number,
    size: number,
    { batch, consensus }: Standing,
    { keyId, fallsFrom: from }: FallenKey,
  ): Promise<readonly FallenRecord[]> {
    const { store, self } = this.#options;
    const texts = await Array.fromAsync(readRecordTexts(store, self, first, size));
    return texts.map(({ head }) => {
      const { id, seq } = readHead(head);
      return { id, seq, batch, consensus, keyId, fallsFrom: from };
    });
  }
}
