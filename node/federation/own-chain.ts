import type { Logger } from 'pino';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { Wake } from '../anchoring/wake.ts';
import type { Lanes } from '../lanes.ts';
import { readStartAnswer, START_REQUEST } from '../start/start-forms.ts';
import type { CatchUp } from './catch-up.ts';
import type { Chains } from './chains.ts';
import { type Decided, isDecidable } from './decidable.ts';
import type { PeerFaults } from './peer-faults.ts';
import { PeerStatementError } from './peer-statement-error.ts';
import type { RivalSearch } from './rival-search.ts';
import type { Transport } from './transport/contract.ts';

/** What is waited for is looked at so often even when nobody answers. In milliseconds. */
const LOOK_MS = 250;
/** Pause before a member that failed is asked again, or brings what it has proved to hold. In milliseconds. */
const RETRY_MS = 1_000;

/**
 * `behind`, `forked`: peers hold another history of its chain. `removed`: the roster does not name it any more. `closed`: the
 * log decided another batch than the one that it holds, so its chain cannot go on. `contradicted`: most members have another
 * log than its own.
 */
export type HaltReason = 'behind' | 'closed' | 'contradicted' | 'forked' | 'removed';

/** What a node has learned from the other members since its start. */
export interface OwnChainEvidence {
  /** Who has told how far it holds this node's chain, and has shown what it told, or turned out to have nothing to show. */
  readonly answered: ReadonlySet<NodeId>;
  /** The last own batch that a member has shown; 0 for none. */
  readonly shown: number;
}

/** Whether a node that lacks nothing of what was shown knows enough to sign. Asked again and again until it does. */
export type Sufficiency = (evidence: OwnChainEvidence) => boolean | Promise<boolean>;

export interface OwnChainOptions {
  readonly self: NodeId;
  readonly chains: Chains;
  readonly transport: Pick<Transport, 'peers' | 'request'>;
  readonly lanes: Lanes<NodeId>;
  readonly rivals: RivalSearch;
  readonly decided: Decided;
  readonly faults: PeerFaults;
  readonly catchUp: Pick<CatchUp, 'abandon' | 'forgive' | 'lead' | 'settled'>;
  /** Takes one of this node's own checkpoints. Throws `PeerStatementError` where it does not hold. */
  readonly onCheckpoint: (signed: SignedCheckpoint) => Promise<unknown>;
  readonly log: Logger;
  /**
   * The node must sign nothing more; one that was `removed` seals what it recorded. Called again where `closed` takes the
   * place of another reason, or any of that one.
   */
  readonly onHalt: (reason: HaltReason) => void;
}

/**
 * Keeps this node from signing a second history. Its store may have been lost or rolled back, but others hold every batch
 * that it ever announced: before it accepts records it asks them, and takes back what it lacks (TRUST §9).
 *
 * A member's word is never enough: only an envelope under this node's own signature, by any key that it certified, shows
 * that its chain goes further. One that the log cannot decide any more shows nothing: it may be a thief's.
 */
export class OwnChain {
  readonly #options: OwnChainOptions;
  readonly #wake = new Wake();
  /** Members whose rosters and keys were compared since the start: what they show can be judged. */
  readonly #compared = new Set<NodeId>();
  /** Of the monotonic clock: when a member may be asked. Absent: at once. */
  readonly #asking = new Map<NodeId, number>();
  readonly #answered = new Set<NodeId>();
  /** Own batch up to which a member claims to hold this node's chain. */
  readonly #claims = new Map<NodeId, number>();
  /** Members whose claims could not be judged: they failed when they were asked. */
  readonly #unjudged = new Set<NodeId>();
  /** Own batch that a member has shown with our signature. */
  #shown = 0;
  #recovering = true;
  #halted: HaltReason | null = null;

  constructor(options: OwnChainOptions) {
    this.#options = options;
  }

  /** Why this node signs nothing; null while all is well. */
  get halted(): HaltReason | null {
    return this.#halted;
  }

  /** All that a member said of rosters, keys and heads was compared. */
  noteCompared(peer: NodeId): void {
    this.#compared.add(peer);
    this.#wake.ring();
  }

