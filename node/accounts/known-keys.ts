import { LRUCache } from 'lru-cache';
import type { Reads } from '../store/store.ts';
import { accountTable } from './account.ts';
import { AddressList, isAddressRange, NO_ADDRESSES } from '../outbound/address-list.ts';
import { accountKeyTable, type ApiKey, apiKeyTable } from './api-key.ts';
import type { Caller } from './caller.ts';
import type { ForeignAccounts, ForeignKey } from './elsewhere/foreign-accounts.ts';
import { keyDigest } from './key-text.ts';

export interface AuthenticatedKey {
  readonly caller: Caller;
  /** The only addresses that the key is taken from; null: any. Anyone who knows the request's address asks it. */
  readonly addresses: AddressList | null;
}

export type Authentication = AuthenticatedKey | 'unknown' | 'revoked' | 'expired';

/** A key that is in force, named by its id. */
export interface KeyInForce extends AuthenticatedKey {
  /** In epoch milliseconds; infinite where it has no end. */
  readonly endsAt: number;
}

interface KnownKey {
  readonly found: AuthenticatedKey;
  /** In epoch milliseconds. */
  readonly endsAt: number;
  /** Last UTC day of use that was noted, in days since the epoch. */
  usedDay: number;
}

/** What was read of a key, and how many changes had been made then. */
interface ReadKey {
  readonly known: KnownKey | 'revoked';
  readonly changes: number;
}

/** Of keys of accounts of other nodes. */
export type ForeignKeys = Pick<ForeignAccounts, 'key' | 'keyOf'>;

const MAX_KNOWN_KEYS = 10_000;
const DAY_MS = 86_400_000;
/** Digest of no key: whatever is asked about, as much is read. */
const NO_DIGEST = 'none';

/**
 * Whose an API key is: read from the store once and remembered until something changes. What is a key of an account
 * here is no other node's to state.
 */
export class KnownKeys {
  readonly #store: Reads;
  readonly #now: () => number;
  readonly #onUse: (digest: string, day: string) => void;
  readonly #foreign: ForeignKeys | undefined;
  readonly #read = new LRUCache<string, ReadKey>({ max: MAX_KNOWN_KEYS });
  /** Counts the changes: what was read before the last one tells nobody who they are. */
  #changes = 0;

  /** `onUse` is told of a key's first use on each UTC day, and again after a change; of keys of accounts here alone. */
  constructor(store: Reads, now: () => number, onUse: (digest: string, day: string) => void, foreign?: ForeignKeys) {
    this.#store = store;
    this.#now = now;
    this.#onUse = onUse;
    this.#foreign = foreign;
  }

  /** A few microseconds for a key seen before. */
  async authenticate(apiKey: string): Promise<Authentication> {
    const digest = keyDigest(apiKey);
    const read = this.#read.get(digest);
    const known = read?.changes === this.#changes ? read.known : await this.#learn(digest);
    if (typeof known === 'string') return known;
    const now = this.#now();
    if (now >= known.endsAt) return 'expired';
    const today = Math.floor(now / DAY_MS);
    if (today > known.usedDay) {
      known.usedDay = today;
      this.#onUse(digest, new Date(today * DAY_MS).toISOString().slice(0, 10));
    }
    return known.found;
  }

  /**
   * Whose a key was when it was last read, so that no change of some account takes others' keys for those of strangers;
   * undefined where it was not in force, or is not remembered. Says who waits for what, and lets nobody in. Reads
   * nothing, and is no use of the key.
   */
  peek(apiKey: string): AuthenticatedKey | undefined {
    const known = this.#read.peek(keyDigest(apiKey))?.known;
    return known === undefined || known === 'revoked' || this.#now() >= known.endsAt ? undefined : known.found;
  }

  /**
   * Who a key of an account is, where it is in force now: for what goes on in its name. Always read from the store, by as
   * many reads whether there is such a key or not, and no use of the key.
   */
  async inForce(account: string, id: string): Promise<KeyInForce | undefined> {
    const digest = (await accountKeyTable.get(this.#store, account, id)) ?? NO_DIGEST;
    const [key, owner] = [await apiKeyTable.get(this.#store, digest), await accountTable.get(this.#store, account)];
    const known =
      key === undefined || owner === undefined
        ? knownOf(await this.#foreign?.keyOf(account, id))
        : knownOwn(owner, key);
    if (typeof known === 'string' || this.#now() >= known.endsAt) return undefined;
    return { ...known.found, endsAt: known.endsAt };
  }

  /** Whatever is asked from now on is read again. */
  forget(): void {
    this.#changes++;
  }

  async #learn(digest: string): Promise<KnownKey | 'revoked' | 'unknown'> {
    const changes = this.#changes;
    const known = await this.#readFrom(digest);
    if (known === 'unknown') this.#read.delete(digest);
    else this.#read.set(digest, { known, changes });
    return known;
  }

  async #readFrom(digest: string): Promise<KnownKey | 'revoked' | 'unknown'> {
    const key = await apiKeyTable.get(this.#store, digest);
    if (key === undefined) return this.#readForeign(digest);
    const account = await accountTable.get(this.#store, key.account);
    if (account === undefined) return 'unknown';
    return knownOwn(account, key);
  }

  async #readForeign(digest: string): Promise<KnownKey | 'revoked' | 'unknown'> {
    return knownOf(await this.#foreign?.key(digest));
  }
}

function knownOwn(account: Caller['account'], key: ApiKey): KnownKey | 'revoked' {
  return key.revokedAt === null ? { found: foundOf(account, key), ...timesOf(key) } : 'revoked';
}

function knownOf(found: ForeignKey | 'ended' | undefined): KnownKey | 'revoked' | 'unknown' {
  if (found === undefined) return 'unknown';
  return found === 'ended' || found.refusal !== undefined ? 'revoked' : foreignKnown(found);
}

function foundOf(
  account: Caller['account'],
  { id, scopes, sources, addresses, from = null, to = null, holder }: ApiKey,
): AuthenticatedKey {
  const period = { ...(from !== null && { from }), ...(to !== null && { to }) };
  const whose = holder === undefined ? {} : { holder };
  return {
    caller: { account, key: { id, scopes, sources, ...period, ...whose } },
    addresses: addresses === null ? null : AddressList.ofStored(addresses),
  };
}

function timesOf({
  expiresAt,
  lastUsedDay,
}: Pick<ApiKey, 'expiresAt' | 'lastUsedDay'>): Pick<KnownKey, 'endsAt' | 'usedDay'> {
  return {
    endsAt: expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    usedDay: lastUsedDay === null ? -1 : Math.floor(Date.parse(lastUsedDay) / DAY_MS),
  };
}

/** No day of a use is kept of it: its row is at its home. */
function foreignKnown({ foreign: { home, account }, key }: ForeignKey): KnownKey {
  const { id, scopes, sources, addresses, expiresAt, from, to } = key;
  return {
    found: {
      caller: { account, key: { id, scopes, sources, from, to }, home },
      addresses: addresses === null ? null : listOf(addresses),
    },
    ...timesOf({ expiresAt, lastUsedDay: null }),
    usedDay: Number.POSITIVE_INFINITY,
  };
}

/** The text is another node's: what is no range there is taken from nowhere. */
function listOf(addresses: readonly string[]): AddressList {
  return addresses.every(isAddressRange) ? new AddressList(addresses) : NO_ADDRESSES;
}
