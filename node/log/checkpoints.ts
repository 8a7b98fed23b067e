import type { Logger } from 'pino';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { type SignedStatement, signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { CheckpointOutcome, CheckpointStore, OwnTree } from './checkpoint-store.ts';
import type { KnownCheckpoint } from './known-checkpoint.ts';
import type { FederationKeys } from './members/federation-keys.ts';
import { PeerStatementError } from './members/peer-statement-error.ts';
import { openStatement } from './members/statement-check.ts';

/** Least time between two checkpoints of one member. In milliseconds. */
const LEAST_INTERVAL_MS = 1_000;
/**
 * Members whose checkpoints fit into that; more of them wait longer, so that a federation exchanges as many a second.
 */
const MEMBERS_A_SECOND = 5;
/**
 * A batch is derived a moment after it is decided: both go into one checkpoint, not into two an interval apart. In
 * milliseconds.
 */
const GATHER_MS = 100;
/** Pause after the store or the key refused a checkpoint. In milliseconds. */
const RETRY_MS = 1_000;

/** Least time between two checkpoints of one of so many members. In milliseconds. */
export function checkpointIntervalMs(members: number): number {
  return Math.max(1, members / MEMBERS_A_SECOND) * LEAST_INTERVAL_MS;
}

export interface CheckpointsOptions {
  readonly self: NodeId;
  /** Hash of the genesis roster. */
  readonly federation: Sha256Hash;
  /** The key that signs at the moment. */
  readonly signer: () => Signer;
  readonly keys: FederationKeys;
  readonly checkpointStore: CheckpointStore;
  readonly tree: OwnTree;
  /** Of each node, the last batch up to which this member has derived everything; no node at 0. */
  readonly vouched: () => ReadonlyMap<NodeId, number>;
  /** Sends one to every member. What is lost is sent again with the next connection. */
  readonly publish: (signed: SignedCheckpoint) => Promise<void>;
  /** Told of each checkpoint that counts from now on. */
  readonly onCounted?: (known: KnownCheckpoint) => void;
  /** Told of each checkpoint that the own tree contradicts. */
  readonly onFalse?: () => void;
  /** Whether most members contradict the own tree: then nothing is signed of it. */
  readonly isContradicted?: () => boolean;
  /**
   * Place of the decision by which this node ceased to be a member: it signs one checkpoint that covers it. Null for
   * none.
   */
  readonly removedAt?: () => number | null;
  /** Whether a removed node still seals what it recorded: that one says that nothing more comes. */
  readonly isSealing?: () => boolean;
  readonly log: Logger;
}

/**
 * Signs this member's checkpoints, and takes those of the others.
 *
 * Crash order: a checkpoint is on the disk before it is sent. One is signed only once the own tree has reached the last
 * that this member is known to have signed, and its derivation every batch vouched for there: by the store, or by what
 * others hold, for a store may be a copy.
 *
 * Ownership: `#timer` and `#signing` belong to the signing loop, which `noteGrowth` alone wakes.
 */
export class Checkpoints implements AsyncDisposable {
  readonly #options: CheckpointsOptions;
  #timer: NodeJS.Timeout | undefined;
  #signing: Promise<void> | undefined;
  /** Of the monotonic clock: when the last one was signed. */
  #signedAt = Number.NEGATIVE_INFINITY;
  #isSigner = false;
  #grown = false;
  #closed = false;

  constructor(options: CheckpointsOptions) {
    this.#options = options;
  }

  /**
   * Signs from now on. Before that it only takes those of others: a store that is a copy does not know its own last
   * one.
   */
  start(): void {
    this.#isSigner = true;
    this.noteGrowth();
  }

  /** The own tree, or what is vouched for, has grown. */
  noteGrowth(): void {
    this.#grown = true;
    this.#arm();
  }

  /**
   * Takes a checkpoint that a member sent, its own or another's. Throws `PeerStatementError` where it is not signed by
   * a key of the member that it names.
   */
  async learn(signed: SignedCheckpoint): Promise<CheckpointOutcome> {
    const known = this.#open(signed);
    const outcome = await this.#options.checkpointStore.learn(known);
    this.#note(known, outcome);
    return outcome;
  }

  /** The own tree has grown: judges what was ahead of it. */
  async reconsider(): Promise<void> {
    for (const { known, outcome } of await this.#options.checkpointStore.reconsider()) this.#note(known, outcome);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#signing;
  }

  #open({ text, signature }: SignedCheckpoint): KnownCheckpoint {
    const signed: SignedStatement = { statement: text, signature };
    const { federation, keys } = this.#options;
    const checkpoint = openStatement(keys, checkpointStatement, signed, ({ node, keyId }) => ({
      node,
      keyId,
      first: null,
    }));
    if (checkpoint.federation !== federation) {
      throw new PeerStatementError('malformed', 'a checkpoint of another federation');
    }
    return { checkpoint, signed: { text, signature } };
  }

  #note(known: KnownCheckpoint, outcome: CheckpointOutcome): void {
    const { log, onCounted, onFalse } = this.#options;
    const { node, size } = known.checkpoint;
    if (outcome === 'counted') onCounted?.(known);
    if (outcome !== 'false') return;
    log.error({ node, size }, 'a checkpoint contradicts the own tree');
    onFalse?.();
  }

  #arm(): void {
    if (!this.#isSigner || this.#closed || !this.#grown || this.#timer !== undefined || this.#signing !== undefined) {
      return;
    }
    const interval = checkpointIntervalMs(this.#options.keys.rosters.current.members.length);
    const wait = Math.max(GATHER_MS, this.#signedAt + interval - performance.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#signing = this.#signSafely().finally(() => {
        this.#signing = undefined;
        this.#arm();
      });
    }, wait);
  }

  async #signSafely(): Promise<void> {
    this.#grown = false;
    try {
      await this.#sign();
    } catch (error) {
      if (this.#closed) return;
      this.#options.log.error({ err: error }, 'a checkpoint could not be signed; trying again');
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      this.#grown = true;
    }
  }

  async #sign(): Promise<void> {
    if (this.#options.isContradicted?.() === true) return;
    const removedAt = this.#options.removedAt?.() ?? null;
    const { self, federation, checkpointStore, tree, vouched, publish, keys } = this.#options;
    const signer = this.#options.signer();
    const { keyId } = signer;
    const counts = keys.directory.get(self, keyId) !== undefined;
    if (!counts || keys.directory.revocation(self, keyId) !== undefined) return;
    // Whoever stole a key may have signed for a tree that never was.
    const isOwn = (said: Checkpoint) =>
      keys.directory.revocation(self, said.keyId)?.revocation.reason !== 'compromised';
    const before = checkpointStore.signedBy(self).filter(isOwn);
    const isSealing = removedAt !== null && this.#options.isSealing?.() === true;
    if (isSealing || (removedAt !== null && before.some(({ size }) => size > removedAt))) return;
    const checkpoint = await nextCheckpoint({ self, federation, keyId, tree, vouched: vouched(), before });
    if (checkpoint === null) return;
    const { statement: text, signature } = await signStatement(checkpointStatement, checkpoint, signer);
    const signed = { text, signature };
    const known = { checkpoint, signed };
    this.#note(known, await checkpointStore.learn(known));
    this.#signedAt = performance.now();
    await publish(signed);
  }
}

