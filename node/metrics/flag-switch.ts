import { setFlagsFromString } from 'node:v8';

/** Told a flag of V8, which holds for all heaps of the process. */
export type Tell = (flag: string) => void;

/** A flag of V8 that is on or off. It is off at the start, and once it is disposed. V8 is told of changes alone. */
export class FlagSwitch implements Disposable {
  readonly #flags: { readonly on: string; readonly off: string };
  readonly #tell: Tell;
  #isOn = false;

  constructor(flags: { readonly on: string; readonly off: string }, tell: Tell = setFlagsFromString) {
    this.#flags = flags;
    this.#tell = tell;
  }

  turn(isOn: boolean): void {
    if (isOn === this.#isOn) return;
    this.#isOn = isOn;
    this.#tell(isOn ? this.#flags.on : this.#flags.off);
  }

  [Symbol.dispose](): void {
    this.turn(false);
  }
}
