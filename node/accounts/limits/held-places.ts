import { Held, NOTHING_HELD } from '../../concurrency/held.ts';
import { BusyError, Semaphore } from '../../concurrency/semaphore.ts';
import { type Holder, HolderCounts } from './holder-counts.ts';
import { type ClassBounds, HOLDER_SHARE } from './route-weights.ts';

/** Why there is no place: all are taken, or the holder has its share of them. */
export type PlaceRefusal = 'places' | 'share';

/** There is no place for a call now. */
export class NoPlaceError extends Error {
  override readonly name = 'NoPlaceError';
  readonly reason: PlaceRefusal;

  constructor(reason: PlaceRefusal, cause?: unknown) {
    super(reason === 'places' ? 'all places are taken' : 'the holder has its share of the places', { cause });
    this.reason = reason;
  }
}

/**
 * The places of a class of work. One holder has at most its share of them and of those who wait, so that others are
 * served beside anyone who takes all that there is to take.
 */
export class HeldPlaces {
  readonly #semaphore: Semaphore;
  readonly #share: number;
  readonly #held = new HolderCounts();

  constructor(bounds: ClassBounds) {
    this.#semaphore = new Semaphore(bounds);
    this.#share = Math.floor((bounds.places + bounds.waiting) * HOLDER_SHARE);
  }

  /** Holders that have a place, or wait for one. */
  get holders(): number {
    return this.#held.size;
  }

  /** A place until it is disposed; disposing it again changes nothing. Rejects with `NoPlaceError`. */
  async enter(holder: Holder): Promise<Disposable> {
    const share = this.#enterShare(holder);
    try {
      const place = await this.#semaphore.enter();
      return new Held(() => {
        place[Symbol.dispose]();
        share[Symbol.dispose]();
      });
    } catch (error) {
      share[Symbol.dispose]();
      throw error instanceof BusyError ? new NoPlaceError('places', error) : error;
    }
  }

  #enterShare({ kind, id }: Holder): Disposable {
    // The operator is trusted, and nobody is not one.
    if (kind === 'operator' || kind === 'none') return NOTHING_HELD;
    const name = `${kind}/${id}`;
    if (this.#held.of(name) >= this.#share) throw new NoPlaceError('share');
    return this.#held.add(name);
  }
}
