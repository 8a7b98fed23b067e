import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import type { CatchUp } from './catch-up.ts';
import type { Chains } from './chains.ts';
import { type Decided, isDecidable } from './decidable.ts';
import type { RivalSearch } from './rival-search.ts';
import type { PeerFaults } from './peer-faults.ts';
import { PeerStatementError } from './peer-statement-error.ts';
import type { Transport } from './transport/contract.ts';

/** How long a starting node asks its peers how far its own chain goes. In milliseconds. */
export const OWN_CHAIN_WAIT_MS = 5_000;
/** Part of the wait after which the answers of all connected peers are enough, a quorum or not. */
const SETTLED_PART = 0.4;
/** So many times the wait are given to peers that are connected and have not answered: they know something. */
const CONNECTED_WAITS = 4;
const LOOK_MS = 20;
/** Pause between two attempts to get what peers have proved to hold. In milliseconds. */
const RETRY_MS = 1_000;

/** `behind`, `forked`: peers hold another history of its chain. `removed`: the roster does not name it any more. */
export type HaltReason = 'behind' | 'forked' | 'removed';

/**
 * Whether a node whose peers prove no more than it holds knows enough to sign. `heard`: peers that have answered; one that
 * claims more and could not be asked for the proof of it is not among them.
 */
export type Sufficiency = (heard: ReadonlySet<NodeId>) => boolean | Promise<boolean>;

export interface OwnChainOptions {
  readonly self: NodeId;
  readonly chains: Chains;
  readonly transport: Pick<Transport, 'peers'>;
  readonly rivals: RivalSearch;
  readonly decided: Decided;
  readonly faults: PeerFaults;
  readonly catchUp: Pick<CatchUp, 'lead' | 'settled' | 'forgive'>;
  /** Answers that end the wait. */
  readonly quorum: () => number;
  readonly waitMs: number;
  readonly log: Logger;
  /** The node must sign nothing more. Called once. */
  readonly onHalt: (reason: HaltReason) => void;
}

/**
 * Keeps this node from signing a second history. Its store may have been lost or rolled back, but its peers hold every
 * batch that it ever announced: before it accepts records it asks them, and takes back what it lacks.
 *
 * A peer's word is never enough: only an envelope under this node's own signature, by any key that it certified, shows
 * that its chain goes further. One that the log cannot decide any more shows nothing: it may be a thief's.
 */
export class OwnChain {
  readonly #options: OwnChainOptions;
  readonly #answered = new Set<NodeId>();
  /** Own batch up to which a peer claims to hold this node's chain. */
  readonly #claims = new Map<NodeId, number>();
  /** Peers whose claims could not be judged: they failed when they were asked. */
  readonly #unjudged = new Set<NodeId>();
  /** Own batch that a peer has shown with our signature. */
  #proven = 0;
  #recovering = true;
  #halted: HaltReason | null = null;

  constructor(options: OwnChainOptions) {
    this.#options = options;
  }

  /** Why this node signs nothing; null while all is well. */
  get halted(): HaltReason | null {
    return this.#halted;
  }

  noteAnswer(peer: NodeId): void {
    this.#answered.add(peer);
  }

