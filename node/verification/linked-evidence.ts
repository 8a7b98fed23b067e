import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { isMadeElsewhere } from '../../protocol/accounts/speaker.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { readBatchOf, type StoredBatch } from '../records/batch-tables.ts';
import { RecordDamagedError } from '../records/record-reader.ts';
import type { Reads } from '../store/store.ts';
import { AccountVersions } from './account-versions.ts';
import { DecidingVersions, youngestFirst } from './deciding-versions.ts';
import {
  completedIn,
  decisionNaming,
  type Evidence,
  type EvidenceSources,
  readReceived,
  type ReceivedRecord,
} from './evidence.ts';
import { findLinked } from './linked-records.ts';

/** Evidence about the records linked to one. What does not hold is still among it: it is judged like any other. */
export interface LinkedEvidence {
  /** About the records that the evidence rules read. */
  readonly evidence: readonly Evidence[];
  readonly incidents: readonly Evidence[];
  /**
   * About the versions of the account's statement that say whether the nodes of these, and of the record itself, speak
   * for the account: none where the account's home made all of them.
   */
  readonly statements: readonly Evidence[];
  /** Whether there is more of it than was gathered. */
  readonly truncated: boolean;
}

export interface LinkedReaderOptions {
  readonly sources: EvidenceSources;
  /** As in `LinkedSources`. Default: the store of these sources. */
  readonly marks?: Pick<Reads, 'get'>;
  readonly log: Pick<Logger, 'error'>;
  readonly maxBytes?: number;
}

/** A linked record of which all evidence is at hand, or the record alone. */
type Candidate =
  | { readonly record: AttestationRecord; readonly evidence: Evidence }
  | { readonly record: AttestationRecord; readonly received: ReceivedRecord };

/** Notes that the evidence about a record cannot be read. */
type Note = (id: RecordId, error: unknown) => void;

/** Of the evidence that is kept, in bytes: enough for some three thousand linked records. */
const MAX_BYTES = 48 << 20;
/** What a piece of evidence takes beside its texts, about: what was read of them, and hashes of its paths. */
const EVIDENCE_BYTES = 4_096;

/**
 * Gathers the evidence about the records linked to a record, as far as this store has it.
 *
 * What was judged to hold once its batch was decided is kept: its record, receipt, envelope and decision never change
 * any more. Whether it still holds is judged each time; what does not is read again.
 */
export class LinkedReader {
  readonly #sources: EvidenceSources;
  readonly #marks: Pick<Reads, 'get'> | undefined;
  readonly #log: Pick<Logger, 'error'>;
  readonly #kept: LRUCache<RecordId, Evidence>;
  readonly #versions: AccountVersions;

  constructor({ sources, marks, log, maxBytes = MAX_BYTES }: LinkedReaderOptions) {
    this.#sources = sources;
    this.#marks = marks;
    this.#log = log;
    this.#versions = new AccountVersions(sources);
    this.#kept = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
  }

