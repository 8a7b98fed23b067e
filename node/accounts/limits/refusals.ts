import type { Logger } from 'pino';
import type { Holder, HolderKind } from './holder-counts.ts';
import type { WorkClass } from './route-weights.ts';

/** Work that was refused, and why: of few words, so that it can be counted by each. */
export interface Refusal {
  /** `connection`: before anything was asked. `member`: of another member. `none`: there is no such route. */
  readonly class: WorkClass | 'connection' | 'member' | 'none';
  readonly holder: Holder;
  /** The code of the refusal, or what was used up. */
  readonly reason: string;
}

export interface RefusalsOptions {
  readonly count: (of: Refusal['class'], holder: HolderKind, reason: string) => void;
  readonly log: Logger;
  /** Between two lines of the log. In milliseconds. */
  readonly intervalMs?: number;
}

interface Told extends Refusal {
  count: number;
}

const INTERVAL_MS = 60_000;
/** What is counted apart between two lines; of the rest there is one count. */
const MAX_APART = 4_096;
/** Of them, what a line of the log names. */
const MAX_NAMED = 10;

/**
 * Tells the operator who is refused: every refusal is counted by class, kind of holder and reason, and those that were
 * refused most are named in one line of the log a minute. Ids of accounts, addresses, wallets and members, and no
 * secret.
 */
export class Refusals implements Disposable {
  readonly #options: RefusalsOptions;
  readonly #apart = new Map<string, Told>();
  #all = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: RefusalsOptions) {
    this.#options = options;
  }

  /** What is counted apart at present. */
  get apart(): number {
    return this.#apart.size;
  }

  note(refusal: Refusal): void {
    const { class: of, holder, reason } = refusal;
    const { count, intervalMs = INTERVAL_MS } = this.#options;
    count(of, holder.kind, reason);
    this.#all++;
    const name = `${of}/${holder.kind}/${holder.id}/${reason}`;
    const known = this.#apart.get(name);
    if (known !== undefined) known.count++;
    else if (this.#apart.size < MAX_APART) this.#apart.set(name, { ...refusal, count: 1 });
    this.#timer ??= setTimeout(() => this.tell(), intervalMs).unref();
  }

  /** Writes the line of what was refused since the last one; none where nothing was. */
  tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#all === 0) return;
    const most = [...this.#apart.values()].toSorted((a, b) => b.count - a.count).slice(0, MAX_NAMED);
    const named = most.map(({ class: of, holder, reason, count }) => ({
      class: of,
      holder: holder.kind,
      id: holder.id,
      reason,
      count,
    }));
    this.#options.log.warn({ refused: this.#all, most: named }, 'requests were refused in the last minute');
    this.#apart.clear();
    this.#all = 0;
  }

  [Symbol.dispose](): void {
    this.tell();
  }
}
