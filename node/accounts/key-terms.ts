import { readRfc3339, type Timestamp, TimeError, timestampOf } from '../../protocol/time.ts';
import { AccountError } from './account-error.ts';
import { AddressList, isAddressRange } from '../outbound/address-list.ts';
import type { KeyTerms } from './api-key.ts';
import type { CallerKey } from './caller.ts';
import { KEY_PRESETS, type KeyPreset, SCOPES, type Scope } from './scopes.ts';

/** Terms as they are asked for. What is left out is as its maker's, or without limit where an operator asks. */
export interface KeyRequest {
  readonly name?: string;
  /** This or `scopes`, not both. */
  readonly preset?: KeyPreset;
  readonly scopes?: readonly Scope[];
  readonly sources?: readonly string[] | null;
  readonly addresses?: readonly string[] | null;
  /** RFC 3339, or null for none. */
  readonly expiresAt?: string | null;
  /** First and last moment of the records that it may see. RFC 3339, or null for no bound. */
  readonly from?: string | null;
  readonly to?: string | null;
}

/** An auditor's key is for a while: this long where nothing else is said. */
const AUDITOR_DAYS = 90;
const DAY_MS = 86_400_000;

/**
 * The terms of a new key, which is of the same person as its maker. `maker` are the terms of the key that asks, null
 * where an operator does; `now` is in epoch milliseconds. Throws `AccountError` `terms-invalid`, `terms-missing`, or
 * `beyond-maker` where more is asked for than the maker has.
 */
export function termsOf(request: KeyRequest, maker: KeyTerms | null, now: number): KeyTerms {
  const preset = request.preset ?? null;
  const terms: KeyTerms = {
    name: request.name ?? null,
    preset,
    scopes: scopesOf(request),
    sources: request.sources === undefined ? (maker?.sources ?? null) : unique(request.sources),
    addresses: request.addresses === undefined ? (maker?.addresses ?? null) : addressesOf(request.addresses),
    expiresAt: expiryOf(request.expiresAt, preset, maker?.expiresAt ?? null, now),
    ...periodOf(request, maker),
    ...(maker?.holder === undefined ? {} : { holder: maker.holder }),
  };
  if (maker !== null) requireWithin(maker, terms, preset === null ? 'scopes' : 'preset');
  return terms;
}

/** Throws `AccountError` `beyond-maker`, naming the member, where `asked` reaches further than `maker`. */
export function requireWithin(maker: KeyTerms, asked: KeyTerms, scopesField = 'scopes'): void {
  if (!hasAllOf(maker, asked)) {
    const isScope = asked.scopes.some((scope) => !maker.scopes.includes(scope));
    throw isScope
      ? new AccountError('beyond-maker', 'the key that asks lacks one of these scopes itself', scopesField)
      : new AccountError('beyond-maker', 'the key that asks does not reach all of these sources itself', 'sources');
  }
  if (!endsWithin(maker.expiresAt, asked.expiresAt)) {
    throw new AccountError('beyond-maker', 'the key that asks ends before that itself', 'expiresAt');
  }
  const field = periodBeyond(maker, asked);
  if (field !== null) throw new AccountError('beyond-maker', 'the key that asks does not see that far itself', field);
  if (!staysWithin(maker.addresses, asked.addresses)) {
    throw new AccountError('beyond-maker', 'the key that asks is not taken from all of these addresses', 'addresses');
  }
}

type Reach = Pick<CallerKey, 'from' | 'scopes' | 'sources' | 'to'>;

/** Whether one key has every scope and every source of another, and sees as far. */
export function reachesAllOf(one: Reach, other: Reach): boolean {
  return hasAllOf(one, other) && periodBeyond(one, other) === null;
}

function hasAllOf(one: Reach, other: Reach): boolean {
  const { sources } = one;
  return (
    other.scopes.every((scope) => one.scopes.includes(scope)) &&
    (sources === null || (other.sources?.every((source) => sources.includes(source)) ?? false))
  );
}

