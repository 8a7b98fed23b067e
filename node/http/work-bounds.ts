import { HeldPlaces, NoPlaceError } from '../accounts/limits/held-places.ts';
import type { Holder } from '../accounts/limits/holder-counts.ts';
import { type BoundedClass, CLASS_BOUNDS, type ClassBounds, type WorkClass } from '../accounts/limits/route-weights.ts';
import { NOTHING_HELD } from '../concurrency/held.ts';
import type { BusyError } from '../concurrency/semaphore.ts';
import { Problem } from './problem.ts';

/** When a caller who found too many before it may come again. In seconds. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds the calls of each class that are under way at the same time, before any of their bodies is read: one who comes
 * when all places are taken, or its share of them, is told so at once.
 */
export class WorkBounds {
  readonly #classes: Readonly<Record<BoundedClass, HeldPlaces>>;

  constructor(bounds: Readonly<Record<BoundedClass, ClassBounds>> = CLASS_BOUNDS) {
    this.#classes = {
      bundle: new HeldPlaces(bounds.bundle),
      paid: new HeldPlaces(bounds.paid),
      proof: new HeldPlaces(bounds.proof),
      read: new HeldPlaces(bounds.read),
      record: new HeldPlaces(bounds.record),
      'sign-up': new HeldPlaces(bounds['sign-up']),
      verdict: new HeldPlaces(bounds.verdict),
    };
  }

  /** A place for one call, until it is disposed. Rejects with `Problem` 503. What asks after the health needs none. */
  async enter(of: WorkClass, holder: Holder): Promise<Disposable> {
    if (of === 'health') return NOTHING_HELD;
    try {
      return await this.#classes[of].enter(holder);
    } catch (error) {
      throw error instanceof NoPlaceError ? noPlace(error) : error;
    }
  }
}

function noPlace(cause: NoPlaceError): Problem {
  const detail =
    cause.reason === 'places'
      ? 'Too many ask for the same kind of work at the moment.'
      : 'You have as many calls of this kind under way as one caller may have.';
  return busyProblem(detail, cause.reason, cause);
}

/** Too many do the same at the moment: nothing is wrong with the node. */
export function busy(cause: BusyError): Problem {
  return busyProblem('Too many ask for the same kind of work at the moment.', 'places', cause);
}

function busyProblem(detail: string, reason: 'places' | 'share', cause: Error): Problem {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return new Problem('dependency-unavailable', detail, { headers, cause, expected: true, reason });
}