/** What a member's next checkpoint is made of. */
interface CheckpointGrounds {
  readonly self: NodeId;
  /** Hash of the genesis roster. */
  readonly federation: Sha256Hash;
  readonly keyId: Sha256Hash;
  readonly tree: OwnTree;
  /** Of each node, the last batch up to which the member has derived everything; no node at 0. */
  readonly vouched: ReadonlyMap<NodeId, number>;
  /** The last that the member is known to have signed, by each of its keys. */
  readonly before: readonly Checkpoint[];
}

/**
 * The checkpoint that a member may sign now (protocol §4). Null where its tree or its derivation has not reached one
 * that it signed before, where that one says all of this, or where nothing is decided yet.
 */
export async function nextCheckpoint(grounds: CheckpointGrounds): Promise<Checkpoint | null> {
  const { self, federation, keyId, tree, vouched, before } = grounds;
  const { size } = tree;
  if (size === 0 || !before.every((earlier) => covers(size, vouched, earlier))) return null;
  const root = await tree.rootAt(size);
  const next: Checkpoint = {
    v: 1,
    type: 'checkpoint',
    federation,
    node: self,
    keyId,
    size,
    root,
    vouched: Object.fromEntries(vouched),
  };
  const isSaid = before.some((earlier) => earlier.keyId === keyId && covers(earlier.size, vouchedOf(earlier), next));
  return isSaid ? null : next;
}

/** Whether a tree of `size`, with these batches derived, has reached what a checkpoint says. */
function covers(
  size: number,
  vouched: ReadonlyMap<string, number>,
  { size: reached, vouched: batches }: Checkpoint,
): boolean {
  return size >= reached && Object.entries(batches).every(([node, batch]) => (vouched.get(node) ?? 0) >= batch);
}

function vouchedOf({ vouched }: Checkpoint): ReadonlyMap<string, number> {
  return new Map(Object.entries(vouched));
}