  /** A member claims to hold this node's chain further than its own store does. */
  noteClaim(peer: NodeId, batch: number): void {
    this.#claims.set(peer, Math.max(batch, this.#claims.get(peer) ?? 0));
    if (this.#recovering) this.#wake.ring();
    else void this.#judgeLate(peer);
  }

  /** Something that `suffices` looks at has changed. */
  poke(): void {
    this.#wake.ring();
  }

  /** The federation goes on without this node. */
  noteRemoval(): void {
    this.#halt('removed');
  }

  /** This node's own signature stands under two stories. */
  noteFork(): void {
    this.#halt('forked');
  }

  /** This node's own tree, or its chain, is not what the others have. */
  noteEnd(reason: 'closed' | 'contradicted'): void {
    this.#halt(reason);
  }

  /**
   * Asks every member how far it holds this node's chain, and takes back what only others hold; resolves to the number of
   * such batches once nothing that was shown is lacking and `suffices`, or the node is halted for good. Rejects when the
   * signal ends. One that was removed asks like any other: it has still to seal what it recorded.
   */
  async recover(signal: AbortSignal, suffices: Sufficiency): Promise<number> {
    const { self, chains, catchUp } = this.#options;
    const before = chains.head(self).batch;
    while (!this.#mayNotSign) {
      signal.throwIfAborted();
      this.#askAll(signal);
      await this.#prove();
      // Asked where something is lacking too: it is what tells the operator.
      const isEnough = await suffices({ answered: this.#heard(), shown: this.#shown });
      if (this.#lacks()) await this.#takeBack(signal);
      else if (!isEnough) await this.#wake.wait(LOOK_MS, signal);
      else if (await this.#isAtRest()) break;
    }
    this.#recovering = false;
    await catchUp.abandon(self);
    return chains.head(self).batch - before;
  }

  get #mayNotSign(): boolean {
    return this.#halted !== null && this.#halted !== 'removed';
  }

  #askAll(signal: AbortSignal): void {
    const now = performance.now();
    for (const { node, connected } of this.#options.transport.peers()) {
      const peer = nodeId(node);
      const isDue = (this.#asking.get(peer) ?? 0) <= now;
      if (connected && isDue && this.#compared.has(peer) && !this.#answered.has(peer)) void this.#ask(peer, signal);
    }
  }

  async #ask(peer: NodeId, signal: AbortSignal): Promise<void> {
    const { self, chains, transport, lanes, onCheckpoint, faults, log } = this.#options;
    this.#asking.set(peer, Number.POSITIVE_INFINITY);
    try {
      const frames = await lanes.exclusive(peer, () =>
        Array.fromAsync(transport.request(peer, 'start', START_REQUEST, { signal })),
      );
      const { batch, checkpoints } = readStartAnswer(frames);
      for (const checkpoint of checkpoints) await onCheckpoint(checkpoint);
      if (batch > chains.head(self).batch) this.noteClaim(peer, batch);
      this.#answered.add(peer);
      this.#wake.ring();
    } catch (error) {
      if (signal.aborted) return;
      faults.noteError(peer, error);
      log.debug({ err: error, peer }, 'a member does not say how far it holds our chain');
      this.#asking.set(peer, performance.now() + RETRY_MS);
    }
  }

  async #takeBack(signal: AbortSignal): Promise<void> {
    const { self, chains, catchUp, log } = this.#options;
    const held = chains.head(self).batch;
    log.warn({ held, shown: this.#shown }, 'others hold batches of this node that its store lacks; taking them back');
    for (const [peer, batch] of this.#claims) catchUp.lead(self, peer, batch);
    await catchUp.settled(self);
    if (chains.head(self).batch > held || this.#mayNotSign) return;
    await new Wake().wait(RETRY_MS, signal);
    for (const peer of this.#claims.keys()) catchUp.forgive(peer, self);
    // It is shown again: what nobody brings may be what the log cannot decide by now.
    this.#shown = held;
  }

  /**
   * Nothing of the own chain may be pulled once this node signs: it would be written over what is recorded. Whether nothing
   * came of what was under way.
   */
  async #isAtRest(): Promise<boolean> {
    const { self, chains, catchUp } = this.#options;
    const held = chains.head(self).batch;
    await catchUp.abandon(self);
    return chains.head(self).batch === held;
  }

  /** Members that answered, without those that may hold more than is held here. */
  #heard(): ReadonlySet<NodeId> {
    const held = this.#options.chains.head(this.#options.self).batch;
    const isOpen = (peer: NodeId) => this.#unjudged.has(peer) && (this.#claims.get(peer) ?? 0) > held;
    return new Set([...this.#answered].filter((peer) => !isOpen(peer)));
  }

  #lacks(): boolean {
    return this.#shown > this.#options.chains.head(this.#options.self).batch;
  }

  /** Asks those who claim to lead for the very next batch: what they say of later ones is not needed, nor believed. */
  async #prove(): Promise<void> {
    const next = this.#options.chains.head(this.#options.self).batch + 1;
    for (const [peer, batch] of this.#claims) {
      if (this.#shown >= next) return;
      if (batch >= next && (await this.#isShown(peer, next))) this.#shown = next;
    }
  }

  async #isShown(peer: NodeId, batch: number): Promise<boolean> {
    const { self, rivals, decided, faults, log } = this.#options;
    this.#unjudged.delete(peer);
    try {
      const theirs = await rivals.envelope(peer, self, batch);
      if (theirs !== undefined) return await isDecidable(decided, theirs.envelope, theirs.signed.statement);
      faults.note(peer, 'withheld');
    } catch (error) {
      faults.noteError(peer, error);
      log.warn({ err: error, peer, batch }, 'a member does not prove what it says of our chain');
      // A certificate may be on its way.
      const isLie = error instanceof PeerStatementError && (error.fault === 'forged' || error.fault === 'malformed');
      if (!isLie) {
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
    if (this.#mayNotSign || !(await this.#isShown(peer, next))) return;
    if (next > chains.head(self).batch) this.#halt('behind');
  }

  #halt(reason: HaltReason): void {
    if (this.#halted !== null && weightOf(reason) <= weightOf(this.#halted)) return;
    this.#halted = reason;
    this.#wake.ring();
    this.#options.log.fatal({ reason }, reason === 'removed' ? 'this node records nothing more' : 'this node signs nothing more');
    this.#options.onHalt(reason);
  }
}

/**
 * A fork that nothing can mend any more closes the chain; and a log that most members contradict is no word on any chain:
 * once it is read anew, what is so shows again. One that is removed seals its last records, and may be halted for good yet.
 */
function weightOf(reason: HaltReason): number {
  if (reason === 'contradicted') return 3;
  if (reason === 'closed') return 2;
  return reason === 'removed' ? 0 : 1;
}