  /**
   * Never throws: the record itself is judged whatever became of those linked to it, and what of them cannot be read
   * shows nothing. `named`: evidence from elsewhere, for where this store has none. Of a record that is not held what
   * names it may be missing.
   */
  async read(
    { record: subject, isHeld }: Pick<Evidence, 'isHeld' | 'record'>,
    named: readonly Evidence[] = [],
  ): Promise<LinkedEvidence> {
    const { store } = this.#sources;
    const damaged: RecordId[] = [];
    const note: Note = (id, error) => {
      this.#log.error({ err: error, id }, 'the evidence about a linked record cannot be read');
      damaged.push(id);
    };
    const trying = async <Result>(id: RecordId, read: () => Promise<Result>): Promise<Result | undefined> => {
      try {
        return await read();
      } catch (error) {
        // A record that is damaged shows nothing, as if it were not there.
        if (error instanceof RecordDamagedError) return undefined;
        note(id, error);
        return undefined;
      }
    };
    const find = async (id: RecordId): Promise<Candidate | undefined> => {
      const evidence = named.find(({ record }) => record.id === id);
      return (await trying(id, () => this.#candidate(id))) ?? (evidence && { record: evidence.record, evidence });
    };
    try {
      const found = await findLinked({ store, marks: this.#marks, read: find }, subject);
      const completed = await this.#completed([...found.evidence, ...found.incidents], note);
      const evidenceOf = (one: Candidate) => completed.get(one) ?? [];
      const [evidence, incidents] = [found.evidence.flatMap(evidenceOf), found.incidents.flatMap(evidenceOf)];
      const elsewhere = [...evidence, ...incidents].filter(({ record }) => isMadeElsewhere(record));
      const isWhole = () => isHeld && !found.truncated && damaged.length === 0;
      if (elsewhere.length === 0 && !isMadeElsewhere(subject)) {
        return { evidence, incidents, statements: [], truncated: !isWhole() };
      }
      const deciding = await this.#deciding(subject, elsewhere, (id) => trying(id, () => this.#candidate(id)), note);
      const [kept, others] = [evidence.filter(deciding.decides), incidents.filter(deciding.decides)];
      const isCut = kept.length < evidence.length || others.length < incidents.length;
      return { evidence: kept, incidents: others, statements: deciding.statements, truncated: !isWhole() || isCut };
    } catch (error) {
      this.#log.error({ err: error, id: subject.id }, 'records linked to this one cannot be read');
      return { evidence: [], incidents: [], statements: [], truncated: true };
    }
  }

  /**
   * The versions that decide of these, and whether the one that decides of some evidence is at hand, if there is one.
   */
  async #deciding(
    subject: AttestationRecord,
    elsewhere: readonly Evidence[],
    read: (id: RecordId) => Promise<Candidate | undefined>,
    note: Note,
  ): Promise<{ readonly statements: readonly Evidence[]; readonly decides: (evidence: Evidence) => boolean }> {
    const places = youngestFirst(elsewhere.map(placeOf));
    const own = isMadeElsewhere(subject) ? [await this.#versions.placeOf(subject)] : [];
    const found = await DecidingVersions.find(this.#versions, subject.account, [...own, ...places]);
    const ids = found.versions.map(({ id }) => id);
    const candidates = (await Promise.all(ids.map(read))).filter((one) => one !== undefined);
    const statements = [...(await this.#completed(candidates, note)).values()];
    const missing = new Set(ids).difference(new Set(statements.map(({ record }) => record.id)));
    const decides = (one: Evidence) => !isMadeElsewhere(one.record) || found.covers(placeOf(one), missing);
    return { statements, decides };
  }

  async #completed(candidates: readonly Candidate[], note: Note): Promise<ReadonlyMap<Candidate, Evidence>> {
    const read = candidates.flatMap((one) => ('received' in one ? [one.received] : []));
    const completed = await completedTogether(this.#sources, read, ({ record: { id } }, error) => note(id, error));
    const evidenceOf = (one: Candidate) => ('evidence' in one ? one.evidence : completed.get(one.received));
    return new Map(
      candidates.flatMap((one) => {
        const evidence = evidenceOf(one);
        return evidence === undefined ? [] : [[one, evidence]];
      }),
    );
  }

  /** Notes whether a linked record was judged to hold. */
  note(evidence: Evidence, holds: boolean): void {
    const { id } = evidence.record;
    if (!holds || evidence.decision === null) this.#kept.delete(id);
    else if (!this.#kept.has(id)) this.#kept.set(id, evidence);
  }

  async #candidate(id: RecordId): Promise<Candidate | undefined> {
    const kept = this.#kept.get(id);
    if (kept !== undefined) return { record: kept.record, evidence: kept };
    const received = await readReceived(this.#sources.store, id);
    return received && { record: received.record, received };
  }
}

function placeOf({ decision }: Evidence): number | null {
  return decision?.index ?? null;
}

function bytesOf({ proof: { record, receipt, batch } }: Evidence): number {
  const texts = [
    record.head,
    record.body ?? '',
    receipt.statement,
    receipt.signature,
    batch?.envelope ?? '',
    batch?.signature ?? '',
  ];
  return EVIDENCE_BYTES + texts.reduce((sum, { length }) => sum + length, 0);
}

/** Records of one batch, or of none while they are unsealed. */
interface Share {
  readonly batch: StoredBatch | undefined;
  readonly records: ReceivedRecord[];
}

/**
 * All evidence about several records that were read: of each batch that they are in envelope, decision and tiles are
 * read once. What cannot be read is told, record by record, and left out.
 */
async function completedTogether(
  sources: EvidenceSources,
  all: readonly ReceivedRecord[],
  failed: (received: ReceivedRecord, error: unknown) => void,
): Promise<ReadonlyMap<ReceivedRecord, Evidence>> {
  const found = new Map<ReceivedRecord, Evidence>();
  const slices = new TimeSlices();
  const complete = async ({ batch, records }: Share): Promise<void> => {
    const decided = batch && { ...batch, decision: await decisionNaming(sources.decisionOf, batch) };
    // One after the other: the first few of a group have its tree built, and the others take their paths from it.
    for (const one of records) {
      if (slices.isOver) await slices.rest();
      try {
        found.set(one, await completedIn(sources, one, decided));
      } catch (error) {
        failed(one, error);
      }
    }
  };
  const ofNodes = Map.groupBy(all, ({ record }) => record.node);
  const shares = await Promise.all([...ofNodes].map(([node, records]) => shared(sources.store, node, records, failed)));
  await Promise.all(
    shares
      .flat()
      .map((share) => complete(share).catch((error: unknown) => share.records.forEach((one) => failed(one, error)))),
  );
  return found;
}

/** Records of one node by the batches that they are in: one is looked for only where the one before does not reach. */
async function shared(
  store: Reads,
  node: NodeId,
  records: readonly ReceivedRecord[],
  failed: (received: ReceivedRecord, error: unknown) => void,
): Promise<readonly Share[]> {
  const shares: Share[] = [];
  for (const one of records.toSorted((a, b) => a.record.seq - b.record.seq)) {
    const { seq } = one.record;
    const last = shares.at(-1);
    if (last !== undefined && reaches(last, seq)) {
      last.records.push(one);
      continue;
    }
    try {
      shares.push({ batch: await readBatchOf(store, node, seq), records: [one] });
    } catch (error) {
      failed(one, error);
    }
  }
  return shares;
}

function reaches({ batch }: Share, seq: number): boolean {
  return batch !== undefined && seq < batch.envelope.first + batch.envelope.size;
}
