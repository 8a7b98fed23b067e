import type { Logger } from 'pino';
import { hashText } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { FROM_TOLERANCE_MS } from '../../protocol/chain/chain-state.ts';
import { type DecisionState, isRevoked, knownNode, nextBatch } from '../../protocol/log/decision-state.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import type { Chains } from './chains.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readBatch, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import { numberCodec, Table } from '../store/table.ts';
import type { TopicReadingState } from '../anchoring/topic/reading-state.ts';
import type { FederationLog } from './federation-log.ts';

/** Time in which the ledger answered and a held batch stayed undecided, after which it is named. In milliseconds. */
export const RESCUE_AFTER_MS = 10 * 60 * 1000;
/** How often the chains are looked at, in milliseconds. */
const LOOK_MS = 15_000;
/** So many looks late a look counts no more than that: the process stood still, and saw no answer of the ledger. */
const MOST_LOOKS = 2;
/** Undecided batches of one node whose time is counted. */
const MAX_WATCHED = 64;
/**
 * Batches of a removed node that are taken, and may be named, beyond those that were held when its removal was decided.
 */
export const MAX_LAST_BATCHES = 64;

/** (removed node) → its last batch that was held here, or decided, when its removal was. */
export const heldAtRemovalTable = new Table('held-at-removal', numberCodec);

export interface RescueOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly chains: Pick<Chains, 'head'>;
  readonly federationLog: Pick<FederationLog, 'state'>;
  readonly readingState: () => TopicReadingState;
  /** Ledger time of the decision that removed a node; null for a member. */
  readonly removalTime: (node: NodeId) => Promise<Timestamp | null>;
  /** Whether this member, which may have answered a start of that node, may name that batch of it. */
  readonly mayRescue: (node: NodeId, batch: number) => boolean;
  /** Has the batch named by this node, unless it is under way. */
  readonly ensure: (batch: StoredBatch) => Promise<void>;
  readonly now: () => number;
  readonly log: Logger;
  readonly afterMs?: number;
}

/**
 * Names batches of other nodes that this member holds whole and that stay undecided, so that what a dead or removed
 * node sealed last is not lost (protocol §2). A name that fell, with a roster or behind newer ones, is sent again while
 * it matters. How long a batch waited is counted again after a restart.
 *
 * Crash order: what was held of a removed node is written right after the write that decided its removal; a start
 * writes what a crash left out, before it learns of more.
 */
export class Rescue implements AsyncDisposable {
  readonly #options: RescueOptions;
  /** Removed node → its last batch that was held here, or decided, when its removal was. */
  readonly #heldAtRemoval = new Map<NodeId, number>();
  /** Node → batch → milliseconds that it was undecided while the ledger answered. */
  readonly #waited = new Map<NodeId, Map<number, number>>();
  #lookedAt: number;
  #position: number;
  readonly #task: PeriodicTask<void>;

  private constructor(options: RescueOptions) {
    this.#options = options;
    this.#lookedAt = options.now();
    this.#task = new PeriodicTask(this.#intervalMs, () => this.#tryLook());
    this.#position = options.federationLog.state.sequence;
  }

  /** Looks at nothing before `start`. */
  static async open(options: RescueOptions): Promise<Rescue> {
    const rescue = new Rescue(options);
    await rescue.noteRoster();
    return rescue;
  }

  start(): void {
    this.#task.start(this.#intervalMs);
  }

