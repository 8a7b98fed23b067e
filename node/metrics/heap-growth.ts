import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * How far the old generation of a heap grows beyond what was found alive in it before it is looked through again. V8 by
 * itself lets it grow fourfold on machines with much memory, so that a burst of requests leaves hundreds of mebibytes
 * of garbage. In percent.
 */
const HEAP_GROWTH_PERCENT = 60;

/**
 * Bounds the garbage that this process keeps, in all its threads. Call it once all is loaded: the bound counts from the
 * first full collection on, which is made here and takes a tenth of a second. `percent`: of growth.
 */
export function boundHeapGrowth(percent = HEAP_GROWTH_PERCENT): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') collect();
}
