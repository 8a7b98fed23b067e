import { EventEmitter } from 'node:events';
import { type Conditions, NO_FAULTS } from './conditions.ts';

/** The conditions between places, one for each ordered pair, and news of their changes. */
export class NetworkConditions {
  readonly #conditions = new Map<string, Conditions>();
  readonly #changes = new EventEmitter().setMaxListeners(0);

  /** From one place to another. */
  between(from: string, to: string): Conditions {
    return this.#conditions.get(`${from}>${to}`) ?? NO_FAULTS;
  }

  /** Changes one direction; what is not named stays. */
  set(from: string, to: string, change: Partial<Conditions>): void {
    this.#conditions.set(`${from}>${to}`, { ...this.between(from, to), ...change });
    this.#changes.emit('change');
  }

  /** Changes every direction between two of these places. */
  setAll(places: readonly string[], change: Partial<Conditions>): void {
    for (const from of places) for (const to of places) if (from !== to) this.set(from, to, change);
  }

  /** Cuts every link between places of different groups. */
  split(...groups: readonly (readonly string[])[]): void {
    for (const group of groups) {
      for (const other of groups) {
        if (group === other) continue;
        for (const from of group) for (const to of other) this.set(from, to, { cut: true });
      }
    }
  }

  clear(): void {
    this.#conditions.clear();
    this.#changes.emit('change');
  }

  /** Resolves with the next change of any link, or when the signal ends. */
  changed(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = () => {
      this.#changes.off('change', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    if (signal.aborted) return Promise.resolve();
    this.#changes.on('change', done);
    signal.addEventListener('abort', done);
    return promise;
  }
}
