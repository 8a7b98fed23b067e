import type { Logger } from 'pino';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { MAX_CERTIFICATES } from '../../protocol/chain/certified-keys.ts';
import { backoffDelay } from '../concurrency/backoff.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readBatch, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import type { Chains } from '../log/chains.ts';
import type { Equivocation, Equivocations } from './equivocations.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import {
  decodeItem,
  type PageItem,
  type PageRequest,
  readStatus,
  type Status,
  STATUS_EQUIVOCATIONS,
  STATUS_REQUEST,
} from './page-forms.ts';
import type { PageClient } from './page-client.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import type { Transport } from '../transport/contract.ts';

/** Gossip has no history, so peers compare heads this often besides on every connection. In milliseconds. */
const HEAD_EXCHANGE_MS = 30_000;
/**
 * And so long after each connection: what both sides seal before their gossip is meshed again would wait for the next
 * round. In milliseconds.
 */
const SETTLING_MS = [2_000, 5_000] as const;

/** Statements of one answer whose signatures do not hold, after which the rest of it is not looked at. */
export const MAX_UNFOUNDED = 16;

/**
 * Keys are not pulled again from a peer for so long where all of its that lack here are more than is kept. In
 * milliseconds.
 */
const TOO_MANY_REST_MS = 300_000;

/** Two sets of a member's keys: what a peer's has beside this node's is more than is kept. */
interface TooMany {
  readonly own: Sha256Hash | undefined;
  readonly theirs: Sha256Hash;
  /** Of the monotonic clock, in milliseconds. */
  readonly until: number;
}

export interface HeadExchangeOptions {
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly equivocations: Equivocations;
  readonly faults: PeerFaults;
  readonly transport: Pick<Transport, 'peers'>;
  readonly pages: Pick<PageClient, 'answer' | 'frames'>;
  /** In [0, 1), for the jitter of back-offs. */
  readonly random: () => number;
  readonly log: Logger;
  /** A peer says that it holds a chain up to a batch. */
  readonly onLead: (node: NodeId, peer: NodeId, batch: number) => void;
  /** A peer says that its envelope of a batch that is held here is another one. */
  readonly onRival: (node: NodeId, peer: NodeId, batch: number) => Promise<void>;
  readonly onProof: (proof: Equivocation) => Promise<void>;
  /** All that a peer said was compared. */
  readonly onExchanged: (peer: NodeId) => void;
}

/** Compares what this node holds with what its peers hold, and pulls the keys that it lacks. */
export class HeadExchange implements AsyncDisposable {
  readonly #options: HeadExchangeOptions;
  readonly #closing = new AbortController();
  readonly #running = new Map<NodeId, Promise<void>>();
  /** Peers to exchange with once more: they were called for in the middle of an exchange. */
  readonly #again = new Set<NodeId>();
  /** By peer, exchanges in a row that failed, whole or in part, and the timer of the next. */
  readonly #retries = new Map<NodeId, { readonly failures: number; readonly timer: NodeJS.Timeout }>();
  /** Peer → node → how far the peer said last that it holds that chain. */
  readonly #told = new Map<NodeId, ReadonlyMap<NodeId, number>>();
  /** By peer and member. */
  readonly #tooMany = new Map<string, TooMany>();
  readonly #task = new PeriodicTask(HEAD_EXCHANGE_MS, async () => this.exchangeAll());

  constructor(options: HeadExchangeOptions) {
    this.#options = options;
  }

  start(): void {
    this.#task.start(HEAD_EXCHANGE_MS);
  }

  /** Exchanges with a peer that has come, and again once both have caught up. */
  meet(peer: NodeId): void {
    this.exchange(peer);
    for (const delay of SETTLING_MS) setTimeout(() => this.exchange(peer), delay).unref();
  }

