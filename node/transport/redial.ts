import type { Logger } from 'pino';
import { backoffDelay } from '../concurrency/backoff.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import { openConnection } from './connections.ts';
import { reasonOf } from './errors.ts';
import type { MeridianNode } from './libp2p-node.ts';
import type { TransportLimits } from './limits.ts';
import type { Members, RosterPeer } from './members.ts';

interface Attempt {
  dials: number;
  nextAt: number;
  dialling: boolean;
}

interface RedialOptions {
  readonly node: MeridianNode;
  readonly members: Members;
  readonly limits: Readonly<TransportLimits>;
  readonly log: Logger;
}

/**
 * Keeps a connection to every member that we are to dial, and to every other one that has been missing for long, and
 * never gives up. libp2p's own reconnecting ends after half a minute and lets dials cross.
 */
export class Redial implements AsyncDisposable {
  readonly #node: MeridianNode;
  readonly #members: Members;
  readonly #limits: Readonly<TransportLimits>;
  readonly #log: Logger;
  readonly #task: PeriodicTask<void>;
  /** Backoff by peer id. Entries of removed members are dropped in each run. */
  readonly #attempts = new Map<string, Attempt>();
  readonly #lastErrors = new Map<string, string>();
  /** When a member was first found without a connection, by peer id. */
  readonly #missingSince = new Map<string, number>();

  constructor({ node, members, limits, log }: RedialOptions) {
    this.#node = node;
    this.#members = members;
    this.#limits = limits;
    this.#log = log;
    this.#task = new PeriodicTask(limits.redialTick, async () => this.#dialDue(this.#task.signal));
  }

  /** Dials where it is due from now on. */
  start(): void {
    this.#task.start();
  }

  /** Ends the dials that are under way, too. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#task[Symbol.asyncDispose]();
  }

  /** Why the last dial to a member failed; null once there is a connection. */
  lastError(node: string): string | null {
    return this.#lastErrors.get(node) ?? null;
  }

  #dialDue(signal: AbortSignal) {
    const others = this.#members.others().filter(({ addresses }) => addresses.length > 0);
    const peers = new Set(others.map((member) => member.peerId.toString()));
    for (const known of [this.#attempts, this.#missingSince]) {
      for (const peer of known.keys()) if (!peers.has(peer)) known.delete(peer);
    }
    for (const member of others) this.#consider(member, signal);
  }

  #consider(member: RosterPeer, signal: AbortSignal) {
    const peer = member.peerId.toString();
    const now = performance.now();
    const connection = openConnection(this.#node, member.peerId);
    if (connection !== null) {
      this.#missingSince.delete(peer);
      this.#lastErrors.delete(member.node);
      // A peer that drops us right after the handshake must not be dialled in a tight loop.
      const forgiven = Date.now() - connection.timeline.open >= this.#limits.redialForgiveAfter;
      if (forgiven) this.#attempts.delete(peer);
      return;
    }
    const since = this.#missingSince.get(peer) ?? now;
    this.#missingSince.set(peer, since);
    if (!this.#members.weDialFirst(member) && now - since < this.#limits.dialAnyway) return;
    const attempt = this.#attempts.get(peer) ?? { dials: 0, nextAt: now, dialling: false };
    this.#attempts.set(peer, attempt);
    if (attempt.dialling || now < attempt.nextAt) return;
    const { redialFirst: firstMs, redialMost: mostMs } = this.#limits;
    attempt.nextAt = now + backoffDelay(attempt.dials++, Math.random(), { firstMs, mostMs });
    attempt.dialling = true;
    void this.#dial(member, signal).finally(() => {
      attempt.dialling = false;
    });
  }

  async #dial(member: RosterPeer, signal: AbortSignal): Promise<void> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(this.#limits.dialTimeout)]);
    try {
      await this.#node.dial([...member.addresses], { signal: bounded });
      this.#lastErrors.delete(member.node);
    } catch (error) {
      if (signal.aborted) return;
      const reason = reasonOf(error);
      if (this.#lastErrors.get(member.node) !== reason) this.#log.info({ peer: member.node, reason }, 'dial failed');
      this.#lastErrors.set(member.node, reason);
    }
  }
}
