/** Lets one loop sleep and others wake it early. */
export class Alarm {
  #wake: (() => void) | null = null;

  /** Returns after `milliseconds` or when rung, whichever is first. Holds no timer afterwards. */
  async sleep(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, milliseconds);
    this.#wake = resolve;
    await promise;
    this.#wake = null;
    clearTimeout(timer);
  }

  ring(): void {
    this.#wake?.();
  }
}
