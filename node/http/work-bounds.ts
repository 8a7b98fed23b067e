import { CLASS_BOUNDS, weightOf } from '../limits/route-weights.ts';
import { BusyError, Semaphore } from '../semaphore.ts';
import { Problem } from './problem.ts';
import type { OperatorRoute, Route } from './route.ts';

/** When a caller who found too many before it may come again. In seconds. */
const RETRY_AFTER_SECONDS = 1;

/**
 * Bounds the calls of each class that are under way at the same time, whoever makes them: one who comes when all places
 * are taken waits for a moment, and where too many wait is told so at once.
 */
export class WorkBounds {
  readonly #classes = {
    proof: new Semaphore(CLASS_BOUNDS.proof),
    read: new Semaphore(CLASS_BOUNDS.read),
  };

  /** Does the work of one call of a route. Throws `Problem` 503 where too many wait, and what the work throws. */
  async do<Result>(route: Route | OperatorRoute, work: () => Promise<Result>): Promise<Result> {
    const { class: of } = weightOf(route);
    if (of !== 'proof' && of !== 'read') return work();
    using _place = await entered(this.#classes[of]);
    return await work();
  }
}

async function entered(semaphore: Semaphore): Promise<Disposable> {
  try {
    return await semaphore.enter();
  } catch (error) {
    throw error instanceof BusyError ? busy(error) : error;
  }
}

/** Too many do the same at the moment: nothing is wrong with the node. */
export function busy(cause: BusyError): Problem {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  const detail = 'Too many ask for the same kind of work at the moment.';
  return new Problem('dependency-unavailable', detail, { headers, cause, expected: true });
}