/** Throws `AccountError` `terms-invalid` on what is no time, and on an end before the beginning. */
function periodOf(request: KeyRequest, maker: KeyTerms | null): Pick<KeyTerms, 'from' | 'to'> {
  const bound = (field: 'from' | 'to'): Timestamp | null => {
    const asked = request[field];
    return asked === undefined ? (maker?.[field] ?? null) : asked === null ? null : readTime(asked, field);
  };
  const [from, to] = [bound('from'), bound('to')];
  if (from !== null && to !== null && Date.parse(to) < Date.parse(from)) {
    throw new AccountError('terms-invalid', 'lies before from', 'to');
  }
  return { ...(from !== null && { from }), ...(to !== null && { to }) };
}

/** The bound of a period that reaches further than that of the maker; null where none does. */
function periodBeyond(maker: Reach, asked: Reach): 'from' | 'to' | null {
  const { from = null, to = null } = asked;
  const { from: first = null, to: last = null } = maker;
  if (first !== null && (from === null || Date.parse(from) < Date.parse(first))) return 'from';
  return last !== null && (to === null || Date.parse(to) > Date.parse(last)) ? 'to' : null;
}

function scopesOf({ preset, scopes }: KeyRequest): Scope[] {
  if (preset !== undefined && scopes !== undefined) {
    throw new AccountError('terms-invalid', 'stands beside preset; one of the two is enough', 'scopes');
  }
  const asked: readonly Scope[] | undefined = preset === undefined ? scopes : KEY_PRESETS[preset];
  if (asked === undefined) throw new AccountError('terms-missing', 'or scopes is required', 'preset');
  if (asked.length === 0) throw new AccountError('terms-invalid', 'is empty', 'scopes');
  return SCOPES.filter((scope) => asked.includes(scope));
}

function unique(names: readonly string[] | null): string[] | null {
  if (names?.length === 0) throw new AccountError('terms-invalid', 'is empty; null stands for all sources', 'sources');
  return names === null ? null : [...new Set(names)];
}

function addressesOf(entries: readonly string[] | null): string[] | null {
  if (entries === null) return null;
  if (entries.length === 0) {
    throw new AccountError('terms-invalid', 'is empty; null stands for any address', 'addresses');
  }
  if (!entries.every(isAddressRange)) {
    throw new AccountError('terms-invalid', 'holds what is neither an IP address nor a CIDR range', 'addresses');
  }
  return [...new Set(entries)];
}

function expiryOf(
  asked: string | null | undefined,
  preset: KeyPreset | null,
  makers: Timestamp | null,
  now: number,
): Timestamp | null {
  if (preset === 'auditor' && asked === undefined) {
    const usual = timestampOf(now + AUDITOR_DAYS * DAY_MS);
    return endsWithin(makers, usual) ? usual : makers;
  }
  if (preset === 'auditor' && asked === null) {
    throw new AccountError('terms-invalid', 'is required: the key of an auditor ends some day', 'expiresAt');
  }
  if (asked === undefined) return makers;
  if (asked === null) return null;
  const at = readTime(asked, 'expiresAt');
  if (Date.parse(at) <= now) throw new AccountError('terms-invalid', 'has passed', 'expiresAt');
  return at;
}

function readTime(text: string, field: 'expiresAt' | 'from' | 'to'): Timestamp {
  try {
    return timestampOf(readRfc3339(text));
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    throw new AccountError('terms-invalid', 'must be an RFC 3339 time', field);
  }
}

function endsWithin(limit: Timestamp | null, asked: Timestamp | null): boolean {
  return limit === null || (asked !== null && Date.parse(asked) <= Date.parse(limit));
}

function staysWithin(limit: readonly string[] | null, asked: readonly string[] | null): boolean {
  return limit === null || (asked !== null && AddressList.ofStored(limit).contains(AddressList.ofStored(asked)));
}
