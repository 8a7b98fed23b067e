/**
 * Something that is held until it is disposed; disposing it again changes nothing. Each request holds several: an object
 * literal with a computed name, or a stack of what is held, takes the engine several times as long to make.
 */
export class Held implements Disposable {
  #release: (() => void) | undefined;

  /** `release` is called once. */
  constructor(release: () => void) {
    this.#release = release;
  }

  [Symbol.dispose](): void {
    const release = this.#release;
    this.#release = undefined;
    release?.();
  }
}

/** For who needs to hold nothing. */
export const NOTHING_HELD: Disposable = new Held(() => {});
