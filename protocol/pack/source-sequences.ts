import { homeOf } from '../accounts/account-id.ts';
import type { AttestationRecord } from '../chain/record.ts';
import type { Sha256Hash } from '../hash.ts';
import type { PackQuestion } from './manifest.ts';
import type { PackProblemCode } from './pack-verdict.ts';

/** What one node recorded of one source, as far as the pack has it. */
interface Sequence {
  readonly sourceId: string;
  lastSeq: number;
  lastLeaf: Sha256Hash;
  /** Whether a record of after the period was seen. */
  isOver: boolean;
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
  readonly #reach: ReadonlyMap<string, number>;
  readonly #sequences = new Map<string, Sequence>();
  #node = '';
  #seq = 0;
  #elsewhere = 0;

  constructor(question: PackQuestion, reach: readonly { readonly node: string; readonly seq: number }[]) {
    this.#question = question;
    this.#reach = new Map(reach.map(({ node, seq }) => [node, seq]));
  }

  get size(): number {
    return this.#sequences.size;
  }

  /** Sources after whose last record there is no neighbour: that none was made up to `asOf` is the maker's word. */
  get openEnds(): number {
    return [...this.#sequences.values()].filter(({ isOver }) => !isOver).length;
  }

  /** Sources that were asked for and have no record here. */
  get emptySources(): readonly string[] {
    const seen = new Set([...this.#sequences.values()].map(({ sourceId }) => sourceId));
    return this.#question.sources.filter((source) => !seen.has(source));
  }

  /** Records of other nodes than the account's home. */
  get elsewhere(): number {
    return this.#elsewhere;
  }

  /** Takes the next record: what is wrong with where it stands. */
  take(record: AttestationRecord, leaf: Sha256Hash): readonly SequenceFault[] {
    const faults = [...this.#orderFaults(record), ...this.#foreignFaults(record)];
    if (record.node !== homeOf(record.account)) this.#elsewhere++;
    const name = `${record.node} ${record.sourceId}`;
    const before = this.#sequences.get(name);
    const { from, to, withholdsBefore } = this.#question;
    const [isBefore, isAfter] = [record.submittedAt < from, record.submittedAt >= to];
    if (before === undefined) {
      if (!isBefore && record.sourceSeq !== 1 && withholdsBefore !== true) {
        faults.push(fault('neighbour-missing', `the record of ${record.sourceId} before the period is missing`));
      }
      this.#sequences.set(name, {
        sourceId: record.sourceId,
        lastSeq: record.sourceSeq,
        lastLeaf: leaf,
        isOver: isAfter,
      });
      return faults;
    }
    if (record.sourceSeq !== before.lastSeq + 1 || record.sourcePrev !== before.lastLeaf) {
      const between = `between numbers ${before.lastSeq} and ${record.sourceSeq} of ${record.sourceId}`;
      faults.push(fault('sequence-broken', `records are missing or exchanged ${between}`));
    }
    before.lastSeq = record.sourceSeq;
    before.lastLeaf = leaf;
    before.isOver ||= isAfter;
    return faults;
  }

  #orderFaults({ node, seq }: AttestationRecord): SequenceFault[] {
    const isInOrder = node === this.#node ? seq > this.#seq : node > this.#node;
    [this.#node, this.#seq] = [node, seq];
    return isInOrder ? [] : [fault('record-order', 'it does not stand in the order of nodes and their counts')];
  }

  #foreignFaults({ account, sourceId, node, seq, submittedAt }: AttestationRecord): SequenceFault[] {
    const question = this.#question;
    if (account !== question.account) return [fault('record-foreign', 'it is of another account')];
    if (!question.sources.includes(sourceId)) return [fault('record-foreign', `${sourceId} was not asked for`)];
    if (seq > (this.#reach.get(node) ?? 0) || submittedAt > question.asOf) {
      return [fault('record-foreign', 'it was made after the moment that the pack is of')];
    }
    return [];
  }
}

function fault(code: PackProblemCode, detail: string): SequenceFault {
  return { code, detail };
}
