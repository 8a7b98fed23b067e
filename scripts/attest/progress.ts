const WIDTH = 30;
const REDRAW_MS = 100;

/** A bar on a terminal; nothing where the output is a file. */
export class Progress {
  readonly #total: number;
  readonly #label: string;
  readonly #isTerminal = process.stderr.isTTY;
  #drawn = 0;
  #done = 0;

  constructor(label: string, total: number) {
    this.#label = label;
    this.#total = total;
  }

  set(done: number): void {
    this.#done = done;
    if (!this.#isTerminal || performance.now() - this.#drawn < REDRAW_MS) return;
    this.#drawn = performance.now();
    this.#draw();
  }

  end(): void {
    if (!this.#isTerminal) return;
    this.#draw();
    process.stderr.write('\n');
  }

  #draw(): void {
    const share = this.#total === 0 ? 1 : this.#done / this.#total;
    const full = Math.round(share * WIDTH);
    const bar = '█'.repeat(full) + '░'.repeat(WIDTH - full);
    process.stderr.write(`\r${this.#label} ${bar} ${this.#done}/${this.#total}`);
  }
}
