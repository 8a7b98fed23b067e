import { scopesAround } from '../../protocol/compliance/retention.ts';
import { recordId } from '../../protocol/ids.ts';
import type { LockScope } from '../../protocol/statement/vocabulary.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Reads } from '../store/store.ts';
import { isHeldBy, type Locks } from './locks.ts';
import { holdCountTable, lockEndTable } from './lock-tables.ts';

/** The end of a lock, from which on something of its source is locked no more. */
export interface LockEnd {
  readonly lock: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface LockEndPeriod {
  /** Epoch milliseconds; neither is included. */
  readonly after: number;
  readonly before: number;
  /** Scopes of sources that are looked at. */
  readonly limit: number;
}

export interface LockEndSources {
  readonly store: Reads;
  /** Finds the legal holds of other nodes. */
  readonly locks: Pick<Locks, 'elsewhere'>;
}

/**
 * Ends of an account's locks in a period, by source and scope; a lock of several scopes may come several times. Left
 * out is whatever goes on to be locked: by a lock that ends later, or by a legal hold of any node of the account, of the
 * same scope or one around it.
 */
export async function* lockEnds(
  { store, locks }: LockEndSources,
  account: string,
  { after, before, limit }: LockEndPeriod,
): AsyncGenerator<LockEnd> {
  let place: string | undefined;
  for (let looked = 0; looked < limit; looked++) {
    const start = place === undefined ? {} : { after: place };
    const [row] = await Array.fromAsync(lockEndTable.under(store, [account], { ...start, limit: 1 }));
    const [source, name] = row?.[0] ?? [];
    if (source === undefined || name === undefined) return;
    place = `${source}/${name}/`;
    const scopes = scopesAround(name);
    if (scopes.length === 0) continue;
    const [end, lock] = (await lockEndTable.last(store, [account, source, name])) ?? [];
    const at = Number(end?.split('/')[0]);
    if (lock === undefined || at <= after || at >= before) continue;
    if (await isLockedAfter(store, [account, source], scopes, at)) continue;
    const placed = await readRecord(store, recordId(lock));
    const isHeld = placed !== undefined && isHeldBy(await locks.elsewhere(placed.record), scopes);
    if (!isHeld) yield { lock, at };
  }
}

async function isLockedAfter(
  store: Reads,
  source: readonly [account: string, source: string],
  scopes: readonly LockScope[],
  at: number,
): Promise<boolean> {
  for (const scope of scopes) {
    if (((await holdCountTable.get(store, ...source, scope)) ?? 0) > 0) return true;
    const [end = '0'] = (await lockEndTable.last(store, [...source, scope])) ?? [];
    if (Number(end.split('/')[0]) > at) return true;
  }
  return false;
}
