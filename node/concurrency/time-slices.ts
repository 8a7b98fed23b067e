/** How long work may hold the event loop before it yields. In milliseconds. */
const SLICE_MS = 3;

const waiting: (() => void)[] = [];

/**
 * Long work, done in time slices: it yields to the event loop between two of them. All long work of the process shares
 * the slices: however much of it there is, one iteration of the event loop holds one slice.
 */
export class TimeSlices {
  #end = performance.now() + SLICE_MS;

  /** Whether it is time to `rest`. Reads the clock. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Resolves when the next slice may begin. */
  async rest(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(resumeNext);
    await promise;
    this.#end = performance.now() + SLICE_MS;
  }

  /** Does something with each item, in order. */
  async each<Item>(items: readonly Item[], work: (item: Item, index: number) => void): Promise<void> {
    for (const [index, item] of items.entries()) {
      if (this.isOver) await this.rest();
      work(item, index);
    }
  }
}

function resumeNext(): void {
  waiting[0]?.();
  waiting.shift();
  if (waiting.length > 0) setImmediate(resumeNext);
}
