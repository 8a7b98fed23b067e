import type { Logger } from 'pino';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { AutoResetEvent } from '../concurrency/auto-reset-event.ts';
import type { Chains } from '../log/chains.ts';
import { type Decided, isDecidable } from '../log/decidable.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import type { Transport } from '../transport/contract.ts';
import type { CatchUp } from './catch-up.ts';
import { ChainContradictionError } from './chain-assembler.ts';
import { isSignedAnew, type Outdone } from './outdone.ts';
import type { OwnReplacement } from './own-replacement.ts';
import type { RivalSearch } from './rival-search.ts';
import { AnnouncedBatches, type AnnouncedBatchesOptions } from './start/announced-batches.ts';
import { readStartAnswer, START_REQUEST } from './start/start-answers.ts';
import type { PageClient } from './page-client.ts';

/** What is waited for is looked at so often even when nobody answers. In milliseconds. */
const LOOK_MS = 250;
/** Pause before a member that failed is asked again, or brings what it has proved to hold. In milliseconds. */
const RETRY_MS = 1_000;
/**
 * Own batches of which another envelope was decided than the one held, and which no member shows, are lost so long
 * after the last member has answered: one of them may be taking the batch from another. In milliseconds.
 */
const LOST_MS = 30_000;

/**
 * `behind`, `forked`: peers hold another history of its chain. `removed`: the roster does not name it any more.
 * `closed`: the log decided a batch of other content than the one that it holds, or that nobody has, so its chain
 * cannot go on. `contradicted`: most members have another log than its own.
 */
export type HaltReason = 'behind' | 'closed' | 'contradicted' | 'forked' | 'removed';

/** What a node has learned from the other members since its start. */
export interface OwnChainEvidence {
  /**
   * Who has told how far it holds this node's chain, and has shown what it told, or turned out to have nothing to show.
   */
  readonly answered: ReadonlySet<NodeId>;
  /** The last own batch in the store that the log decided or can still decide, with all before it; 0 for none. */
  readonly held: number;
  /** The last own batch that a member has shown, or the envelope alone, as it was announced; 0 for none. */
  readonly shown: number;
}

/** Whether a node that lacks nothing of what was shown knows enough to sign. Asked again and again until it does. */
export type Sufficiency = (evidence: OwnChainEvidence) => boolean | Promise<boolean>;

export interface OwnChainOptions {
  readonly self: NodeId;
  readonly chains: Chains;
  readonly keys: AnnouncedBatchesOptions['keys'];
  readonly transport: Pick<Transport, 'peers'>;
  readonly pages: Pick<PageClient, 'answer'>;
  readonly rivals: RivalSearch;
  readonly decided: Decided;
  readonly faults: PeerFaults;
  readonly catchUp: Pick<CatchUp, 'abandon' | 'forgive' | 'lead' | 'settled'>;
  readonly replacement: Pick<OwnReplacement, 'outdone' | 'take'>;
  /** Takes one of this node's own checkpoints. Throws `PeerStatementError` where it does not hold. */
  readonly onCheckpoint: (signed: SignedCheckpoint) => Promise<unknown>;
  /** A clock that no step moves, in milliseconds. Default: that of the process. */
  readonly monotonic?: () => number;
  readonly log: Logger;
  /**
   * The node must sign nothing more; one that was `removed` seals what it recorded. Called again where `closed` takes
   * the place of another reason, or any of that one.
   */
  readonly onHalt: (reason: HaltReason) => void;
}

/**
 * Keeps this node from signing a second history. Its store may have been lost or rolled back, but others hold every
 * batch that it ever announced: before it accepts records it asks them, and takes back what it lacks (protocol §9).
 *
 * A member's word is never enough: only an envelope under this node's own signature, by any key that it certified,
 * shows that its chain goes further. One that the log cannot decide any more shows nothing: it may be an attacker's.
 *
 * A copy may also hold batches that this node signed again since, by another key: those take their place. An envelope
 * of other records in the place of a held one is a second story: the node signs nothing more.
 */
