import {
  ANY_EVENT_SCOPE,
  countedScopes,
  coveredAs,
  type Covered,
  eventOfScope,
  lastRecordEnd,
  type LongestPeriods,
  longer,
  overlappingScopes,
  periodOf,
  recordEnd,
  scopesCovering,
} from '../../protocol/compliance/retention.ts';
import { recordId, type RecordId } from '../../protocol/ids.ts';
import { objectId } from '../../protocol/object-ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { SourceName } from '../../protocol/chain/sources.ts';
import type { LockScope } from '../../protocol/statement/vocabulary.ts';
import { sourceKey } from '../records/sources/sources.ts';
import { linkingIds } from '../records/link-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import type { Table } from '../store/table.ts';
import type { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { HoldsElsewhere, HoldsOfOthers } from './holds-elsewhere.ts';
import { holdCountTable, lockDaysTable, lockEndTable, lockTable, releasesOf } from './lock-tables.ts';

/** What the locks of some scopes amount to. */
export interface LockState extends LongestPeriods {
  /** Whether a legal hold among them holds. */
  readonly held: boolean;
}

/** A lock that keeps a record's payload from being erased. */
export interface Block {
  readonly lockId: string;
  /** When it runs out for this record, in epoch milliseconds; null while its legal hold holds. */
  readonly until: number | null;
}

/** A lock, and whether its legal hold was released. */
export interface PlacedLock {
  readonly record: AttestationRecord;
  /** Null where it has no legal hold. */
  readonly hold: 'active' | RecordId | null;
}

/**
 * Retention locks, each of one source of an account. They are only ever added; what those of this node amount to is read
 * in O(1). Legal holds of other nodes that speak for the account hold here as they do there.
 */
export class Locks {
  readonly #store: Store;
  readonly #keyedLock: KeyedLock;
  readonly #elsewhere: Pick<HoldsElsewhere, 'over'>;

  /** `elsewhere`: finds what other nodes hold; their periods bind themselves alone. */
  constructor(store: Store, keyedLock: KeyedLock, elsewhere: Pick<HoldsElsewhere, 'over'>) {
    this.#store = store;
    this.#keyedLock = keyedLock;
    this.#elsewhere = elsewhere;
  }

  /** Runs the work while no lock of these sources is placed or released, and nothing of them is erased. */
  async alone<Result>(sources: readonly SourceName[], work: () => Promise<Result>): Promise<Result> {
    const keys = [...new Set(sources.map(({ account, sourceId }) => `locks/${account}/${sourceKey(sourceId)}`))];
    // Always in the same order: two who need the same locks would otherwise wait for each other.
    return this.#withLocks(keys.sort(), work);
  }

  /**
   * What the locks amount to that cover something which this scope covers too. `released`: the scope of a legal hold
   * that counts as released.
   */
  async overlapping(
    source: SourceName,
    scope: readonly LockScope[],
    released: readonly LockScope[] = [],
  ): Promise<LockState> {
    const scopes = overlappingScopes(scope);
    return heldToo(await this.#ownState(source, scopes, countedScopes(released)), scopes, await this.elsewhere(source));
  }

  /** What the locks amount to that cover a kind of record, or those of one event. `others`: who asks often has them. */
  async covering(source: SourceName, covered: Covered, others?: HoldsOfOthers): Promise<LockState> {
    const scopes = scopesCovering(covered);
    return heldToo(await this.#ownState(source, scopes, []), scopes, others ?? (await this.elsewhere(source)));
  }

  /** The legal holds of other nodes over a source. */
  elsewhere(source: SourceName): Promise<HoldsOfOthers> {
    return this.#elsewhere.over(source);
  }

  /** Event types that locks of this node over a source name, in alphabetical order, at most `limit`. */
  async events(source: SourceName, limit: number): Promise<string[]> {
    const events: string[] = [];
    let after = `${ANY_EVENT_SCOPE}/`;
    while (events.length < limit) {
      const [row] = await Array.fromAsync(lockDaysTable.under(this.#store, keyOf(source), { after, limit: 1 }));
      const scope = row?.[0][0] ?? '';
      const event = eventOfScope(scope);
      if (event === undefined) break;
      events.push(event);
      after = `${scope}/`;
    }
    return events;
  }

  /** Whether any lock of this node over a source has this scope, whether it has run out or not. */
  async hasScope(source: SourceName, scope: LockScope): Promise<boolean> {
    return (await this.#greatest(lockDaysTable, source, scope)) !== null;
  }

  /** The locks of this node over a source after the one with seq `after`, oldest first. */
  async list(source: SourceName, after: number, limit: number): Promise<PlacedLock[]> {
    const locks: PlacedLock[] = [];
    for await (const [, id] of lockTable.under(this.#store, keyOf(source), { after, limit })) {
      const record = (await readRecord(this.#store, recordId(id)))?.record;
      if (record !== undefined) locks.push({ record, hold: await this.#holdOf(record) });
    }
    return locks;
  }

  async #holdOf({ id, node, claims }: AttestationRecord): Promise<PlacedLock['hold']> {
    if (claims.legalHold !== true) return null;
    const [release] = await linkingIds(this.#store, releasesOf(id), 1, node);
    return release ?? 'active';
  }

  async #ownState(
    source: SourceName,
    scopes: readonly LockScope[],
    released: readonly LockScope[],
  ): Promise<LockState> {
    let longest: LongestPeriods = { until: null, days: null };
    let held = false;
    for (const scope of scopes) {
      const [until, days, holds] = await Promise.all([
        this.#greatest(lockEndTable, source, scope),
        this.#greatest(lockDaysTable, source, scope),
        holdCountTable.get(this.#store, ...keyOf(source), scope),
      ]);
      longest = longer(longest, { until, days });
      held ||= (holds ?? 0) > Number(released.includes(scope));
    }
    return { ...longest, held };
  }

  async #greatest(table: Table<string>, source: SourceName, scope: LockScope): Promise<number | null> {
    const row = await table.last(this.#store, [...keyOf(source), scope]);
    return row === undefined ? null : Number(row[0].split('/')[0]);
  }

  async #withLocks<Result>(keys: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const [key, ...others] = keys;
    return key === undefined ? work() : this.#keyedLock.exclusive(key, () => this.#withLocks(others, work));
  }
}

/** Other nodes' holds as locks: all of them hold. */
export function placedElsewhere(others: HoldsOfOthers | undefined): readonly PlacedLock[] {
  return others?.holds.map((record) => ({ record, hold: 'active' })) ?? [];
}

/** A state of own locks, held also where one of these scopes is held by another node. */
function heldToo(state: LockState, scopes: readonly LockScope[], others: HoldsOfOthers): LockState {
  return { ...state, held: state.held || isHeldBy(others, scopes) };
}

/** Whether another node's hold covers one of these scopes, or may. */
export function isHeldBy({ holds, isWhole }: HoldsOfOthers, scopes: readonly LockScope[]): boolean {
  const isCovered = ({ claims }: AttestationRecord): boolean =>
    countedScopes(claims.scope ?? []).some((scope) => scopes.includes(scope));
  return !isWhole || holds.some(isCovered);
}

/** Whether these locks prevent a record of this time from being erased at `now`. Times in epoch milliseconds. */
export function isBlocked(state: LockState, submittedAt: number, now: number): boolean {
  return state.held || (lastRecordEnd(state, submittedAt) ?? 0) > now;
}

/** Those of its source's locks that keep a record from being erased at `now`, in epoch milliseconds. */
export function blocksOf(locks: readonly PlacedLock[], record: AttestationRecord, now: number): Block[] {
  const scopes = scopesCovering(coveredAs(record));
  const blocks: Block[] = [];
  for (const { record: lock, hold } of locks) {
    if (!(lock.claims.scope ?? []).some((scope) => scopes.includes(scope))) continue;
    const until = recordEnd(periodOf(lock), Date.parse(record.submittedAt));
    if (hold !== 'active' && until <= now) continue;
    blocks.push({ lockId: objectId('lock', lock.id), until: hold === 'active' ? null : until });
  }
  return blocks;
}

function keyOf({ account, sourceId }: SourceName): [account: string, source: string] {
  return [account, sourceKey(sourceId)];
}
