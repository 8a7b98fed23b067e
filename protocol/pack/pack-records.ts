import type { AttestationRecord } from '../chain/record.ts';
import { hashBytes, type Sha256Hash, writeSha256 } from '../hash.ts';
import type { RecordId } from '../ids.ts';
import { JointPath, type PlacedLeaf } from '../merkle/multi-proof.ts';
import { leafHash } from '../merkle/hash.ts';
import { StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import { CommonTexts } from '../verdict/common-texts.ts';
import { type Grounds, judgeProof } from '../verdict/judge-proof.ts';
import { JudgedBatches } from '../verdict/judged-batches.ts';
import { type OpenedProof, openProof, type Proof } from '../verdict/opened-proof.ts';
import { judgePayload } from '../verdict/payload.ts';
import { recordOf } from '../verdict/shown-record.ts';
import { type Word, wordOf } from '../verdict/word.ts';
import { type BatchLine, batchLine, type GroupLine, groupLine, type RecordLine, recordLine } from './pack-lines.ts';

/** A record of a pack with the verdict on it. */
export interface JudgedRecord {
  /** Null where it does not read. */
  readonly record: AttestationRecord | null;
  readonly id: RecordId | null;
  readonly leaf: Sha256Hash;
  readonly word: Word;
  readonly isDisclosed: boolean;
  /** Why it is not verified, in a few words; empty where nothing speaks against it. */
  readonly detail: string;
}

/** The three files that say what the records are and how they are proven, line by line beside each other. */
export interface ProofLines {
  readonly batches: AsyncIterator<string>;
  readonly groups: AsyncIterator<string>;
  readonly records: AsyncIterator<string>;
}

/**
 * The verdicts on the records of a pack, in their order, a group at a time: no more than one group is held. Throws
 * `StatementError` where a line is not of its form, or the files do not have as many lines as they say of each other.
 */
export async function* judgeRecords(
  suite: Suite,
  grounds: Omit<Grounds, 'batches'>,
  lines: ProofLines,
): AsyncGenerator<readonly JudgedRecord[]> {
  const { authority } = grounds;
  for (let text = await next(lines.batches); text !== null; text = await next(lines.batches)) {
    const batch = batchLine.parse(text);
    const common = new CommonTexts(suite);
    const batches = authority && new JudgedBatches(suite, authority);
    for (let left = batch.groups; left > 0; left--) {
      const group = groupLine.parse(await required(lines.groups, 'proofs/groups.jsonl'));
      const records: RecordLine[] = [];
      for (const _ of group.seqs) records.push(recordLine.parse(await required(lines.records, 'records.jsonl')));
      yield judgeGroup(suite, { ...grounds, batches }, common, { batch, group, records });
    }
  }
  if ((await next(lines.groups)) !== null) throw new StatementError('proofs/groups.jsonl: a group is of no batch');
  if ((await next(lines.records)) !== null) throw new StatementError('records.jsonl: a record is of no group');
}

interface GroupOfRecords {
  readonly batch: BatchLine;
  readonly group: GroupLine;
  readonly records: readonly RecordLine[];
}

function judgeGroup(
  suite: Suite,
  grounds: Grounds,
  common: CommonTexts,
  { batch, group, records }: GroupOfRecords,
): readonly JudgedRecord[] {
  const leaves = records.map(({ head }) => (head.isWellFormed() ? leafHash(suite, head) : new Uint8Array()));
  const tree = (first: number, size: number, path: readonly Sha256Hash[]): JointPath => {
    const placed = group.seqs.map((seq, i): PlacedLeaf => ({
      index: seq - first,
      leaf: leaves[i] ?? new Uint8Array(),
    }));
    return new JointPath(suite, placed, size, path.map(hashBytes));
  };
  const receipt = read(() => common.group(group.statement));
  const envelope = read(() => common.envelope(batch.envelope));
  const groupPath = receipt === null ? [] : tree(receipt.first, receipt.size, group.groupPath);
  const batchPath = envelope === null ? [] : tree(envelope.first, envelope.size, group.batchPath);
  return records.map(({ head, body, disclosure }, i) => {
    const proof: Proof = {
      record: { head, body },
      receipt: { text: group.statement, signature: group.signature, path: groupPath },
      batch: { text: batch.envelope, signature: batch.signature, path: batchPath },
      decision: batch.decision,
      disclosure,
    };
    return judgeRecord(suite, grounds, openProof(suite, proof, common), group.seqs[i], leaves[i]);
  });
}

function judgeRecord(
  suite: Suite,
  grounds: Grounds,
  opened: OpenedProof,
  seq: number | undefined,
  leaf: Uint8Array = new Uint8Array(),
): JudgedRecord {
  const judged = judgeProof(grounds, opened, judgePayload(suite, opened, undefined));
  const record = recordOf(opened);
  const isMeant = record !== null && record.seq === seq;
  const word = isMeant ? wordOf(judged.facts) : 'not-signed';
  const [problem] = judged.problems;
  const detail = isMeant ? (problem?.detail ?? '') : 'it is not the record that its group names there';
  const isDisclosed = judged.facts.payload === 'disclosed';
  const hash = leaf.length === 0 ? NO_LEAF : writeSha256(leaf);
  return { record, id: opened.head?.id ?? null, leaf: hash, word, isDisclosed, detail };
}

/** Of a record whose head is no text: no record names it as the one before. */
const NO_LEAF = writeSha256(new Uint8Array(32));

function read<Value>(parse: () => Value): Value | null {
  try {
    return parse();
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}

async function next(lines: AsyncIterator<string>): Promise<string | null> {
  const { value, done } = await lines.next();
  return done === true ? null : value;
}

async function required(lines: AsyncIterator<string>, name: string): Promise<string> {
  const line = await next(lines);
  if (line === null) throw new StatementError(`${name}: it ends too early`);
  return line;
}
