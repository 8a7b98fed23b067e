import { equalBytes } from '../bytes.ts';
import { hashBytes, hashText, type Sha256Hash, writeSha256 } from '../hash.ts';
import { TileTree } from '../merkle/tiles.ts';
import { merkleRoot } from '../merkle/tree.ts';
import { type Group, groupStatement } from '../statement/group.ts';
import type { SignedStatement } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Envelope } from './envelope.ts';
import { MAX_STATEMENT_LENGTH, requireSignature } from './member-signature.ts';
import {
  type AttestationRecord,
  isTooLong,
  readBody,
  readHead,
  type RecordHead,
  recordLeaf,
  type RecordTexts,
} from './record.ts';
import { ChainRefusal } from './refusal.ts';
import { type ChainHistory, type MovedSource, type SourcedRecord, SourceWalk } from './sources.ts';

/** Records between two rests. */
const SLICE = 256;

/** What judging a batch rests on beside its own bytes. */
export interface ChainContext {
  readonly suite: Suite;
  readonly history: ChainHistory;
  /** Public key of that id, where the node has certified it for records from `first` on or earlier ones. */
  readonly publicKeyOf: (keyId: Sha256Hash, first: number) => Uint8Array | undefined;
  /** Lets other work run; asked after every 256 records. */
  readonly rest?: () => Promise<void>;
}

export interface DerivedRecord {
  readonly record: AttestationRecord;
  readonly leaf: Uint8Array;
}

export interface DerivedGroup {
  readonly group: Group;
  readonly records: readonly DerivedRecord[];
}

/** What the rules ask of a record beside that its texts read, and its leaf. */
export interface PlacedRecord {
  readonly record: SourcedRecord & Pick<AttestationRecord, 'node' | 'submittedAt'>;
  readonly leaf: Uint8Array;
}

/** A group whose records are at hand because this process made them. */
export interface MadeGroup {
  readonly signed: SignedStatement;
  readonly made: readonly PlacedRecord[];
}

/** What the records of a whole batch come to. */
export interface WalkedBatch {
  /** The batch's tree; gives its tiles. */
  readonly tree: TileTree;
  readonly sources: readonly MovedSource[];
}

/**
 * Walks the groups and records of one batch, group by group: ranges, roots, group signatures by the envelope's
 * own key, source chains, ids and times (protocol §4, §6). The envelope need not be signed, so that a node walks its
 * own before it signs it. A walk that has refused something, or is in the middle of a group, takes nothing more.
 */
export class BatchWalk {
  readonly #context: ChainContext;
  readonly #envelope: Envelope;
  readonly #tree: TileTree;
  readonly #sources: SourceWalk;
  #isReady = true;

  constructor(context: ChainContext, envelope: Envelope) {
    this.#context = context;
    this.#envelope = envelope;
    this.#tree = new TileTree(context.suite);
    this.#sources = new SourceWalk(context.history, envelope.first);
  }

  /** `seq` of the record that comes next; the end of the batch once all are there. */
  get next(): number {
    return this.#envelope.first + this.#tree.size;
  }

  /** Takes the next group with all its records. Throws `ChainRefusal`, and what the history throws. */
  async takeGroup(signed: SignedStatement, texts: readonly RecordTexts[]): Promise<DerivedGroup> {
    this.#begin();
    const group = this.#openGroup(signed, texts.length);
    const records = await this.#openRecords(group, texts);
    await this.#take(records);
    return { group, records };
  }

  /**
   * The same of a group that this process made: the texts of its records, which it wrote itself, are not read back. All
   * else is held to the same rules.
   */
  async takeMade({ signed, made }: MadeGroup): Promise<void> {
    this.#begin();
    const group = this.#openGroup(signed, made.length);
    this.#requireRoot(
      group,
      made.map(({ leaf }) => leaf),
    );
    made.forEach(({ record }, i) => this.#requirePlace(record, group.first + i));
    await this.#take(made);
  }

