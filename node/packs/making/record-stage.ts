import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { equalBytes } from '../../../protocol/bytes.ts';
import { type AttestationRecord, recordLeaf, type WholeTexts } from '../../../protocol/chain/record.ts';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { multiProof } from '../../../protocol/merkle/multi-proof.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import { batchLine, groupLine, linesOf, recordLine } from '../../../protocol/pack/pack-lines.ts';
import type { PortCaller } from '../../concurrency/port-call.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { readBatchOf, type StoredBatch } from '../../records/batch-tables.ts';
import type { OpenedPayload } from '../../records/payload/payload-cipher.ts';
import { type GroupReceipt, readGroup, tryOpenRecord } from '../../records/record-reader.ts';
import { BodyReader } from '../../records/sources/body-reader.ts';
import type { Reads } from '../../store/store.ts';
import { disclosureOf } from '../../verification/bundles.ts';
import { tilesOf } from '../../verification/evidence.ts';
import { ProofTrees } from '../../verification/proof-trees.ts';
import { type PackCalls, PackError } from '../pack-calls.ts';
import type { AskedOfNode } from './asked-records.ts';
import { fileSource } from './file-source.ts';
import { GROWING, RecordFiles } from './record-files.ts';

/** Records after which the next whole batch is marked as done. */
const MARKED_RECORDS = 4_096;

/** Who looks at the records of a pack as they are written, in order. */
export interface RecordTaker {
  take(record: AttestationRecord, leaf: Sha256Hash): void;
  /** A record that is asked for is not in the store as it was signed. */
  missing(node: NodeId, seq: number): void;
  /** Its payload is erased. */
  erased(id: RecordId): void;
}

export interface RecordStageOptions {
  readonly folder: string;
  readonly store: Reads;
  readonly calls: Pick<PortCaller<PackCalls>, 'call'>;
  readonly question: PackQuestion;
  readonly taker: RecordTaker;
  /** Of `records.csv`: the line of a record; null of one that it does not show. */
  readonly tableLine: (record: AttestationRecord) => string | null;
  readonly tableHead: string;
}

/** A record as it is written. */
interface HeldRecord {
  readonly seq: number;
  readonly texts: WholeTexts;
  readonly record: AttestationRecord;
}

/**
 * Writes the records of a pack with what proves them: `records.jsonl` and `records.csv`, and the lines of their groups
 * and batches beside them. Goes on where it was stopped; no more than a group of records is held.
 */
export class RecordStage {
  readonly #options: RecordStageOptions;
  readonly #trees = new ProofTrees();
  readonly #erasures: ReadonlyMap<RecordId, unknown>;
  readonly #asked: readonly AskedOfNode[];
  readonly #total: number;
  #records = 0;

  /** `asked`: in order of the nodes' names. */
  constructor(options: RecordStageOptions, asked: readonly AskedOfNode[]) {
    this.#options = options;
    this.#asked = asked;
    this.#total = asked.reduce((sum, { seqs }) => sum + seqs.length, 0);
    this.#erasures = new Map(asked.flatMap(({ erasures }) => [...erasures]));
  }

