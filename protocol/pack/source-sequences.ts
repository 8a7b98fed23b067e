import { homeOf } from '../accounts/account-id.ts';
import type { AttestationRecord } from '../chain/record.ts';
import type { Sha256Hash } from '../hash.ts';
import type { NodeId, RecordId } from '../ids.ts';
import type { PackManifest, PackQuestion } from './manifest.ts';
import { type EmptySource, MAX_EMPTY_SOURCES, type PackProblemCode } from './pack-verdict.ts';

/** What one node recorded of one source, as far as the pack has it. */
interface Sequence {
  readonly node: NodeId;
  readonly sourceId: string;
  lastSeq: number;
  lastLeaf: Sha256Hash;
  /** Whether its first record here is its first of all, or of before the period. */
  readonly hasBegin: boolean;
  /** Whether the last record is of after the period. */
  isOver: boolean;
  /** The first of the last records that are dated after the moment that the pack is of; null: the last one is not. */
  later: RecordId | null;
}

/** What is wrong with the place of a record. */
export interface SequenceFault {
  readonly code: PackProblemCode;
  readonly detail: string;
}

/**
 * The sequences of the sources of a pack, followed record by record: each record of a source names the number and the
 * leaf of the one before it, so that none can be left out between two. Records come in the order of their nodes and of
 * the nodes' own count.
 */
export class SourceSequences {
  readonly #question: PackQuestion;
  readonly #reach: ReadonlyMap<NodeId, number>;
  readonly #sequences = new Map<string, Sequence>();
  #node = '';
  #seq = 0;
  #elsewhere = 0;

  constructor(question: PackQuestion, reach: PackManifest['reach']) {
    this.#question = question;
    this.#reach = new Map(reach.map(({ node, seq }) => [node, seq]));
  }

  get size(): number {
    return this.#sequences.size;
  }

  /**
   * Sources before whose first record there were others, and none of them is here to show that they are of before the
   * period: that they are is the maker's word.
   */
  get openBegins(): number {
    return [...this.#sequences.values()].filter(({ hasBegin }) => !hasBegin).length;
  }

  /** Sources after whose last record there is no neighbour: that none was made up to `asOf` is the maker's word. */
  get openEnds(): number {
    return [...this.#sequences.values()].filter(({ isOver }) => !isOver).length;
  }

  /**
   * Sources that were asked for at nodes that have no record of them here: at those of the reach, and at the account's
   * home, which the maker may leave out of it. No record shows that there is none.
   */
  emptySources(): { readonly named: readonly EmptySource[]; readonly count: number } {
    const { account, sources } = this.#question;
    const home = homeOf(account);
    const nodes = new Set([...this.#reach.keys(), ...(home === undefined ? [] : [home])]);
    const asked = new Set(sources);
    const held = [...this.#sequences.values()].filter(({ node, sourceId }) => nodes.has(node) && asked.has(sourceId));
    const count = nodes.size * asked.size - held.length;
    return { named: this.#named(asked, nodes, Math.min(count, MAX_EMPTY_SOURCES)), count };
  }

  /** Records of other nodes than the account's home. */
  get elsewhere(): number {
    return this.#elsewhere;
  }

  /** Takes the next record: what is wrong with where it stands. */
  take(record: AttestationRecord, leaf: Sha256Hash): readonly SequenceFault[] {
    const faults = [...this.#orderFaults(record), ...this.#foreignFaults(record)];
    if (record.node !== homeOf(record.account)) this.#elsewhere++;
    const name = nameOf(record.node, record.sourceId);
    const before = this.#sequences.get(name);
    const { from, to, asOf, withholdsBefore } = this.#question;
    const [isBefore, isAfter] = [record.submittedAt < from, record.submittedAt >= to];
    const isLater = record.submittedAt > asOf;
    if (before === undefined) {
      const hasBegin = isBefore || record.sourceSeq === 1;
      if (!hasBegin && withholdsBefore !== true) {
        faults.push(fault('neighbour-missing', `the record of ${record.sourceId} before the period is missing`));
      }
      this.#sequences.set(name, {
        node: record.node,
        sourceId: record.sourceId,
        lastSeq: record.sourceSeq,
        lastLeaf: leaf,
        hasBegin,
        isOver: isAfter,
        later: isLater ? record.id : null,
      });
      return faults;
    }
    if (record.sourceSeq !== before.lastSeq + 1 || record.sourcePrev !== before.lastLeaf) {
      const between = `between numbers ${before.lastSeq} and ${record.sourceSeq} of ${record.sourceId}`;
      faults.push(fault('sequence-broken', `records are missing or exchanged ${between}`));
    }
    before.lastSeq = record.sourceSeq;
    before.lastLeaf = leaf;
    before.isOver = isAfter;
    before.later = isLater ? (before.later ?? record.id) : null;
    return faults;
  }

  /**
   * Once all records were taken: what is dated after the moment that the pack is of, and was not made before it, for no
   * record of its source follows that is dated up to it. One by a clock that was ahead stands before such a record.
   */
  laterRecords(): readonly { readonly id: RecordId; readonly fault: SequenceFault }[] {
    return [...this.#sequences.values()].flatMap(({ later }) =>
      later === null ? [] : [{ id: later, fault: madeLater() }],
    );
  }

  /** The first so many of the empty ones: a manifest may name more nodes than there are. */
  #named(asked: ReadonlySet<string>, nodes: ReadonlySet<NodeId>, limit: number): readonly EmptySource[] {
    const named: EmptySource[] = [];
    for (const sourceId of asked) {
      for (const node of nodes) {
        if (named.length === limit) return named;
        if (!this.#sequences.has(nameOf(node, sourceId))) named.push({ sourceId, node });
      }
    }
    return named;
  }

  #orderFaults({ node, seq }: AttestationRecord): SequenceFault[] {
    const isInOrder = node === this.#node ? seq > this.#seq : node > this.#node;
    [this.#node, this.#seq] = [node, seq];
    return isInOrder ? [] : [fault('record-order', 'it does not stand in the order of nodes and their counts')];
  }

  #foreignFaults({ account, sourceId, node, seq }: AttestationRecord): SequenceFault[] {
    const question = this.#question;
    if (account !== question.account) return [fault('record-foreign', 'it is of another account')];
    if (!question.sources.includes(sourceId)) return [fault('record-foreign', `${sourceId} was not asked for`)];
    return seq > (this.#reach.get(node) ?? 0) ? [madeLater()] : [];
  }
}

/** The id of a node has no space. */
function nameOf(node: NodeId, sourceId: string): string {
  return `${node} ${sourceId}`;
}

function madeLater(): SequenceFault {
  return fault('record-foreign', 'it was made after the moment that the pack is of');
}

function fault(code: PackProblemCode, detail: string): SequenceFault {
  return { code, detail };
}
