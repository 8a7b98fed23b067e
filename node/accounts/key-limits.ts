import { MAX_STATED_KEYS } from '../../protocol/accounts/statement.ts';
import { AccountError } from './account-error.ts';
import type { HeldKey } from './account-store.ts';
import { keyState } from './api-key.ts';

/** Keys of one account that callers have made and that are kept. Over it, the one that ended longest ago makes space. */
export const MAX_KEYS = 100;
/**
 * The same with those that rotations replaced and that go on for a while, and with those made in the place of lost
 * ones: as many as one statement of the account holds.
 */
export const MAX_KEYS_OF_ALL = MAX_STATED_KEYS;

/** Keys of one account for sign-ins by mail that are kept. Over it, the oldest ends. */
export const MAX_SIGN_IN_KEYS = 100;

/** How a key comes to be: callers make it, it takes the place of one of theirs, or it is for one sign-in by mail. */
export type KeyOrigin = 'made' | 'replacement' | 'sign-in';

/** `usual`: past it keys that have ended make space. `most`: past it keys in force do, or the change is refused. */
const LIMITS: Readonly<Record<KeyOrigin, { readonly usual: number; readonly most: number }>> = {
  made: { usual: MAX_KEYS, most: MAX_KEYS },
  replacement: { usual: MAX_KEYS, most: MAX_KEYS_OF_ALL },
  'sign-in': { usual: MAX_SIGN_IN_KEYS, most: MAX_SIGN_IN_KEYS },
};

/** Keys that go, so that there is space for another one. */
export interface FreedKeys {
  readonly ended: readonly HeldKey[];
  /** In force until then. */
  readonly inForce: readonly HeldKey[];
}

/**
 * What makes space for one more key of an account. Keys for sign-ins by mail and all others leave each other theirs: of
 * the former the oldest ends; of the latter a replaced key whose time ends first does, for a key in the place of
 * another alone. `held`: oldest first, as the change that is under way leaves them. Throws `AccountError`
 * `too-many-keys`.
 */
export function spaceFor(origin: KeyOrigin, held: readonly HeldKey[], now: number): FreedKeys {
  const { usual, most } = LIMITS[origin];
  const same = held.filter(({ key }) => (key.signIn === true) === (origin === 'sign-in'));
  const [active, over] = [same.filter((one) => isActive(one, now)), same.filter((one) => !isActive(one, now))];
  const ended = over.toSorted(byEnd).slice(0, Math.max(0, same.length + 1 - usual));
  const excess = Math.max(0, same.length - ended.length + 1 - most);
  const inForce = givingWay(origin, active).slice(0, excess);
  if (inForce.length === excess) return { ended, inForce };
  throw new AccountError('too-many-keys', `an account has at most ${most} such keys; revoke one first`);
}

/** Keys in force that end where there is no space otherwise, the first of them first. */
function givingWay(origin: KeyOrigin, active: readonly HeldKey[]): readonly HeldKey[] {
  if (origin === 'made') return [];
  return origin === 'sign-in' ? active : active.filter(({ key }) => key.replacedBy !== null).toSorted(byEnd);
}

function isActive({ key }: HeldKey, now: number): boolean {
  return keyState(key, now) === 'active';
}

function byEnd(a: HeldKey, b: HeldKey): number {
  return endOf(a) - endOf(b);
}

function endOf({ key: { expiresAt, revokedAt } }: HeldKey): number {
  const ends = [expiresAt, revokedAt].filter((time) => time !== null);
  return Math.min(...ends.map((time) => Date.parse(time)));
}