export class OwnChain {
  readonly #options: OwnChainOptions;
  readonly #wake = new AutoResetEvent();
  /** Members whose rosters and keys were compared since the start: what they show can be judged. */
  readonly #compared = new Set<NodeId>();
  /** Of the monotonic clock: when a member may be asked. Absent: at once. */
  readonly #asking = new Map<NodeId, number>();
  readonly #answered = new Set<NodeId>();
  /** Own batch up to which a member claims to hold this node's chain. */
  readonly #claims = new Map<NodeId, number>();
  /** Members whose claims could not be judged: they failed when they were asked. */
  readonly #unjudged = new Set<NodeId>();
  /** Of the monotonic clock: when a member may be asked again that had nothing to show. Absent: at once. */
  readonly #resting = new Map<NodeId, number>();
  readonly #announced: AnnouncedBatches;
  /** Members that showed what is wanted. */
  readonly #showing = new Set<NodeId>();
  /** The first own batch in the store that can be decided no more, as of the last look. */
  #outdone: Outdone | undefined;
  /** By member, the next own batch that it showed and that does not follow the last one that is held. */
  readonly #differing = new Map<NodeId, number>();
  /** Whether enough was known at the last look to sign: what does not follow the last batch then is a fork. */
  #isJudged = false;
  /** Own batches that were replaced. */
  #replaced = 0;
  /** Own batch that a member has shown with our signature. */
  #shown = 0;
  /**
   * Of the monotonic clock: since when all members have answered and none shows what was decided; null while one may.
   */
  #lostSince: number | null = null;
  #recovering = true;
  #halted: HaltReason | null = null;

  constructor(options: OwnChainOptions) {
    this.#options = options;
    this.#announced = new AnnouncedBatches(options);
  }

  /** Why this node signs nothing; null while all is well. */
  get halted(): HaltReason | null {
    return this.#halted;
  }

  /** All that a member said of rosters, keys and heads was compared. */
  noteCompared(peer: NodeId): void {
    this.#compared.add(peer);
    this.#wake.notify();
  }