  /** A peer claims to hold this node's chain further than its own store does. */
  noteClaim(peer: NodeId, batch: number): void {
    this.#claims.set(peer, Math.max(batch, this.#claims.get(peer) ?? 0));
    if (!this.#recovering) void this.#judgeLate(peer);
  }

  /** The federation goes on without this node. */
  noteRemoval(): void {
    this.#halt('removed');
  }

  /** This node's own signature stands under two stories. */
  noteFork(): void {
    this.#halt('forked');
  }

  /**
   * Takes back own batches that only peers hold; resolves to their number once there is nothing left to take, or the
   * node is halted. Ends soon where nobody has anything, but not before `suffices`. Rejects when the signal aborts.
   */
  async recover(signal: AbortSignal, suffices: Sufficiency = () => true): Promise<number> {
    const { self, chains, catchUp, log } = this.#options;
    await this.#hear(signal);
    const before = chains.head(self).batch;
    for (await this.#prove(); this.#halted === null; await this.#prove()) {
      if (!this.#lacks()) {
        if (await suffices(this.#heard())) break;
        await sleep(RETRY_MS, undefined, { signal });
        continue;
      }
      const held = chains.head(self).batch;
      log.warn(
        { held, proven: this.#proven },
        'peers hold batches of this node that its store lacks; taking them back',
      );
      for (const [peer, batch] of this.#claims) catchUp.lead(self, peer, batch);
      await catchUp.settled(self);
      if (chains.head(self).batch > held) continue;
      await sleep(RETRY_MS, undefined, { signal });
      for (const peer of this.#claims.keys()) catchUp.forgive(peer, self);
    }
    this.#recovering = false;
    return chains.head(self).batch - before;
  }

  /**
   * Waits for a quorum of answers, or for those of all who are connected, or for the time to pass: a longer one while
   * somebody who is connected has not answered, and bounded all the same.
   */
  async #hear(signal: AbortSignal): Promise<void> {
    const { waitMs, transport, quorum } = this.#options;
    const started = performance.now();
    const others = transport.peers().length;
    for (;;) {
      const elapsed = performance.now() - started;
      if (this.#answered.size >= Math.min(quorum(), others)) return;
      const connected = transport.peers().filter((peer) => peer.connected);
      const allAnswered = connected.every(({ node }) => [...this.#answered].some((answered) => answered === node));
      if (elapsed >= waitMs * SETTLED_PART && connected.length > 0 && allAnswered) return;
      if (elapsed >= waitMs * (allAnswered ? 1 : CONNECTED_WAITS)) return;
      await sleep(LOOK_MS, undefined, { signal });
    }
  }

  /** Peers that answered, without those that may hold more than is held here. */
  #heard(): ReadonlySet<NodeId> {
    const held = this.#options.chains.head(this.#options.self).batch;
    const isOpen = (peer: NodeId) => this.#unjudged.has(peer) && (this.#claims.get(peer) ?? 0) > held;
    return new Set([...this.#answered].filter((peer) => !isOpen(peer)));
  }

  #lacks(): boolean {
    return this.#proven > this.#options.chains.head(this.#options.self).batch;
  }

  /** Asks those who claim to lead for the very next batch: what they say of later ones is not needed, nor believed. */
  async #prove(): Promise<void> {
    const next = this.#options.chains.head(this.#options.self).batch + 1;
    for (const [peer, batch] of this.#claims) {
      if (this.#proven >= next) return;
      if (batch >= next && (await this.#isProven(peer, next))) this.#proven = next;
    }
  }

  async #isProven(peer: NodeId, batch: number): Promise<boolean> {
    const { self, rivals, decided, faults, log } = this.#options;
    this.#unjudged.delete(peer);
    try {
      const theirs = await rivals.envelope(peer, self, batch);
      if (theirs !== undefined) return await isDecidable(decided, theirs.envelope, theirs.signed.statement);
      faults.note(peer, 'withheld');
    } catch (error) {
      faults.noteError(peer, error);
      log.warn({ err: error, peer, batch }, 'a peer does not prove what it says of our chain');
      if (!(error instanceof PeerStatementError)) {
        this.#unjudged.add(peer);
        return false;
      }
    }
    this.#claims.delete(peer);
    return false;
  }

  /** Records are being signed already: what came to light may be contradicted at any moment, so nothing more is. */
  async #judgeLate(peer: NodeId): Promise<void> {
    const { self, chains } = this.#options;
    const next = chains.head(self).batch + 1;
    if (this.#halted !== null || !(await this.#isProven(peer, next))) return;
    if (next > chains.head(self).batch) this.#halt('behind');
  }

  #halt(reason: HaltReason): void {
    if (this.#halted !== null) return;
    this.#halted = reason;
    this.#options.log.fatal({ reason }, 'this node signs nothing more');
    this.#options.onHalt(reason);
  }
}
