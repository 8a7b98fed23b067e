import type { NodeId } from '../../protocol/ids.ts';
import type { Operation } from '../store/operation.ts';
import type { Rows } from '../store/store.ts';
import { Table } from '../store/table.ts';
import { checkpointCodec, type KnownCheckpoint, readCheckpoint } from './known-checkpoint.ts';

/** (node, key id, size) → a checkpoint of the member that this node's own tree contradicts: evidence. */
export const falseCheckpointTable = new Table('false-checkpoint', checkpointCodec);

/** Keys of one member by which false checkpoints are kept. */
export const FALSE_KEYS_OF_A_MEMBER = 4;
/** By each of them: the first that came, and that of the largest tree. */
export const FALSE_OF_A_KEY = 2;

/**
 * Checkpoints that this node's own tree contradicts, as evidence against who signed them. Of each member and key the first
 * that came is kept, and that of the largest tree: a small lie hides no later one, nor a large one the first. A member signs
 * by few keys; of more, those give way that a revocation took along, then those whose largest tree is the smallest.
 *
 * Ownership: moved for one checkpoint of a member at a time, after the write.
 */
export class FalseCheckpoints {
  readonly #stands: (known: KnownCheckpoint) => boolean;
  /** By member, of each key with the smallest tree first. */
  readonly #kept = new Map<NodeId, readonly KnownCheckpoint[]>();

  private constructor(stands: (known: KnownCheckpoint) => boolean) {
    this.#stands = stands;
  }

  /** `stands`: whether no revocation in force takes a checkpoint along. */
  static async open(store: Rows, stands: (known: KnownCheckpoint) => boolean): Promise<FalseCheckpoints> {
    const kept = new FalseCheckpoints(stands);
    for await (const [, signed] of falseCheckpointTable.under(store, [])) {
      const known = readCheckpoint(signed);
      const { node } = known.checkpoint;
      kept.#kept.set(node, [...(kept.#kept.get(node) ?? []), known]);
    }
    return kept;
  }

  /**
   * Of each member, among those that no revocation in force took along: that of the smallest tree, and that of the largest
   * where it is another one.
   */
  all(): readonly KnownCheckpoint[] {
    return [...this.#kept.values()].flatMap((ofMember) => {
      const standing = ofMember.filter(this.#stands).toSorted((a, b) => sizeOf(a) - sizeOf(b));
      return standing.filter((_, i) => i === 0 || i === standing.length - 1);
    });
  }

  /** Keeps one where it is wanted. */
  async keep(store: Rows, known: KnownCheckpoint): Promise<void> {
    const { node, keyId } = known.checkpoint;
    const held = this.#kept.get(node) ?? [];
    const byKey = held.filter((other) => other.checkpoint.keyId === keyId);
    if (byKey.some((other) => sizeOf(other) >= sizeOf(known))) return;
    const replaced = byKey.slice(FALSE_OF_A_KEY - 1);
    const next = this.#withinKeys([...held.filter((other) => !replaced.includes(other)), known]);
    if (!next.includes(known)) return;
    const gone = held.filter((other) => !next.includes(other));
    await store.write([
      rowOf(known),
      ...gone.map(({ checkpoint }) => falseCheckpointTable.del(...partsOf(checkpoint))),
    ]);
    this.#kept.set(node, next);
  }

  /** Without those of the key that gives way, where there are more keys than are kept. */
  #withinKeys(all: readonly KnownCheckpoint[]): readonly KnownCheckpoint[] {
    const byKey = Map.groupBy(all, ({ checkpoint }) => checkpoint.keyId);
    if (byKey.size <= FALSE_KEYS_OF_A_MEMBER) return all;
    const largest = [...byKey.values()].flatMap((ofKey) => ofKey.toSorted((a, b) => this.#compare(a, b)).slice(-1));
    const [least] = largest.toSorted((a, b) => this.#compare(a, b));
    return all.filter(({ checkpoint }) => checkpoint.keyId !== least?.checkpoint.keyId);
  }

  /** What fell is less than what stands, then a smaller tree less than a larger one. */
  #compare(a: KnownCheckpoint, b: KnownCheckpoint): number {
    return Number(this.#stands(a)) - Number(this.#stands(b)) || sizeOf(a) - sizeOf(b);
  }
}

function sizeOf({ checkpoint }: KnownCheckpoint): number {
  return checkpoint.size;
}

function partsOf({ node, keyId, size }: KnownCheckpoint['checkpoint']): readonly [string, string, number] {
  return [node, keyId, size];
}

function rowOf({ checkpoint, signed }: KnownCheckpoint): Operation {
  return falseCheckpointTable.put(partsOf(checkpoint), signed);
}