  /** A member claims to hold this node's chain up to a batch. */
  noteClaim(peer: NodeId, batch: number): void {
    this.#claims.set(peer, Math.max(batch, this.#claims.get(peer) ?? 0));
    const { self, chains } = this.#options;
    if (this.#recovering) this.#wake.notify();
    else if (batch > chains.head(self).batch) void this.#judgeLate(peer);
  }

  /** Something that `suffices` looks at has changed. */
  poke(): void {
    this.#wake.notify();
  }

  /** The federation goes on without this node. */
  noteRemoval(): void {
    this.#halt('removed');
  }

  /** This node's own signature stands under two stories. */
  noteFork(): void {
    this.#halt('forked');
  }

  /** The log decided another envelope of an own batch than the one that is held: a start asks for it. */
  noteOutdone(): void {
    if (this.#recovering) this.#wake.notify();
    else this.#halt('closed');
  }

  /** This node's own tree is not what the others have. */
  noteContradicted(): void {
    this.#halt('contradicted');
  }

  /**
   * Asks every member how far it holds this node's chain, and takes back what only others hold, or hold in another
   * form; resolves to the number of such batches once nothing that was shown or decided is lacking and `suffices`, or
   * the node is halted for good. Rejects when the signal ends. One that was removed asks like any other: it has still
   * to seal what it recorded.
   */
  async recover(signal: AbortSignal, suffices: Sufficiency): Promise<number> {
    const { self, chains, catchUp, replacement } = this.#options;
    const before = chains.head(self).batch;
    while (!this.#mayNotSign) {
      signal.throwIfAborted();
      this.#askAll(signal);
      this.#outdone = await replacement.outdone();
      await this.#prove();
      // Asked where something is lacking too: it is what tells the operator.
      const shown = Math.max(this.#shown, await this.#announced.last());
      const isEnough = await suffices({ answered: this.#heard(), held: this.#held, shown });
      this.#isJudged = isEnough;
      const mustWait = !isEnough || shown > this.#held;
      if (this.#lacks()) await this.#takeBack(signal);
      else if (mustWait || this.#isLost() || this.#differs()) await this.#wake.wait(LOOK_MS, signal);
      else if (await this.#isAtRest()) break;
    }
    this.#recovering = false;
    await catchUp.abandon(self);
    return chains.head(self).batch - before + this.#replaced;
  }

  #now(): number {
    return (this.#options.monotonic ?? (() => performance.now()))();
  }

  get #mayNotSign(): boolean {
    return this.#halted !== null && this.#halted !== 'removed';
  }

  #askAll(signal: AbortSignal): void {
    const now = this.#now();
    for (const { node, connected } of this.#options.transport.peers()) {
      const peer = nodeId(node);
      const isDue = (this.#asking.get(peer) ?? 0) <= now;
      if (connected && isDue && this.#compared.has(peer) && !this.#answered.has(peer)) void this.#ask(peer, signal);
    }
  }

  async #ask(peer: NodeId, signal: AbortSignal): Promise<void> {
    const { pages, onCheckpoint, faults, log } = this.#options;
    this.#asking.set(peer, Number.POSITIVE_INFINITY);
    try {
      const told = readStartAnswer(await pages.answer(peer, 'start', START_REQUEST, signal));
      const { batch, checkpoints, announced } = told;
      for (const checkpoint of checkpoints) await onCheckpoint(checkpoint);
      if (announced !== undefined) this.#announced.take(announced);
      if (batch > 0) this.noteClaim(peer, batch);
      this.#answered.add(peer);
      this.#wake.notify();
    } catch (error) {
      if (signal.aborted) return;
      faults.noteError(peer, error);
      log.debug({ err: error, peer }, 'a member does not say how far it holds our chain');
      this.#asking.set(peer, this.#now() + RETRY_MS);
    }
  }

  async #takeBack(signal: AbortSignal): Promise<void> {
    const { self, chains, catchUp, log } = this.#options;
    if (this.#outdone !== undefined) return this.#takeOver(this.#outdone, signal);
    const held = chains.head(self).batch;
    log.warn({ held, shown: this.#shown }, 'others hold batches of this node that its store lacks; taking them back');
    for (const [peer, batch] of this.#claims) catchUp.lead(self, peer, batch);
    await catchUp.settled(self);
    if (chains.head(self).batch > held || this.#mayNotSign) return;
    await new AutoResetEvent().wait(RETRY_MS, signal);
    for (const peer of this.#claims.keys()) catchUp.forgive(peer, self);
    // It is shown again: what nobody brings may be what the log cannot decide by now.
    this.#shown = held;
  }

  /** Takes what the members that showed it hold in the place of an own batch. */
  async #takeOver(outdone: Outdone, signal: AbortSignal): Promise<void> {
    const { self, catchUp, replacement, faults, log } = this.#options;
    // It was shown, so it is not lost, however often its pages fail to come.
    this.#lostSince = null;
    await catchUp.abandon(self);
    for (const peer of this.#showing) {
      try {
        const replaced = await replacement.take(peer, outdone, signal);
        this.#replaced += replaced;
        if (replaced > 0) return;
        this.#rest(peer);
      } catch (error) {
        if (signal.aborted) return;
        faults.noteError(peer, error);
        log.warn(
          { err: error, peer, batch: outdone.held.envelope.batch },
          'what was signed anew could not be taken over',
        );
        if (error instanceof ChainContradictionError) return this.#haltFor(outdone);
        this.#rest(peer);
      }
    }
    this.#showing.clear();
    this.#shown = this.#held;
  }

  /**
   * Nothing of the own chain may be pulled once this node signs: it would be written over what is recorded. Whether
   * nothing came of what was under way, nor of the log.
   */
  async #isAtRest(): Promise<boolean> {
    const { self, chains, catchUp, replacement } = this.#options;
    const held = chains.head(self).batch;
    await catchUp.abandon(self);
    const outdone = await replacement.outdone();
    const isSame = outdone?.held.envelope.batch === this.#outdone?.held.envelope.batch;
    return chains.head(self).batch === held && isSame && (outdone?.decided ?? null) === null;
  }

  /** The last own batch in the store that is decided, or can be. */
  get #held(): number {
    const { self, chains } = this.#options;
    return this.#outdone === undefined ? chains.head(self).batch : this.#outdone.held.envelope.batch - 1;
  }

  /**
   * Whether another envelope was decided than the one held. Where all members have nothing to show for it, the chain
   * ends.
   */
  #isLost(): boolean {
    const outdone = this.#outdone;
    if (outdone === undefined || outdone.decided === null) return false;
    if (!this.#haveAllAnswered()) this.#lostSince = null;
    else this.#lostSince ??= this.#now();
    if (this.#lostSince !== null && this.#now() - this.#lostSince > LOST_MS) this.#haltFor(outdone);
    return true;
  }

  /** Whether a member has shown what does not follow the last batch: it is asked again, and then believed. */
  #differs(): boolean {
    const next = this.#held + 1;
    const isAble = ([peer, batch]: [NodeId, number]) => batch === next && (this.#claims.get(peer) ?? 0) >= next;
    return this.#outdone === undefined && [...this.#differing].some(isAble);
  }

  #haveAllAnswered(): boolean {
    const heard = this.#heard();
    return this.#options.transport.peers().every(({ node }) => heard.has(nodeId(node)));
  }

  #haltFor({ decided }: Outdone): void {
    this.#halt(decided === null ? 'forked' : 'closed');
  }

  #rest(peer: NodeId): void {
    this.#showing.delete(peer);
    this.#resting.set(peer, this.#now() + RETRY_MS);
  }

  /** Members that answered, without those that may hold more than is held here. */
  #heard(): ReadonlySet<NodeId> {
    const held = this.#held;
    const isLost = (this.#outdone?.decided ?? null) !== null;
    const isOpen = (peer: NodeId) => this.#unjudged.has(peer) && (isLost || (this.#claims.get(peer) ?? 0) > held);
    return new Set([...this.#answered].filter((peer) => !isOpen(peer)));
  }

  #lacks(): boolean {
    return this.#shown > this.#held;
  }

  /** Asks those who claim to lead for the very next batch: what they say of later ones is not needed, nor believed. */
  async #prove(): Promise<void> {
    const next = this.#held + 1;
    for (const peer of this.#witnessesOf(next)) {
      if (this.#shown >= next || this.#mayNotSign) return;
      if (!(await this.#isShown(peer, next))) continue;
      this.#shown = next;
      this.#showing.add(peer);
    }
  }

  /** Who may show an own batch: those who claim to hold it, and of one that was decided anyone who has answered. */
  #witnessesOf(batch: number): readonly NodeId[] {
    const now = this.#now();
    const isDecided = (this.#outdone?.decided ?? null) !== null;
    const peers = isDecided ? [...this.#answered] : [...this.#claims.keys()];
    const able = peers.filter((peer) => isDecided || (this.#claims.get(peer) ?? 0) >= batch);
    return able.filter((peer) => (this.#resting.get(peer) ?? 0) <= now);
  }

  async #isShown(peer: NodeId, batch: number): Promise<boolean> {
    const { self, rivals, faults, log } = this.#options;
    this.#unjudged.delete(peer);
    try {
      const theirs = await rivals.envelope(peer, self, batch);
      if (theirs !== undefined) return await this.#isWanted(peer, theirs);
      if ((this.#claims.get(peer) ?? 0) >= batch) faults.note(peer, 'withheld');
      this.#rest(peer);
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

  /** Whether the log can decide the envelope. In the place of a held one it is to be the same, signed again. */
  async #isWanted(peer: NodeId, { envelope, signed }: StoredBatch): Promise<boolean> {
    const outdone = this.#outdone;
    if (!(await isDecidable(this.#options.decided, envelope, signed.statement))) {
      this.#rest(peer);
      return false;
    }
    if (outdone === undefined || outdone.held.envelope.batch !== envelope.batch) return this.#follows(peer, envelope);
    const { held } = outdone;
    if (isSignedAnew(held.envelope, envelope) && held.envelope.prev === envelope.prev) return true;
    this.#options.log.error(
      { peer, held: held.signed, other: signed },
      'this node signed another batch of that number',
    );
    this.#haltFor(outdone);
    return false;
  }

  /**
   * Whether the batch after the last one follows it. Where it does not, the last one may have been signed again, which
   * the log tells once it was read; what differs then is this node's own contradiction, for anyone who pulls it to
   * find.
   */
  #follows(peer: NodeId, { batch, prev }: Envelope): boolean {
    const { self, chains } = this.#options;
    this.#differing.delete(peer);
    if (prev === chains.head(self).hash || this.#isJudged) return true;
    this.#differing.set(peer, batch);
    this.#rest(peer);
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
    this.#wake.notify();
    this.#options.log.fatal(
      { reason },
      reason === 'removed' ? 'this node records nothing more' : 'this node signs nothing more',
    );
    this.#options.onHalt(reason);
  }
}

/**
 * A fork that nothing can mend any more closes the chain; and a log that most members contradict is no word on any
 * chain: once it is read again, what is so shows again. One that is removed seals its last records, and may be halted
 * for good yet.
 */
function weightOf(reason: HaltReason): number {
  if (reason === 'contradicted') return 3;
  if (reason === 'closed') return 2;
  return reason === 'removed' ? 0 : 1;
}
