/** What a drill did and found, told line by line with the seconds since its start. */
export class StepReport {
  readonly #out: (line: string) => void;
  readonly #started = performance.now();
  #failed = 0;

  constructor(out: (line: string) => void) {
    this.#out = out;
  }

  /** Checks that did not hold. */
  get failed(): number {
    return this.#failed;
  }

  say(text: string): void {
    const seconds = ((performance.now() - this.#started) / 1000).toFixed(1);
    this.#out(`${seconds.padStart(6)} s  ${text}`);
  }

  check(what: string, holds: boolean, detail = ''): void {
    if (!holds) this.#failed++;
    this.say(`${holds ? 'ok  ' : 'FAIL'} ${what}${detail === '' ? '' : `: ${detail}`}`);
  }
}
