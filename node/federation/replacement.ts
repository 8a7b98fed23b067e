import type { Logger } from 'pino';
import { hashText } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { backoffDelay } from '../concurrency/backoff.ts';
import { AutoResetEvent } from '../concurrency/auto-reset-event.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import type { CatchUp } from './catch-up.ts';
import type { Chains } from '../log/chains.ts';
import type { Decided } from '../log/decidable.ts';
import { firstOutdone, type Outdone } from './outdone.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import type { RivalSearch } from './rival-search.ts';
import type { Transport } from '../transport/contract.ts';

export interface ReplacementOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly chains: Chains;
  readonly decided: Decided;
  readonly rivals: Pick<RivalSearch, 'envelope'>;
  readonly catchUp: Pick<CatchUp, 'lead' | 'resume' | 'rewind'>;
  readonly transport: Pick<Transport, 'peers'>;
  readonly faults: PeerFaults;
  /** A held envelope gave way to another one of its number: both are signed by their node. Must not throw. */
  readonly onReplaced: (node: NodeId, held: SignedStatement, other: SignedStatement) => void;
  /** In [0, 1), for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
}

/**
 * Puts in the place of a held batch of another node the one that the log decided, and in the place of an undecided one
 * by a key whose revocation is in force the one that its node signed again (protocol §2). What is held is dropped, with
 * all behind it, only once somebody has shown the other envelope; the chain is pulled again from there.
 *
 * Ownership: one run a node; it alone drops batches of that node.
 */
export class Replacement implements AsyncDisposable {
  readonly #options: ReplacementOptions;
  readonly #closing = new AbortController();
  readonly #running = new Map<NodeId, Promise<void>>();
  readonly #wakes = new Map<NodeId, AutoResetEvent>();
  /** Nodes to look at once more: they were poked while they were looked at. */
  readonly #again = new Set<NodeId>();
  /** Nodes of which a held batch waits for another in its place. */
  readonly #due = new Set<NodeId>();

  constructor(options: ReplacementOptions) {
    this.#options = options;
  }

  /** A held batch of the node, of that number or the first that is undecided, may be one that gives way. */
  poke(node: NodeId): void {
    if (node === this.#options.self || this.#closing.signal.aborted) return;
    if (this.#running.has(node)) {
      this.#again.add(node);
      this.#wakes.get(node)?.notify();
      return;
    }
    const run = this.#run(node)
      .catch((error: unknown) => {
        this.#options.log.error({ err: error, node }, 'a held batch could not be replaced');
      })
      .finally(() => {
        this.#running.delete(node);
        this.#wakes.delete(node);
        if (this.#due.delete(node)) this.#options.catchUp.resume(node);
        if (this.#again.delete(node)) this.poke(node);
      });
    this.#running.set(node, run);
  }

  /** Whether a held batch of that node waits for another one in its place. */
  isDue(node: NodeId): boolean {
    return this.#due.has(node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running.values());
  }

  async #run(node: NodeId): Promise<void> {
    const { random, log } = this.#options;
    const { signal } = this.#closing;
    const wake = new AutoResetEvent();
    this.#wakes.set(node, wake);
    for (let tries = 1; !signal.aborted; tries++) {
      this.#again.delete(node);
      const { store, chains, decided } = this.#options;
      const outdone = await firstOutdone(store, decided, node, chains.head(node).batch);
      if (outdone === undefined) return;
      this.#due.add(node);
      const { batch } = outdone.held.envelope;
      if (tries === 1) log.warn({ node, batch }, 'a held batch gives way to another one: asking for it');
      if (await this.#replace(node, outdone)) tries = 0;
      else await wake.wait(backoffDelay(tries, random()), signal);
    }
  }

  /** Whether somebody showed the other envelope, and the held chain was dropped from there on. */
  async #replace(node: NodeId, outdone: Outdone): Promise<boolean> {
    const { catchUp, onReplaced, log } = this.#options;
    const { held } = outdone;
    const { batch } = held.envelope;
    for (const peer of this.#peers(node)) {
      const theirs = await this.#ask(peer, node, batch);
      if (theirs === undefined || this.#closing.signal.aborted || !this.#isWanted(outdone, theirs)) continue;
      log.warn({ node, batch, peer }, 'a held batch is replaced, with what follows');
      this.#due.delete(node);
      await catchUp.rewind(node, batch - 1);
      onReplaced(node, held.signed, theirs.signed);
      catchUp.lead(node, peer, batch);
      return true;
    }
    return false;
  }

  /**
   * What was decided is known by its hash. Before, whatever its node signed in that place by a key that counts is
   * taken, of the same records or not: what is held can be decided no more, and a node whose store was lost may not
   * have its records. Were it refused here, nobody would hold it, so it would never be named.
   */
  #isWanted({ held, decided }: Outdone, { envelope, signed }: StoredBatch): boolean {
    if (decided !== null) return hashText(nativeSuite, signed.statement) === decided;
    return envelope.prev === held.envelope.prev && !this.#options.decided.isRevoked(envelope.node, envelope.keyId);
  }

  async #ask(peer: NodeId, node: NodeId, batch: number): Promise<StoredBatch | undefined> {
    const { rivals, faults, log } = this.#options;
    try {
      return await rivals.envelope(peer, node, batch);
    } catch (error) {
      faults.noteError(peer, error);
      log.debug({ err: error, node, peer, batch }, 'a member does not show its envelope of a batch');
      return undefined;
    }
  }

  /** Connected members, the origin first. */
  #peers(node: NodeId): readonly NodeId[] {
    const connected = this.#options.transport.peers().filter((peer) => peer.connected);
    const peers = connected.map((peer) => nodeId(peer.node));
    return peers.toSorted((a, b) => Number(b === node) - Number(a === node));
  }
}
