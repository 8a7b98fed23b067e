import { setImmediate as nextTurn } from 'node:timers/promises';

interface Round<Result> {
  readonly result: Promise<Result>;
  hasBegun: boolean;
  /** For all who came since it began. */
  next: Promise<Result> | undefined;
}

/**
 * One computation for all who ask the same at the same time. It begins in the next turn of the event loop, for all who
 * came until then. Who comes later, while it is under way, waits for the next one, which they share again: so nobody is
 * answered by what was looked at before they asked, and of one name no more than one runs.
 */
export class SharedWork<Result> {
  readonly #rounds = new Map<string, Round<Result>>();

  /** Names that are under way. */
  get size(): number {
    return this.#rounds.size;
  }

  /** Whether one of this name is under way: who asks now shares one with others. */
  has(name: string): boolean {
    return this.#rounds.has(name);
  }

  do(name: string, work: () => Promise<Result>): Promise<Result> {
    const round = this.#rounds.get(name);
    if (round === undefined) return this.#begin(name, work);
    if (!round.hasBegun) return round.result;
    const again = () => this.do(name, work);
    round.next ??= round.result.then(again, again);
    return round.next;
  }

  #begin(name: string, work: () => Promise<Result>): Promise<Result> {
    const round: Round<Result> = { result: this.#run(name, work), hasBegun: false, next: undefined };
    this.#rounds.set(name, round);
    return round.result;
  }

  async #run(name: string, work: () => Promise<Result>): Promise<Result> {
    await nextTurn();
    const round = this.#rounds.get(name);
    if (round !== undefined) round.hasBegun = true;
    try {
      return await work();
    } finally {
      this.#rounds.delete(name);
    }
  }
}
