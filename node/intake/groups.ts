import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { makeRecord, recordLeaf, type WrittenRecord } from '../../protocol/chain/record.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Frontier } from '../../protocol/merkle/frontier.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { type SignedStatement, signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { Held } from '../concurrency/held.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { TentativeHeads } from '../records/sources/sources.ts';
import type { Draft, PreparedDraft } from './draft.ts';
import { type HaltCode, IntakeError } from './intake-error.ts';

/** Records that may wait for a group. Past it a caller is told to come back. */
export const MAX_QUEUED_RECORDS = 20_000;
/** Payloads that may wait, so that large ones cannot fill the memory. In bytes. */
export const MAX_QUEUED_BYTES = 128 << 20;
/** Records of one group: keeps building one under a few milliseconds. A larger submission is a group of its own. */
export const MAX_GROUP_RECORDS = 256;

/** Drafts that go into one group together. */
export interface WaitingDrafts {
  readonly count: number;
  /** Of their payloads. */
  readonly bytes: number;
  /** As they came; null where they are prepared. */
  readonly drafts: readonly Draft[] | null;
  /** Asked when their group is cut: preparing many in one loop costs half of preparing each as it comes. May throw. */
  readonly prepare: () => readonly PreparedDraft[];
}

/** The same, and the caller who waits for them. */
export interface Submission extends WaitingDrafts {
  resolve(records: readonly BuiltRecord[]): void;
  reject(error: unknown): void;
}

/** The bounded line in front of the group loop. */
export class IntakeQueue {
  #waiting: Submission[] = [];
  #records = 0;
  /** Records that are being prepared, and will be pushed. */
  #reserved = 0;
  #bytes = 0;
  #closed = false;
  #halted: HaltCode | null = null;
  #arrived: (() => void) | undefined;

  /** Why nothing more may be signed; null while it may. */
  get haltError(): IntakeError | null {
    return this.#halted === null ? null : haltedError(this.#halted);
  }

  /** Throws `IntakeError` where nothing more may be signed. */
  requireRunning(): void {
    if (this.#halted !== null) throw haltedError(this.#halted);
  }

  get records(): number {
    return this.#records + this.#reserved;
  }

  /** Throws `IntakeError` `queue-full`, `stopped` or `halted` where `count` more records may not wait. */
  requireCapacity(count: number): void {
    this.requireRunning();
    if (this.#closed) throw new IntakeError('stopped', 'the node is stopping');
    if (this.records + count > MAX_QUEUED_RECORDS || this.#bytes > MAX_QUEUED_BYTES) {
      throw new IntakeError('queue-full', 'too many records are waiting to be signed');
    }
  }

  /** Room for so many records until it is disposed: before they are pushed, in the same iteration of the event loop. */
  reserve(count: number): Disposable {
    this.requireCapacity(count);
    this.#reserved += count;
    return new Held(() => void (this.#reserved -= count));
  }

  push(waiting: WaitingDrafts): Promise<readonly BuiltRecord[]> {
    this.requireCapacity(waiting.count);
    const { promise, resolve, reject } = Promise.withResolvers<readonly BuiltRecord[]>();
    this.#waiting.push({ ...waiting, resolve, reject });
    this.#records += waiting.count;
    this.#bytes += waiting.bytes;
    this.#arrived?.();
    return promise;
  }

  /** The submissions of the next group, waiting for the first; undefined once closed and empty. */
  async take(): Promise<readonly Submission[] | undefined> {
    for (;;) {
      while (this.#waiting.length === 0) {
        if (this.#closed) return undefined;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#arrived = resolve;
        await promise;
        this.#arrived = undefined;
      }
      // Requests read in the same turn of the event loop join the group. A halt in it leaves nobody waiting.
      await yieldToEventLoop();
      if (this.#waiting.length > 0) return this.#cut();
    }
  }

  /** Nothing more is let in; what waits is still served. */
  close(): void {
    this.#closed = true;
    this.#arrived?.();
  }

  /** Nothing more is let in, and what waits is refused: not one more record may be signed. */
  halt(code: HaltCode): void {
    this.#halted = code;
    for (const { reject } of this.#waiting.splice(0)) reject(haltedError(code));
    this.#records = 0;
    this.#bytes = 0;
  }

  #cut(): readonly Submission[] {
    let records = 0;
    let submissions = 0;
    for (const { count } of this.#waiting) {
      if (submissions > 0 && records + count > MAX_GROUP_RECORDS) break;
      records += count;
      submissions++;
    }
    const taken = this.#waiting.splice(0, submissions);
    this.#records -= records;
    for (const { bytes } of taken) this.#bytes -= bytes;
    return taken;
  }
}

function haltedError(code: HaltCode): IntakeError {
  return new IntakeError(code, 'the node signs nothing more');
}

/** What is recorded together, and who waits for it. */
export interface PreparedGroup {
  readonly submissions: readonly Submission[];
  readonly drafts: readonly PreparedDraft[];
}

/**
 * Gives the groups of the queue, prepared, in the order in which they are cut. Asked by one loop, until it is
 * undefined.
 */
export interface GroupPreparation {
  next(): Promise<PreparedGroup | undefined>;
}

/** Prepares each group in place when it is asked for. */
export class PreparationInPlace implements GroupPreparation {
  readonly #queue: IntakeQueue;

  constructor(queue: IntakeQueue) {
    this.#queue = queue;
  }

  async next(): Promise<PreparedGroup | undefined> {
    const taken = await this.#queue.take();
    return taken && prepareTaken(taken);
  }
}

/**
 * Prepares what goes into a group. A caller whose draft cannot be prepared is told, and keeps no other from the group.
 */
export async function prepareTaken(taken: readonly Submission[]): Promise<PreparedGroup> {
  const submissions: Submission[] = [];
  const drafts: PreparedDraft[] = [];
  await new TimeSlices().each(taken, (submission) => {
    try {
      drafts.push(...submission.prepare());
      submissions.push(submission);
    } catch (error) {
      submission.reject(error);
    }
  });
  return { submissions, drafts };
}

/** Tells every caller; nothing of theirs is recorded. */
export function refuse(submissions: readonly Submission[], error: unknown): undefined {
  for (const submission of submissions) submission.reject(error);
}

export interface BuiltRecord extends WrittenRecord {
  readonly leaf: Uint8Array;
}

/** A group in memory: ordered, hashed and signed, not yet on the disk. */
export interface BuiltGroup {
  readonly group: Group;
  readonly signed: SignedStatement;
  readonly records: readonly BuiltRecord[];
  readonly heads: TentativeHeads;
}

/**
 * Gives drafts their places from `first` on and signs them as one tree. Moves `heads`; touches nothing durable, so a
 * group that cannot be written is simply dropped.
 */
export async function buildGroup(
  node: NodeId,
  signer: Signer,
  drafts: readonly PreparedDraft[],
  first: number,
  at: Timestamp,
  heads: TentativeHeads,
): Promise<BuiltGroup> {
  const records: BuiltRecord[] = [];
  const tree = new Frontier(nativeSuite);
  await new TimeSlices().each(drafts, (prepared, i) => {
    const record = buildRecord(node, prepared, first + i, at, heads);
    tree.append(record.leaf);
    records.push(record);
  });
  const group: Group = {
    v: 1,
    type: 'group',
    node,
    first,
    size: records.length,
    root: writeSha256(tree.root()),
    keyId: signer.keyId,
    signedAt: at,
  };
  return { group, signed: await signStatement(groupStatement, group, signer), records, heads };
}

function buildRecord(
  node: NodeId,
  { draft, id, payloadHash, claims, links }: PreparedDraft,
  seq: number,
  submittedAt: Timestamp,
  heads: TentativeHeads,
): BuiltRecord {
  const head = heads.get(draft);
  const { record, texts } = makeRecord(nativeSuite, {
    account: draft.account,
    claims,
    id,
    kind: draft.kind,
    links,
    node,
    payloadHash,
    seq,
    sourceId: draft.sourceId,
    sourcePrev: head?.leaf ?? null,
    sourceSeq: (head?.sourceSeq ?? 0) + 1,
    submittedAt,
  });
  const leaf = recordLeaf(nativeSuite, texts.head);
  heads.move({ record, leaf });
  return { record, texts, leaf };
}
