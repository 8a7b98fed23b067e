/** Where progress is shown. */
export interface ProgressOutput {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Between two states of the bar on a terminal, and between two lines elsewhere. In milliseconds. */
const DRAWN_MS = 200;
const LINE_MS = 5_000;
const BAR_WIDTH = 24;
const CLEAR_LINE = '\r\u001b[2K';
const SECOND_MS = 1_000;
const MINUTE_SECONDS = 60;

/** How far long work is: a bar that is drawn over and over on a terminal, a line every few seconds elsewhere. */
export class ProgressLine {
  readonly #output: ProgressOutput;
  readonly #unit: string;
  readonly #now: () => number;
  readonly #begun: number;
  #shownAt: number;
  #isDrawn = false;

  /** `unit`: what is counted, in the plural. */
  constructor(output: ProgressOutput, unit: string, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#unit = unit;
    this.#now = now;
    this.#begun = now();
    // The bar stands at once, and a line comes only where the work takes long.
    this.#shownAt = output.isTTY === true ? Number.NEGATIVE_INFINITY : this.#begun;
  }

  /** `all`: 0 where nobody knows. */
  show(done: number, all: number): void {
    const now = this.#now();
    const isTerminal = this.#output.isTTY === true;
    if (now - this.#shownAt < (isTerminal ? DRAWN_MS : LINE_MS)) return;
    this.#shownAt = now;
    const text = this.#textOf(done, all, (now - this.#begun) / SECOND_MS);
    this.#output.write(isTerminal ? `${CLEAR_LINE}${barOf(done, all)}${text}` : `${text}\n`);
    this.#isDrawn = isTerminal;
  }

  /** Takes the bar away, so that something else can be written. */
  clear(): void {
    if (this.#isDrawn) this.#output.write(CLEAR_LINE);
    this.#isDrawn = false;
  }

  #textOf(done: number, all: number, seconds: number): string {
    const rate = seconds > 0 ? done / seconds : 0;
    const parts = [`${all > 0 ? `${done} of ${all}` : done} ${this.#unit}`, `${Math.round(rate)}/s`];
    if (rate > 0 && all > done) parts.push(`${durationText((all - done) / rate)} left`);
    return parts.join(', ');
  }
}

function barOf(done: number, all: number): string {
  if (all === 0) return '';
  const filled = Math.min(BAR_WIDTH, Math.floor((done / all) * BAR_WIDTH));
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}] `;
}

/** Minutes and seconds. */
function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / MINUTE_SECONDS)}:${String(whole % MINUTE_SECONDS).padStart(2, '0')}`;
}
