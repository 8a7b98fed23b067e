import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type Checkpoint, type SignedCheckpoint, SignedCheckpointShape } from '../../protocol/log/checkpoint.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { Operation } from '../store/operation.ts';
import type { Rows } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import { type KnownCheckpoint, readCheckpoint } from './known-checkpoint.ts';
import type { LogRoster } from './log-rosters.ts';

/** (node, key id, size) → a checkpoint of the member that this node's own tree contradicts: evidence. */
export const falseCheckpointTable = jsonTable('false-checkpoint', SignedCheckpointShape);

/** Keys of one member by which false checkpoints are kept. */
export const FALSE_KEYS_OF_A_MEMBER = 4;
/** By each of them: the first that came, and that of the largest tree. */
export const FALSE_OF_A_KEY = 2;

/**
 * Checkpoints that this node's own tree contradicts, as evidence against who signed them. Of each member and key the
 * first that came is kept, and that of the largest tree: a small lie hides no later one, nor a large one the first. A
 * member signs by few keys; of more, those give way that a revocation took along, then those whose largest tree is the
 * smallest.
 *
 * Ownership: moved for one checkpoint of a member at a time, after the write.
 */
class FalseCheckpoints {
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
   * Of each member, among those that no revocation in force took along: that of the smallest tree, and that of the
   * largest where it is another one.
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

/** (node, key id) → the member's newest checkpoint by that key that agrees with this node's own tree. */
export const checkpointTable = jsonTable('checkpoint', SignedCheckpointShape);
/**
 * (version, node) → a checkpoint of a member of the roster of that version, by a key that its identity key there
 * certified, that covers the decision which replaced it: with it a bundle can be made for ever that whoever pinned that roster believes.
 */
export const replacedCheckpointTable = jsonTable('replaced-checkpoint', SignedCheckpointShape);

/** Keys of one member whose newest checkpoint is kept. */
export const KEYS_OF_A_MEMBER = 2;

/** This node's own tree of decisions. */
export interface OwnTree {
  readonly size: number;
  /** Root of the tree as it was at a size, from 1 to `size`. */
  rootAt(size: number): Promise<Sha256Hash>;
}

/** What the log decided of who signs checkpoints, and by which keys. */
export interface Signatories {
  /** From the genesis to the roster in force. */
  rosters(): readonly LogRoster[];
  /** Whether no revocation that is in force takes the checkpoint along. */
  stands(checkpoint: Checkpoint): boolean;
  /** Identity keys of its member that certified the key of a checkpoint. */
  identityKeysOf(checkpoint: Checkpoint): readonly Base64url[];
}

const UNCHANGED: Signatories = { rosters: () => [], stands: () => true, identityKeysOf: () => [] };

/**
 * What became of a checkpoint. `ahead`: this node's tree is not as large yet; it is judged once it is. `known`: another
 * one by the same key says as much, or more. `false`: the own tree of that size has another root.
 */
export type CheckpointOutcome = 'counted' | 'known' | 'ahead' | 'false';

/**
 * The checkpoints of all members, as far as this node's own tree agrees with them (protocol §4).
 *
 * Ownership: the maps are moved for one checkpoint of a member at a time, after the write.
 */
export class CheckpointStore {
  readonly #store: Rows;
  readonly #tree: OwnTree;
  readonly #signatories: Signatories;
  readonly #counted = new Map<NodeId, readonly KnownCheckpoint[]>();
  /** By member, then by the version of the roster that was replaced. */
  readonly #replaced = new Map<NodeId, ReadonlyMap<number, KnownCheckpoint>>();
  readonly #false: FalseCheckpoints;
  /** By member: the one of the largest tree that is beyond this node's own. A later one takes its place. */
  readonly #ahead = new Map<NodeId, KnownCheckpoint>();
  readonly #locks = new KeyedLock<NodeId>();

  private constructor(store: Rows, tree: OwnTree, signatories: Signatories, contradicted: FalseCheckpoints) {
    this.#store = store;
    this.#tree = tree;
    this.#signatories = signatories;
    this.#false = contradicted;
  }

  static async open(store: Rows, tree: OwnTree, signatories: Signatories = UNCHANGED): Promise<CheckpointStore> {
    const contradicted = await FalseCheckpoints.open(store, ({ checkpoint }) => signatories.stands(checkpoint));
    const checkpointStore = new CheckpointStore(store, tree, signatories, contradicted);
    for await (const [, signed] of checkpointTable.under(store, [])) {
      const known = readCheckpoint(signed);
      const { node } = known.checkpoint;
      checkpointStore.#counted.set(node, [...(checkpointStore.#counted.get(node) ?? []), known]);
    }
    for await (const [[version = ''], signed] of replacedCheckpointTable.under(store, [])) {
      checkpointStore.#noteReplaced([Number(version)], readCheckpoint(signed));
    }
    return checkpointStore;
  }