  /**
   * A roster came into force: of nodes that it removes, what is held now may be rescued, and of what comes later the
   * last.
   */
  async noteRoster(): Promise<void> {
    const { store, chains, federationLog } = this.#options;
    const { members, past } = federationLog.state;
    const rows = new Map<string, number>();
    for await (const [[node = ''], batch] of heldAtRemovalTable.under(store, [])) rows.set(node, batch);
    this.#heldAtRemoval.clear();
    for (const [node, batch] of rows) this.#heldAtRemoval.set(nodeId(node), batch);
    const removed = nodesOf(past).filter((node) => !rows.has(node));
    const returned = nodesOf(members).filter((node) => rows.has(node));
    if (removed.length + returned.length === 0) return;
    // This member may have read of the removal long after it: what was decided by then was held by others.
    const held = (node: NodeId) => Math.max(chains.head(node).batch, this.#decided(node));
    const marks = removed.map((node) => [node, held(node)] as const);
    await store.write([
      ...marks.map(([node, batch]) => heldAtRemovalTable.put([node], batch)),
      ...returned.map((node) => heldAtRemovalTable.del(node)),
    ]);
    for (const [node, batch] of marks) this.#heldAtRemoval.set(node, batch);
    for (const node of returned) this.#heldAtRemoval.delete(nodeId(node));
  }

  /**
   * The last batch of a node that is decided or may still be, as far as its number goes: a removed node brings its last
   * ones, and no more. Infinity for a member.
   */
  lastToCome(node: NodeId): number {
    const held = this.#heldAtRemoval.get(node);
    return held === undefined ? Number.POSITIVE_INFINITY : Math.max(this.#decided(node), held + MAX_LAST_BATCHES);
  }

  /** The held chain of a node was replaced: what came before counts no more. */
  forget(node: NodeId): void {
    this.#waited.delete(node);
  }

  /** Counts the time since the last look, and names what has waited long enough. Rejects where the store fails. */
  async look(): Promise<void> {
    const { self, federationLog, now } = this.#options;
    const { state } = federationLog;
    const at = now();
    const elapsed = this.#hasAnswered() ? Math.min(at - this.#lookedAt, MOST_LOOKS * this.#intervalMs) : 0;
    this.#lookedAt = at;
    this.#position = state.sequence;
    for (const node of [...nodesOf(state.members), ...nodesOf(state.past)]) {
      if (node !== self) await this.#lookAt(state, node, Math.max(0, elapsed));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task[Symbol.asyncDispose]();
  }

  /** The last batch of a node that was decided; 0 for none. */
  #decided(node: NodeId): number {
    return knownNode(this.#options.federationLog.state, node)?.last?.batch ?? 0;
  }

  get #intervalMs(): number {
    return Math.min(LOOK_MS, (this.#options.afterMs ?? RESCUE_AFTER_MS) / 4);
  }

  async #tryLook(): Promise<void> {
    try {
      await this.look();
    } catch (error) {
      this.#options.log.error({ err: error }, 'batches of other nodes could not be looked at; trying again');
    }
  }

  /** Whether the ledger answered since the last look, and all that it showed is final or has moved on. */
  #hasAnswered(): boolean {
    const { sources, consensus, waitingFor } = this.#options.readingState();
    if (this.#options.federationLog.state.sequence > this.#position) return true;
    const answers = [...sources, ...(consensus === null ? [] : [consensus])].map(
      ({ lastAnswerAt }) => lastAnswerAt ?? 0,
    );
    return waitingFor === 'nothing' && answers.some((at) => at > this.#lookedAt);
  }

  async #lookAt(state: DecisionState, node: NodeId, elapsed: number): Promise<void> {
    const { chains, afterMs = RESCUE_AFTER_MS } = this.#options;
    const known = knownNode(state, node);
    const next = known === undefined ? 1 : nextBatch(known);
    const head = chains.head(node).batch;
    const before = this.#waited.get(node);
    const waited = new Map<number, number>();
    for (let batch = next; batch <= Math.min(head, next + MAX_WATCHED - 1); batch++) {
      const counted = before?.get(batch);
      waited.set(batch, counted === undefined ? 0 : counted + elapsed);
    }
    if (waited.size === 0) this.#waited.delete(node);
    else this.#waited.set(node, waited);
    if ((waited.get(next) ?? 0) >= afterMs) await this.#name(state, node, next);
  }

  async #name(state: DecisionState, node: NodeId, batch: number): Promise<void> {
    const { self, store, mayRescue, ensure, log } = this.#options;
    if (state.members[self] === undefined || !mayRescue(node, batch)) return;
    const held = await readBatch(store, node, batch);
    if (held === undefined || !follows(state, held) || isNamed(state, self, held)) return;
    if (!(await this.#wasRecordedInTime(held))) return;
    log.warn({ node, batch }, 'a batch of another node stays undecided; naming it for that node');
    await ensure(held);
  }

  /**
   * Of a removed node counts what was held at its removal, and of what it brings later a few batches that began before:
   * by signed bytes and the ledger's time, so that members come to the same.
   */
  async #wasRecordedInTime({ envelope: { node, batch, from } }: StoredBatch): Promise<boolean> {
    if (batch <= (this.#heldAtRemoval.get(node) ?? 0)) return true;
    const removed = await this.#options.removalTime(node);
    if (removed === null) return true;
    return batch <= this.lastToCome(node) && Date.parse(from) <= Date.parse(removed) + FROM_TOLERANCE_MS;
  }
}

function nodesOf(nodes: DecisionState['members']): NodeId[] {
  return Object.keys(nodes).map(nodeId);
}

/** Whether a name of the batch could decide it: it goes on from the last that was decided, by a key that counts. */
function follows(state: DecisionState, { envelope: { node, prev, keyId } }: StoredBatch): boolean {
  const last = knownNode(state, node)?.last ?? null;
  return prev === (last?.envelope ?? null) && !isRevoked(state, node, keyId);
}

/** Whether this member's name of the batch is among those that count. */
function isNamed(state: DecisionState, self: NodeId, { envelope, signed }: StoredBatch): boolean {
  const named = state.open[self]?.batches ?? [];
  const hash = hashText(nativeSuite, signed.statement);
  return named.some(({ node, batch, envelope: of }) => {
    return node === envelope.node && batch === envelope.batch && of === hash;
  });
}