  exchangeAll(): void {
    for (const { node, connected } of this.#options.transport.peers()) if (connected) this.exchange(nodeId(node));
  }

  /** Exchanges with one peer. While that is under way, further calls make for one exchange more after it. */
  exchange(peer: NodeId): void {
    if (this.#closing.signal.aborted) return;
    if (this.#running.has(peer)) {
      this.#again.add(peer);
      return;
    }
    const run = this.#exchange(peer)
      .catch((error: unknown) => {
        this.#noteError(peer, error);
        return false;
      })
      .then((isWhole) => {
        this.#running.delete(peer);
        const isCalledFor = this.#again.delete(peer);
        if (isWhole) this.#endRetry(peer);
        else this.#retry(peer);
        if (isCalledFor) this.exchange(peer);
      });
    this.#running.set(peer, run);
  }

  /** How far each peer that was asked since the start said last that it holds a node's chain. */
  told(node: NodeId): ReadonlyMap<NodeId, number> {
    return new Map([...this.#told].map(([peer, heads]) => [peer, heads.get(node) ?? 0]));
  }

  /** What this node answers a peer that asks. */
  status(): Status {
    const { keys, chains, equivocations } = this.#options;
    return {
      heads: [...chains.all()].flatMap(([node, { batch, hash }]) =>
        hash === null ? [] : [{ node, batch, envelope: hash }],
      ),
      keys: keys.digests(),
      equivocations: equivocations
        .pairs()
        .slice(0, STATUS_EQUIVOCATIONS)
        .map(({ node, batch }) => ({ node, batch })),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const peer of this.#retries.keys()) this.#endRetry(peer);
    await this.#task[Symbol.asyncDispose]();
    await Promise.allSettled(this.#running.values());
  }

  /** After a pause, of which each peer has one: what was exchanged meanwhile is not asked for again. */
  #retry(peer: NodeId): void {
    if (this.#closing.signal.aborted) return;
    const failures = (this.#retries.get(peer)?.failures ?? 0) + 1;
    this.#endRetry(peer);
    const retry = () => {
      const isThere = this.#options.transport.peers().some(({ node, connected }) => node === peer && connected);
      // Anyone who is away is met when it comes back.
      if (isThere) this.exchange(peer);
      else this.#retries.delete(peer);
    };
    const timer = setTimeout(retry, backoffDelay(failures, this.#options.random())).unref();
    this.#retries.set(peer, { failures, timer });
  }

  #endRetry(peer: NodeId): void {
    clearTimeout(this.#retries.get(peer)?.timer);
    this.#retries.delete(peer);
  }

  /** Resolves to whether all that the peer named was compared and pulled: what fails keeps nothing else from it. */
  async #exchange(peer: NodeId): Promise<boolean> {
    const { keys, equivocations, onExchanged } = this.#options;
    const theirs = this.#heard(peer, await this.#ask(peer));
    this.#told.set(peer, new Map(theirs.heads.map(({ node, batch }) => [node, batch])));
    let isWhole = true;
    const attempt = async (part: () => Promise<void>): Promise<void> => {
      try {
        await part();
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        isWhole = false;
        this.#noteError(peer, error);
      }
    };
    for (const { node, hash } of theirs.keys) {
      if (this.#lacksKeys(peer, node, hash)) await attempt(() => this.#pullKeys(peer, node, hash));
    }
    if (theirs.equivocations.some(({ node, batch }) => equivocations.wants(node, batch))) {
      await attempt(() => this.#pullProofs(peer));
    }
    for (const head of theirs.heads) {
      if (keys.rosters.member(head.node) !== undefined) await attempt(() => this.#compare(peer, head));
    }
    if (isWhole) onExchanged(peer);
    return isWhole;
  }

  #noteError(peer: NodeId, error: unknown): void {
    this.#options.faults.noteError(peer, error);
    this.#options.log.debug({ err: error, peer }, 'what a peer holds was not exchanged whole');
  }

  /** What is listened to: of one that leaves, what concerns itself. */
  #heard(peer: NodeId, theirs: Status): Status {
    if (this.#options.keys.isMember(peer)) return theirs;
    const isOwn = ({ node }: { readonly node: NodeId }) => node === peer;
    return { heads: theirs.heads.filter(isOwn), keys: theirs.keys.filter(isOwn), equivocations: [] };
  }

  async #compare(peer: NodeId, { node, batch, envelope }: Status['heads'][number]): Promise<void> {
    const { store, chains, equivocations, onLead, onRival } = this.#options;
    const head = chains.head(node);
    if (batch > head.batch) {
      onLead(node, peer, batch);
      return;
    }
    const held = batch === head.batch ? head.hash : hashOf(await readBatch(store, node, batch));
    if (held !== envelope && !equivocations.knows(node, batch)) await onRival(node, peer, batch);
  }

  async #ask(peer: NodeId): Promise<Status> {
    const [frame] = await this.#options.pages.answer(peer, 'status', STATUS_REQUEST, this.#closing.signal);
    if (frame === undefined) throw new PeerStatementError('malformed', 'an empty status');
    return readStatus(frame);
  }

  /** Whether a peer may know keys of a member that are not known here. What nobody would keep is not asked for. */
  #lacksKeys(peer: NodeId, node: NodeId, theirs: Sha256Hash): boolean {
    const { keys } = this.#options;
    const own = keys.digest(node);
    if (keys.rosters.member(node) === undefined || own === theirs) return false;
    if (keys.lacksRevocation(node)) return true;
    const known = this.#tooMany.get(`${peer}/${node}`);
    if (known?.own === own && known?.theirs === theirs && performance.now() < known.until) return false;
    return keys.directory.of(node).length < MAX_CERTIFICATES;
  }

  async #pullKeys(peer: NodeId, node: NodeId, theirs: Sha256Hash): Promise<void> {
    const { keys } = this.#options;
    const { tooMany, others } = await this.#learnAll(peer, { want: 'keys', node }, async (item) => {
      if (item.kind === 'certificate') await keys.learnCertificate(item.signed);
      else if (item.kind === 'revocation') await keys.learnRevocation(item.signed);
    });
    if (tooMany === 0 || others > 0) return;
    const until = performance.now() + TOO_MANY_REST_MS;
    this.#tooMany.set(`${peer}/${node}`, { own: keys.digest(node), theirs, until });
    this.#options.log.warn({ peer, node, statements: tooMany }, 'a peer holds more statements than are kept here');
  }

  async #pullProofs(peer: NodeId): Promise<void> {
    await this.#learnAll(peer, { want: 'equivocations' }, async (item) => {
      if (item.kind === 'equivocation') await this.#options.onProof(item.proof);
    });
  }

  /**
   * One statement that does not hold, or not yet, must not hide the others; of many that do not, no more are checked.
   * Resolves to how many were refused: as more than is kept, and for reasons that may pass.
   */
  async #learnAll(
    peer: NodeId,
    request: PageRequest,
    learn: (item: PageItem) => Promise<void>,
  ): Promise<{ readonly tooMany: number; readonly others: number }> {
    let [unfounded, tooMany, others] = [0, 0, 0];
    for (const frame of await this.#options.pages.frames(peer, request, this.#closing.signal)) {
      const item = decodeItem(frame);
      try {
        await learn(item);
      } catch (error) {
        if (!(error instanceof PeerStatementError)) throw error;
        this.#options.faults.noteError(peer, error);
        if (error.fault === 'too-many') {
          tooMany++;
          continue;
        }
        this.#options.log.warn({ err: error, peer }, 'a peer holds a statement that is refused here');
        if (error.fault !== 'forged') others++;
        else if (++unfounded >= MAX_UNFOUNDED) break;
      }
    }
    return { tooMany, others };
  }
}

function hashOf(batch: StoredBatch | undefined): Sha256Hash | undefined {
  return batch && hashText(nativeSuite, batch.signed.statement);
}