  /** Resolves to the number of records that are in the files. Throws `PackError`. */
  async run(): Promise<number> {
    await using files = await RecordFiles.open(this.#options.folder);
    if (files.begun.lengths.table === 0) await files.files.table.append(this.#options.tableHead);
    else await this.#takeAgain(files.begun.done);
    let done = 0;
    let marked = files.begun.done;
    await this.#tell(marked);
    for (const { node, seqs } of this.#asked) {
      const bodies = new BodyReader(this.#options.store, node);
      for (let at = Math.max(0, files.begun.done - done); at < seqs.length;) {
        at = await this.#writeBatch(files, bodies, node, seqs, at);
        if (done + at - marked < MARKED_RECORDS) continue;
        marked = done + at;
        await files.mark(marked, this.#records);
        await this.#tell(marked);
      }
      done += seqs.length;
    }
    await files.mark(done, this.#records);
    await this.#tell(done);
    return this.#records;
  }

  #tell(done: number): Promise<undefined> {
    return this.#options.calls.call('progress', { done, total: this.#total });
  }

  /** Looks again at the records that were written before a stop. */
  async #takeAgain(done: number): Promise<void> {
    const { folder, question, taker } = this.#options;
    await using file = await open(join(folder, GROWING.records));
    const source = await fileSource(file);
    const lines = linesOf(source, { name: GROWING.records, size: source.size, crc: 0, from: 0 });
    const expected = seqsOf(this.#asked, done);
    for await (const line of lines) {
      const { head, body, disclosure } = recordLine.parse(line);
      const record = tryOpenRecord({ head, body });
      if (record === undefined) throw new PackError('what was made of the pack before does not read');
      for (let next = expected.next(); !next.done; next = expected.next()) {
        if (next.value.node === record.node && next.value.seq === record.seq) break;
        taker.missing(next.value.node, next.value.seq);
      }
      this.#take({ seq: record.seq, texts: { head, body }, record });
      if (question.disclosure && disclosure === undefined) this.#noteErased(record.id);
    }
    for (const { node, seq } of expected) taker.missing(node, seq);
  }

  /** Of a payload that is gone, and no record of its erasure says so. */
  #noteErased(id: RecordId): void {
    if (!this.#erasures.has(id)) this.#options.taker.erased(id);
  }

  #take({ record, texts }: HeldRecord): void {
    this.#records++;
    if (this.#erasures.has(record.id)) this.#options.taker.erased(record.id);
    this.#options.taker.take(record, writeSha256(recordLeaf(nativeSuite, texts.head)));
  }

  /** Writes what is asked of one batch from place `at` on; the place behind it. */
  async #writeBatch(
    { files }: RecordFiles,
    bodies: BodyReader,
    node: NodeId,
    seqs: Float64Array,
    at: number,
  ): Promise<number> {
    const { store, calls } = this.#options;
    const batch = await readBatchOf(store, node, seqs[at] ?? 0);
    if (batch === undefined) throw new PackError(`record ${seqs[at]} of ${node} is in no sealed batch`);
    const { envelope, signed } = batch;
    const decision = await calls.call('place', { node, batch: envelope.batch });
    if (decision === null) throw new PackError(`batch ${envelope.batch} of ${node} is not decided`);
    const end = endOf(seqs, at, envelope.first + envelope.size);
    let groups = 0;
    for (let next = at; next < end;) {
      const receipt = await readGroup(store, node, seqs[next] ?? 0);
      if (receipt === undefined) throw new PackError(`record ${seqs[next]} of ${node} is in no signed group`);
      const from = next;
      next = endOf(seqs, from, receipt.group.first + receipt.group.size);
      const held = await this.#holdGroup(bodies, batch, receipt, seqs.subarray(from, next));
      if (held.length > 0) {
        groups++;
        await files.groups.append(await this.#groupLine(batch, receipt, held));
      }
      await this.#writeRecords(files, node, seqs.subarray(from, next), held);
    }
    const line = { envelope: signed.statement, signature: signed.signature, decision, groups };
    if (groups > 0) await files.batches.append(batchLine.write(line));
    return end;
  }

  /** Of a group the records that are asked for and are in the store as they were signed. */
  async #holdGroup(
    bodies: BodyReader,
    { envelope }: StoredBatch,
    { group }: GroupReceipt,
    seqs: Float64Array,
  ): Promise<readonly HeldRecord[]> {
    const { store } = this.#options;
    const leaves = await this.#trees.batchLeaves(envelope, group.first, group.size, tilesOf(store, envelope));
    const held: HeldRecord[] = [];
    for (const seq of seqs) {
      const texts = await bodies.texts(seq);
      const record = texts && tryOpenRecord(texts);
      const leaf = leaves[seq - group.first];
      const isSigned =
        texts !== undefined && leaf !== undefined && equalBytes(recordLeaf(nativeSuite, texts.head), leaf);
      if (texts !== undefined && record?.seq === seq && isSigned) held.push({ seq, texts, record });
    }
    return held;
  }

  async #groupLine(
    { envelope }: StoredBatch,
    { group, signed }: GroupReceipt,
    held: readonly HeldRecord[],
  ): Promise<string> {
    const read = tilesOf(this.#options.store, envelope);
    const seqs = held.map(({ seq }) => seq);
    const inGroup = seqs.map((seq) => seq - group.first);
    const inBatch = seqs.map((seq) => seq - envelope.first);
    const groupPath = await multiProof(inGroup, group.size, (index) =>
      this.#trees.groupPath(group, group.first + index, (from, count) =>
        this.#trees.batchLeaves(envelope, group.first + from, count, read),
      ),
    );
    const batchPath = await multiProof(inBatch, envelope.size, (index) =>
      this.#trees.batchPath(envelope, envelope.first + index, read),
    );
    return groupLine.write({
      ...signed,
      seqs,
      groupPath: groupPath.map(writeSha256),
      batchPath: batchPath.map(writeSha256),
    });
  }

  /** Writes the records of a group that are held, in order; tells of those that are asked for and are not. */
  async #writeRecords(
    files: RecordFiles['files'],
    node: NodeId,
    asked: Float64Array,
    held: readonly HeldRecord[],
  ): Promise<void> {
    const { calls, question, tableLine, taker } = this.#options;
    const opened = question.disclosure
      ? await calls.call(
          'disclose',
          held.map(({ record: { id, seq } }) => ({ id, seq })),
        )
      : [];
    let next = 0;
    for (const seq of asked) {
      const one = held[next];
      if (one?.seq !== seq) {
        taker.missing(node, seq);
        continue;
      }
      const payload = opened[next++];
      await files.records.append(lineOf(one, payload));
      this.#take(one);
      if (payload === null) this.#noteErased(one.record.id);
      const row = tableLine(one.record);
      if (row !== null) await files.table.append(row);
    }
  }
}

function lineOf({ texts: { head, body } }: HeldRecord, payload: OpenedPayload | null | undefined): string {
  return recordLine.write(payload ? { head, body, disclosure: disclosureOf(payload) } : { head, body });
}

/** The first place from `at` on whose record does not come before `bound`. */
function endOf(seqs: Float64Array, at: number, bound: number): number {
  let end = at;
  while (end < seqs.length && (seqs[end] ?? 0) < bound) end++;
  return end;
}

/** The first `count` of the records that are asked for. */
function* seqsOf(
  asked: readonly AskedOfNode[],
  count: number,
): Generator<{ readonly node: NodeId; readonly seq: number }, undefined> {
  let left = count;
  for (const { node, seqs } of asked) {
    for (const seq of seqs) {
      if (left-- <= 0) return;
      yield { node, seq };
    }
  }
}
