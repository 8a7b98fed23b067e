import { type Rows, StoreError } from '../../store/store.ts';
import { startTable } from '../../log/start-tables.ts';

/**
 * The marks by which a store tells its next start how it was left.
 *
 * Crash order: `stopped` is gone from the disk before anything runs, and written again as the last write of an ordered end;
 * `signed` is on the disk before the first group or envelope is signed.
 */
export class StartMarks implements AsyncDisposable {
  /** Whether this store may have signed a group or an envelope before this start. */
  readonly hasSigned: boolean;
  /** Whether the run before ended in order, after it knew how far its chain goes. */
  readonly wasStopped: boolean;
  readonly #store: Rows;
  #isOrdered: boolean;

  private constructor(store: Rows, hasSigned: boolean, wasStopped: boolean) {
    this.#store = store;
    this.hasSigned = hasSigned;
    this.wasStopped = wasStopped;
    this.#isOrdered = wasStopped;
  }

  /** To be disposed after all that signs, and before the store. */
  static async open(store: Rows): Promise<StartMarks> {
    const hasSigned = (await startTable.get(store, 'signed')) !== undefined;
    const wasStopped = (await startTable.get(store, 'stopped')) !== undefined;
    if (wasStopped) await store.write([startTable.del('stopped')]);
    return new StartMarks(store, hasSigned, wasStopped);
  }

  /** The node is about to sign: it knows how far its chain goes. */
  async noteSigning(): Promise<void> {
    if (!this.hasSigned) await this.#store.write([startTable.put(['signed'], 1)]);
    this.#isOrdered = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOrdered) return;
    try {
      await this.#store.write([startTable.put(['stopped'], 1)]);
    } catch (error) {
      // A store that takes no writes says nothing: the next start waits.
      if (!(error instanceof StoreError)) throw error;
    }
  }
}
