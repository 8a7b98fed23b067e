/** Gives a slot back; doing it again changes nothing. */
export type Release = () => void;

/** Lets a bounded number of payments be checked at once, first come first. */
export class CheckingSlots {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  async take(): Promise<Release> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    let isHeld = true;
    return () => {
      if (isHeld) this.#pass();
      isHeld = false;
    };
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
