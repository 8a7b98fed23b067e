import { MEMBER_WEIGHTS, SENT_KIB_MS } from '../accounts/limits/route-weights.ts';
import { Bucket } from './bucket.ts';
import type { Protocol } from './contract.ts';

/** Allowances of a minute, which come back evenly: what is there at once is that of a whole minute. */
export interface MemberBudgetLimits {
  readonly processorMsPerPeer: number;
  readonly bytesPerPeer: number;
  /** Of all members together. */
  readonly processorMs: number;
}

interface Account {
  readonly processor: Bucket;
  readonly bytes: Bucket;
}

const MINUTE_SECONDS = 60;
const KIB = 1024;

/**
 * What answering each member may cost of the processor, and in bytes sent, in a minute. A request weighs something when it
 * is taken on, and its answer as it is sent; what an answer goes over the allowance is owed: the next one is taken on once
 * that has come back.
 */
export class MemberBudget {
  readonly #limits: MemberBudgetLimits;
  readonly #all: Bucket;
  readonly #accounts = new Map<string, Account>();

  /** `now`: of a steady clock, in milliseconds. */
  constructor(limits: MemberBudgetLimits, now: number) {
    this.#limits = limits;
    this.#all = minuteBucket(limits.processorMs, now);
  }

  /** Takes on a request of a member, or tells that it is to come back later. */
  admit(node: string, protocol: Protocol, now: number): boolean {
    const { processor, bytes } = this.#accountOf(node, now);
    if (!processor.fill(now) || !bytes.fill(now) || !this.#all.fill(now)) return false;
    const cost = MEMBER_WEIGHTS[protocol];
    processor.take(cost);
    this.#all.take(cost);
    return true;
  }

  /** Counts bytes that are being sent to a member. */
  noteSent(node: string, sent: number, now: number): void {
    const { processor, bytes } = this.#accountOf(node, now);
    const cost = (sent / KIB) * SENT_KIB_MS;
    processor.take(cost);
    this.#all.take(cost);
    bytes.take(sent);
  }

  /** Forgets those that are members no longer. */
  keepOnly(nodes: ReadonlySet<string>): void {
    for (const node of this.#accounts.keys()) if (!nodes.has(node)) this.#accounts.delete(node);
  }

  #accountOf(node: string, now: number): Account {
    const known = this.#accounts.get(node);
    if (known !== undefined) return known;
    const { processorMsPerPeer, bytesPerPeer } = this.#limits;
    const account = { processor: minuteBucket(processorMsPerPeer, now), bytes: minuteBucket(bytesPerPeer, now) };
    this.#accounts.set(node, account);
    return account;
  }
}

function minuteBucket(perMinute: number, now: number): Bucket {
  return new Bucket(perMinute / MINUTE_SECONDS, perMinute, now);
}
