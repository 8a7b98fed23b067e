/** Runs work for the same name one after another, and for different names side by side. */
export class Lanes<Name> {
  readonly #tails = new Map<Name, Promise<unknown>>();

  async run<Result>(name: Name, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(name) ?? Promise.resolve();
    const result = before.then(work, work);
    const tail = result.then(
      () => {},
      () => {},
    );
    this.#tails.set(name, tail);
    try {
      return await result;
    } finally {
      if (this.#tails.get(name) === tail) this.#tails.delete(name);
    }
  }
}