  /** Ends the walk once every record was taken. Throws `ChainRefusal` where one lacks or they are not those sealed. */
  finish(): WalkedBatch {
    this.#begin();
    const { first, size, root } = this.#envelope;
    if (this.#tree.size < size) {
      throw new ChainRefusal('batch-incomplete', `ends before record ${this.next} of ${first + size - 1}`);
    }
    if (!equalBytes(this.#tree.root(), hashBytes(root))) {
      throw new ChainRefusal('root-mismatch', 'the records of its groups are not those that the envelope seals');
    }
    return { tree: this.#tree, sources: this.#sources.moved };
  }

  #begin(): void {
    if (!this.#isReady) throw new RangeError('the walk of this batch has ended, or is in the middle of a group');
    this.#isReady = false;
  }

  #openGroup(signed: SignedStatement, records: number): Group {
    const group = readGroup(signed.statement);
    const { node, first, size } = this.#envelope;
    if (group.node !== node || group.first !== this.next) {
      throw new ChainRefusal('group-gap', `group ${group.node}/${group.first} in place of ${node}/${this.next}`);
    }
    if (group.size > first + size - group.first) {
      throw new ChainRefusal('group-out-of-batch', `group ${group.first} reaches past its batch`);
    }
    if (group.keyId !== this.#envelope.keyId) {
      throw new ChainRefusal('group-key-mismatch', `group ${group.first} is by another key than its batch`);
    }
    if (records !== group.size) throw new ChainRefusal('group-incomplete', `${records} records of ${group.size}`);
    requireSignature(this.#context, groupStatement, signed, group);
    return group;
  }

  /** The group's root is checked before its records are read: what is found in them then, its node has signed. */
  async #openRecords(group: Group, texts: readonly RecordTexts[]): Promise<DerivedRecord[]> {
    const { suite } = this.#context;
    const leaves: Uint8Array[] = [];
    for (const each of texts) {
      leaves.push(leafOf(suite, each.head, group.first + leaves.length));
      if (leaves.length % SLICE === 0) await this.#context.rest?.();
    }
    this.#requireRoot(group, leaves);
    const records: DerivedRecord[] = [];
    for (const [i, leaf] of leaves.entries()) {
      const record = readRecord(suite, group.first + i, texts[i] ?? { head: '', body: null });
      this.#requirePlace(record, group.first + i);
      records.push({ record, leaf });
      if (records.length % SLICE === 0) await this.#context.rest?.();
    }
    return records;
  }

  #requireRoot({ first, root }: Group, leaves: readonly Uint8Array[]): void {
    if (equalBytes(merkleRoot(this.#context.suite, leaves), hashBytes(root))) return;
    throw new ChainRefusal('group-root-mismatch', `the records of group ${first} are not those signed`);
  }

  async #take(records: readonly PlacedRecord[]): Promise<void> {
    for (let at = 0; at < records.length; at += SLICE) {
      const slice = records.slice(at, at + SLICE);
      await this.#sources.take(slice.map(({ record, leaf }) => ({ record, leaf: writeSha256(leaf) })));
      for (const { leaf } of slice) this.#tree.append(leaf);
      await this.#context.rest?.();
    }
    this.#isReady = true;
  }

  #requirePlace({ node, seq, submittedAt }: PlacedRecord['record'], place: number): void {
    const { node: own, from, sealedAt } = this.#envelope;
    if (node !== own || seq !== place) {
      throw new ChainRefusal('record-out-of-place', `record ${node}/${seq} in place of ${place}`, place);
    }
    if (submittedAt < from || submittedAt > sealedAt) {
      throw new ChainRefusal('submitted-outside-batch', `submitted at ${submittedAt}`, place);
    }
  }
}

function readGroup(text: string): Group {
  if (text.length > MAX_STATEMENT_LENGTH) throw new ChainRefusal('group-malformed', 'the statement is too long');
  try {
    return groupStatement.parse(text);
  } catch (error) {
    throw ChainRefusal.because('group-malformed', error);
  }
}

function leafOf(suite: Suite, head: string, seq: number): Uint8Array {
  // A lone surrogate has no UTF-8: encoders would put another character in its place.
  if (!head.isWellFormed()) throw new ChainRefusal('group-root-mismatch', 'a record is no Unicode text', seq);
  return recordLeaf(suite, head);
}

function readRecord(suite: Suite, seq: number, texts: RecordTexts): AttestationRecord {
  const { body } = texts;
  let head: RecordHead;
  try {
    head = readHead(texts.head);
  } catch (error) {
    throw ChainRefusal.because('record-malformed', error, seq);
  }
  if (body === null) throw new ChainRefusal('body-mismatch', 'the body is withheld', seq);
  const isNamed = (): boolean => body.isWellFormed() && hashText(suite, body) === head.body;
  if (isTooLong(texts)) {
    // Who brings another body than the one that is named says nothing of its node.
    throw new ChainRefusal(isNamed() ? 'record-too-long' : 'body-mismatch', 'the body is too long', seq);
  }
  try {
    return { ...head, ...readBody(suite, head, body) };
  } catch (error) {
    throw ChainRefusal.because(isNamed() ? 'record-malformed' : 'body-mismatch', error, seq);
  }
}
