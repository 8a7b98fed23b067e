import type { AttackTarget, Tally } from '../../../scripts/bench/attacks/attack-target.ts';

/** An attack that goes on. */
export interface RunningAttack {
  /** Resolves once every request is answered, or all that is to be held is held. */
  readonly done: Promise<void>;
  /** Ends it, whatever is left to be sent; what came of it. */
  end(): Promise<Tally>;
}

/**
 * Makes ready what an attack needs; what it gives back begins it, with so many requests (Infinity: until it is ended).
 */
export type Attack = (target: AttackTarget) => Promise<(requests: number) => RunningAttack>;

/** Counts what came of an attack. */
export class OutcomeCounts {
  readonly #counts = new Map<string, number>();

  add(outcome: string, times = 1): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + times);
  }

  get tally(): Tally {
    return Object.fromEntries([...this.#counts].sort());
  }
}

export interface Attackers {
  /** Attackers at the same time, each sending one request after another. */
  readonly count: number;
  readonly requests: number;
  readonly send: (n: number, outcomes: OutcomeCounts) => Promise<void>;
  /** Once they have ended. */
  readonly close: () => Promise<void> | void;
}

export function attackers({ count, requests, send, close }: Attackers): RunningAttack {
  const outcomes = new OutcomeCounts();
  let sent = 0;
  const over = new AbortController();
  const attacker = async (): Promise<void> => {
    while (sent < requests) {
      if (over.signal.aborted) return;
      await send(sent++, outcomes);
    }
  };
  const done = Promise.all(Array.from({ length: count }, attacker)).then(() => undefined);
  return {
    done,
    async end() {
      over.abort();
      await done;
      await close();
      return outcomes.tally;
    },
  };
}
