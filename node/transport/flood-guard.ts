import type { PeerId } from '@libp2p/interface';
import type { Logger } from 'pino';
import { hangUp } from './connections.ts';
import type { WireFault } from './contract.ts';
import type { MeridianNode } from './libp2p-node.ts';
import type { Members } from './members.ts';
import { Bucket } from './rate-limit.ts';

export interface FloodLimits {
  readonly conversationsPerPeer: number;
  readonly arrivalRatePerPeer: number;
  readonly arrivalBurstPerPeer: number;
  readonly refusalRatePerPeer: number;
  readonly refusalBurstPerPeer: number;
  readonly keptOut: number;
}

interface FloodGuardOptions {
  readonly members: Members;
  readonly limits: FloodLimits;
  readonly onFault: (node: string, fault: WireFault) => void;
  readonly log: Logger;
}

interface Account {
  readonly arrivals: Bucket;
  readonly refusals: Bucket;
  conversations: number;
  /** On the steady clock; in the past for everybody who behaves. */
  keptOutUntil: number;
}

/**
 * Hangs up on a member that floods, and keeps it out for a while. What one member may cost is bounded before anything
 * of it is looked at: the gossip that it hands over, its own or others', new or not, before signatures are checked; the
 * streams that it has open, whether it asks anything or not. The bounds lie far above what an honest member does at its
 * busiest.
 *
 * Ownership: accounts are bounded by the members that ever were.
 */
export class FloodGuard {
  readonly #members: Members;
  readonly #limits: FloodLimits;
  readonly #onFault: FloodGuardOptions['onFault'];
  readonly #log: Logger;
  readonly #accounts = new Map<string, Account>();
  #node: MeridianNode | undefined;

  constructor({ members, limits, onFault, log }: FloodGuardOptions) {
    this.#members = members;
    this.#limits = limits;
    this.#onFault = onFault;
    this.#log = log;
  }

  /** The node whose connections are hung up. Call once, before the node starts. */
  watch(node: MeridianNode) {
    this.#node = node;
  }

  isKeptOut(peer: PeerId): boolean {
    const name = this.#members.nodeOf(peer);
    return name !== null && performance.now() < (this.#accounts.get(name)?.keptOutUntil ?? 0);
  }

  /** Whether so many gossiped messages of a peer are to be looked at at all. */
  admitArrivals(peer: PeerId, messages: number): boolean {
    const name = this.#members.nodeOf(peer);
    if (name === null) return false;
    if (this.isKeptOut(peer)) return false;
    const { arrivals } = this.#accountOf(name);
    if (!arrivals.fill(performance.now())) {
      this.#keepOut(name, peer, 'messages');
      return false;
    }
    arrivals.take(messages);
    return true;
  }

  /** Admits an open stream and returns what ends it, to be called once; null where the peer has too many. */
  admitConversation(peer: PeerId): (() => void) | null {
    const name = this.#members.nodeOf(peer);
    if (name === null || this.isKeptOut(peer)) return null;
    const account = this.#accountOf(name);
    if (account.conversations >= this.#limits.conversationsPerPeer) {
      this.#onFault(name, 'flood');
      this.noteRefusal(peer);
      return null;
    }
    account.conversations += 1;
    return () => {
      account.conversations -= 1;
    };
  }

  /** A peer asked for more than any honest one would. Once or twice costs it nothing. */
  noteRefusal(peer: PeerId) {
    const name = this.#members.nodeOf(peer);
    if (name === null || this.isKeptOut(peer)) return;
    const { refusals } = this.#accountOf(name);
    if (refusals.fill(performance.now())) refusals.take();
    else this.#keepOut(name, peer, 'streams');
  }

  #keepOut(name: string, peer: PeerId, what: string) {
    const account = this.#accountOf(name);
    const now = performance.now();
    if (now < account.keptOutUntil) return;
    account.keptOutUntil = now + this.#limits.keptOut;
    this.#onFault(name, 'flood');
    this.#log.warn({ peer: name, what, milliseconds: this.#limits.keptOut }, 'a member floods: kept out for a while');
    if (this.#node !== undefined) void hangUp(this.#node, peer, 'flood');
  }

  #accountOf(name: string): Account {
    const known = this.#accounts.get(name);
    if (known !== undefined) return known;
    const now = performance.now();
    const { arrivalRatePerPeer, arrivalBurstPerPeer, refusalRatePerPeer, refusalBurstPerPeer } = this.#limits;
    const account = {
      arrivals: new Bucket(arrivalRatePerPeer, arrivalBurstPerPeer, now),
      refusals: new Bucket(refusalRatePerPeer, refusalBurstPerPeer, now),
      conversations: 0,
      keptOutUntil: 0,
    };
    this.#accounts.set(name, account);
    return account;
  }
}