  /** The newest checkpoint of a member that counts, by whichever key: no revocation in force took it along. */
  newest(node: NodeId): KnownCheckpoint | undefined {
    return this.of(node).find(({ checkpoint }) => this.#signatories.stands(checkpoint));
  }

  /** Newest checkpoints of all members that count, each by whichever key. */
  all(): readonly KnownCheckpoint[] {
    return [...this.#counted.keys()].flatMap((node) => this.newest(node) ?? []);
  }

  /**
   * Those of a member that the own tree agrees with: the newest of each of its last keys, what stands first, then the
   * newest.
   */
  of(node: NodeId): readonly KnownCheckpoint[] {
    return this.#inOrder(this.#counted.get(node) ?? []);
  }

  /**
   * All that count: of each member the newest of each of its last keys, and one for each roster of it that was
   * replaced.
   */
  kept(): readonly KnownCheckpoint[] {
    const replaced = [...this.#replaced.values()].flatMap((ofMember) => ofMember.values().toArray());
    const all = [...[...this.#counted.values()].flat(), ...replaced];
    return [...new Map(all.map((known) => [known.signed.text, known])).values()];
  }

  /**
   * Those that another member is to be shown: of rosters that were replaced, where no newer one says as much by the same
   * identity keys.
   */
  shown(): readonly SignedCheckpoint[] {
    const isSaid = (known: KnownCheckpoint) => {
      const { node, size } = known.checkpoint;
      return this.of(node).some((newer) => {
        if (newer.checkpoint.size <= size || !this.#signatories.stands(newer.checkpoint)) return false;
        const identityKeys = this.#identityKeysOf(newer);
        return this.#identityKeysOf(known).every((identityKey) => identityKeys.includes(identityKey));
      });
    };
    const newest = new Set([...this.#counted.values()].flat().map(({ signed }) => signed.text));
    const shown = this.kept().filter((known) => newest.has(known.signed.text) || !isSaid(known));
    return shown.map(({ signed }) => signed);
  }

  /**
   * The last that a member is known to have signed, by any key, whether this node's tree has reached them or not;
   * without those that a revocation in force took along, which count for nobody. One that a fooled member signed of a
   * log that is far longer than the true one must not keep it from signing for as long.
   */
  signedBy(node: NodeId): readonly Checkpoint[] {
    const waiting = this.#ahead.get(node);
    const all = [...this.of(node), ...(waiting === undefined ? [] : [waiting])];
    return all.flatMap(({ checkpoint }) => (this.#signatories.stands(checkpoint) ? [checkpoint] : []));
  }

  /** The same with all that a revocation took along, as the member itself is to be shown them. */
  signedTextsOf(node: NodeId): readonly SignedCheckpoint[] {
    const waiting = this.#ahead.get(node);
    return [...this.of(node), ...(waiting === undefined ? [] : [waiting])].map(({ signed }) => signed);
  }

  /** Checkpoints that this node's own tree contradicts and no revocation took along, at most two a member. */
  get contradicted(): readonly KnownCheckpoint[] {
    return this.#false.all();
  }

  /** Judges a checkpoint whose signature holds, and keeps it where it counts or is evidence. */
  learn(known: KnownCheckpoint): Promise<CheckpointOutcome> {
    return this.#locks.exclusive(known.checkpoint.node, () => this.#learn(known));
  }

  /** The own tree has grown: judges what was ahead of it. Resolves to those that count now or are false. */
  async reconsider(): Promise<readonly { readonly known: KnownCheckpoint; readonly outcome: CheckpointOutcome }[]> {
    const judged: { readonly known: KnownCheckpoint; readonly outcome: CheckpointOutcome }[] = [];
    for (const [node, known] of this.#ahead) {
      if (known.checkpoint.size > this.#tree.size) continue;
      // It stays what the member is known to have signed until it is kept as such.
      judged.push({ known, outcome: await this.learn(known) });
      if (this.#ahead.get(node) === known) this.#ahead.delete(node);
    }
    for (const node of this.#counted.keys()) await this.#locks.exclusive(node, () => this.#keepForReplaced(node));
    return judged;
  }

  async #learn(known: KnownCheckpoint): Promise<CheckpointOutcome> {
    const { node, keyId, size, root } = known.checkpoint;
    const held = this.#counted.get(node) ?? [];
    const same = held.find(({ checkpoint }) => checkpoint.keyId === keyId);
    const versions = this.#lacking(known);
    const saysNothing = same !== undefined && !saysMore(known.checkpoint, same.checkpoint);
    if (saysNothing && versions.length === 0) return 'known';
    if (size > this.#tree.size) {
      const waiting = this.#ahead.get(node);
      const isBetter = this.#isBetter(known, waiting);
      const isWorse = waiting !== undefined && this.#isBetter(waiting, known);
      const isMore = waiting !== undefined && saysMore(known.checkpoint, waiting.checkpoint);
      if (isBetter || (isMore && !isWorse)) this.#ahead.set(node, known);
      return 'ahead';
    }
    if ((await this.#tree.rootAt(size)) !== root) {
      await this.#false.keep(this.#store, known);
      return 'false';
    }
    const others = held.filter(({ checkpoint }) => checkpoint.keyId !== keyId);
    const next = saysNothing ? held : this.#inOrder([known, ...others]).slice(0, KEYS_OF_A_MEMBER);
    const isNewest = next.includes(known);
    if (!isNewest && versions.length === 0) return 'known';
    await this.#store.write([
      ...held
        .filter((other) => other.checkpoint.keyId !== keyId && !next.includes(other))
        .map(({ checkpoint }) => checkpointTable.del(node, checkpoint.keyId)),
      ...(isNewest ? [checkpointTable.put([node, keyId], known.signed)] : []),
      ...versions.map((version) => replacedCheckpointTable.put([version, node], known.signed)),
    ]);
    this.#counted.set(node, next);
    this.#noteReplaced(versions, known);
    return 'counted';
  }

  /** Whoever stole a key that was revoked since can sign as much as it likes: what stands comes before it. */
  #inOrder(checkpoints: readonly KnownCheckpoint[]): readonly KnownCheckpoint[] {
    const fallen = ({ checkpoint }: KnownCheckpoint) => Number(!this.#signatories.stands(checkpoint));
    return checkpoints.toSorted((a, b) => fallen(a) - fallen(b) || newestFirst(a, b));
  }

  /** Whether a checkpoint is the first in its place, or takes that of one that a revocation took along. */
  #isBetter({ checkpoint }: KnownCheckpoint, held: KnownCheckpoint | undefined): boolean {
    if (held === undefined) return true;
    return this.#signatories.stands(checkpoint) && !this.#signatories.stands(held.checkpoint);
  }

  #identityKeysOf({ checkpoint }: KnownCheckpoint): readonly Base64url[] {
    return this.#signatories.identityKeysOf(checkpoint);
  }

  /**
   * Versions of the rosters that were replaced within which a checkpoint counts, and for which nothing as good is kept
   * of its member.
   */
  #lacking(known: KnownCheckpoint): readonly number[] {
    const { node, size } = known.checkpoint;
    const rosters = this.#signatories.rosters();
    const kept = this.#replaced.get(node);
    const stands = (of: KnownCheckpoint) => this.#signatories.stands(of.checkpoint);
    return rosters.flatMap(({ roster, until }) => {
      const member = roster.members.find((each) => each.node === node);
      if (until === null || size <= until || member === undefined) return [];
      const counts = (of: KnownCheckpoint) => this.#identityKeysOf(of).includes(member.identityKey);
      if (!counts(known)) return [];
      const before = kept?.get(roster.version);
      const isKept = before !== undefined && counts(before) && (stands(before) || !stands(known));
      return isKept ? [] : [roster.version];
    });
  }

  /** A roster was replaced, or a key revoked: what is kept of the member may serve. */
  async #keepForReplaced(node: NodeId): Promise<void> {
    for (const known of this.of(node)) {
      const versions = this.#lacking(known);
      if (versions.length === 0) continue;
      await this.#store.write(versions.map((version) => replacedCheckpointTable.put([version, node], known.signed)));
      this.#noteReplaced(versions, known);
    }
  }

  #noteReplaced(versions: readonly number[], known: KnownCheckpoint): void {
    if (versions.length === 0) return;
    const { node } = known.checkpoint;
    const entries = versions.map((version) => [version, known] as const);
    this.#replaced.set(node, new Map([...(this.#replaced.get(node) ?? []), ...entries]));
  }
}

/** Whether a checkpoint covers more than another of its member: a larger tree, or more batches in one as large. */
function saysMore(a: Checkpoint, b: Checkpoint): boolean {
  if (a.size !== b.size) return a.size > b.size;
  return Object.entries(a.vouched).some(([node, batch]) => batch > (b.vouched[node] ?? 0));
}

function newestFirst(a: KnownCheckpoint, b: KnownCheckpoint): number {
  if (a.checkpoint.size !== b.checkpoint.size) return b.checkpoint.size - a.checkpoint.size;
  return vouchedSum(b.checkpoint) - vouchedSum(a.checkpoint);
}

function vouchedSum({ vouched }: Checkpoint): number {
  return Object.values(vouched).reduce((sum, batch) => sum + batch, 0);
}
