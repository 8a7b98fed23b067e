import { OWNER } from '../../protocol/api/people.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Operation } from '../store/operation.ts';
import { AccountError } from './account-error.ts';
import { type AccountEvent, type Actor, keyEvent, type MailedActor } from './account-event.ts';
import type { AccountStore, Change, HeldKey } from './account-store.ts';
import { ADMIN_TERMS, type ApiKey, freshKey, keyOperations, keyRemoval, keyState, type KeyTerms } from './api-key.ts';
import { type KeyId, newKeyId } from './key-id.ts';
import { type KeyOrigin, type FreedKeys, spaceFor } from './key-limits.ts';
import { type KeyRequest, reachesAllOf, requireWithin, termsOf } from './key-terms.ts';
import { isStrongEnough, keyDigest, MIN_API_KEY_CHARACTERS, newKeyText } from './key-text.ts';
import { requireStatable } from './statements/statement-draft.ts';

/** Of a key that was made in the place of lost ones, by whoever reads the account's mail. */
const LOST_KEY_TERMS: MailedTerms = { by: 'lost-key', name: 'lost-key', holder: OWNER, expiresAt: null };

/** A new key and its text, which is shown once and is nowhere afterwards. */
export interface IssuedKey {
  readonly apiKey: string;
  readonly key: ApiKey;
}

/** A key made in the place of lost ones, and those that ended with it. */
export interface Replacement extends IssuedKey {
  readonly revoked: readonly ApiKey[];
}

/** What a key that came by mail is called, when it ends, and by what kind of mail. */
export interface MailedTerms
  extends Pick<KeyTerms, 'expiresAt' | 'holder' | 'name' | 'signIn'>, Partial<Pick<KeyTerms, 'preset' | 'scopes'>> {
  readonly by: MailedActor;
}

/** Whose keys a link for lost ones replaces, and what spends it. */
export interface SpentLink {
  readonly account: string;
  readonly operations: readonly Operation[];
}

/** A text and an id that an operator brings, so that several nodes know one key. */
export interface GivenKey {
  readonly apiKey?: string;
  readonly id?: KeyId;
}

/** The keys of accounts. Every operation is atomic, recorded, and in force for the very next request. */
export class ApiKeys {
  readonly #accountStore: AccountStore;

  constructor(accountStore: AccountStore) {
    this.#accountStore = accountStore;
  }

  /** All keys of an account that are kept, oldest first. */
  async list(account: string): Promise<ApiKey[]> {
    return (await this.#accountStore.keys(account)).map(({ key }) => key);
  }

  /** Whether rotations, one after the other, have put a key in the place of another of the account. */
  async isInPlaceOf(account: string, id: string, old: string): Promise<boolean> {
    const replacedBy = new Map(
      (await this.list(account)).map((key): [string, string | null] => [key.id, key.replacedBy]),
    );
    let one = old;
    // No further than there are keys.
    for (let steps = 0; steps < replacedBy.size; steps++) {
      const next = replacedBy.get(one) ?? null;
      if (next === id) return true;
      if (next === null) return false;
      one = next;
    }
    return false;
  }

  /**
   * Makes a key, of the same person as the key that asks. One that an operator brings a second time is answered as it
   * is. Throws `AccountError`: `beyond-maker` where it would reach further than the key that asks, `terms-invalid`,
   * `key-exists`, `key-weak`, `too-many-keys`.
   */
  create(account: string, request: KeyRequest, actor: Actor, given: GivenKey = {}): Promise<IssuedKey> {
    return this.#accountStore.change(async () => {
      await this.#accountStore.requireAccount(account);
      const maker = await this.#accountStore.makerOf(account, actor);
      const again = await this.#broughtAgain(account, given);
      if (again !== undefined) return unchanged(again);
      const terms = termsOf(request, maker, this.#accountStore.now());
      const issued = await this.#issue(account, terms, given);
      const freed = await this.#spaceFor('made', issued);
      return {
        operations: [...removals(freed), ...keyOperations(issued.digest, issued.key)],
        events: [keyEvent('key.created', issued.key, actor)],
        result: { apiKey: issued.apiKey, key: issued.key },
      };
    });
  }

  /**
   * Makes a key of the same terms in the place of one, which ends after the overlap (in seconds), or at once where the
   * account has no space for both. It is of the same person; one of nobody known is from then on of whoever signs in by
   * mail and asks. Throws `AccountError`: `key-not-found`, `key-ended`, `beyond-maker` where the key reaches further
   * than the one that asks or is of somebody else, `too-many-keys`.
   */
  rotate(
    account: string,
    id: string,
    overlapSeconds: number,
    actor: Actor,
    given: GivenKey = {},
  ): Promise<IssuedKey & { readonly replaced: ApiKey }> {
    return this.#accountStore.change(async () => {
      const old = await this.#accountStore.requireKey(account, id);
      const maker = await this.#accountStore.makerOf(account, actor);
      const again = await this.#broughtAgain(account, given);
      if (again !== undefined && old.key.replacedBy === again.key.id) return unchanged({ ...again, replaced: old.key });
      if (maker !== null) requireWithin(maker, old.key);
      requireOwn(maker, old.key);
      requireRotatable(old.key, this.#accountStore.now());
      const { signIn: _signIn, holder = maker?.holder, ...rest } = old.key;
      const terms: KeyTerms = holder === undefined ? rest : { ...rest, holder };
      const issued = await this.#issue(account, terms, given);
      const expiresAt = endOf(old.key, this.#accountStore.now(), overlapSeconds);
      const replaced: ApiKey = { ...old.key, expiresAt, replacedBy: issued.key.id };
      // The key in the place of a sign-in's is one more that callers have.
      const origin = old.key.signIn === true ? 'made' : 'replacement';
      const freed = await this.#spaceFor(origin, issued, [{ digest: old.digest, key: replaced }]);
      const isOver = freed.inForce.some(({ digest }) => digest === old.digest);
      return {
        // The key that is replaced may be the one that makes space: its removal stands last.
        operations: [
          ...keyOperations(old.digest, replaced),
          ...removals(freed),
          ...keyOperations(issued.digest, issued.key),
        ],
        events: [
          keyEvent('key.rotated', replaced, actor),
          ...endings(freed),
          keyEvent('key.created', issued.key, actor),
        ],
        result: {
          apiKey: issued.apiKey,
          key: issued.key,
          replaced: isOver ? { ...replaced, expiresAt: timestampOf(this.#accountStore.now()) } : replaced,
        },
      };
    });
  }

  /**
   * Ends a key now and for good; one that is revoked stays as it is. Throws `AccountError`: `key-not-found`,
   * `beyond-maker`, and `last-admin` where a key, not an operator, asks and nobody could administer the account's keys
   * any more (who must end such a key rotates it without overlap).
   */
  revoke(account: string, id: string, actor: Actor): Promise<ApiKey> {
    return this.#accountStore.change(async () => {
      const { digest, key } = await this.#accountStore.requireKey(account, id);
      const maker = await this.#accountStore.makerOf(account, actor);
      if (maker !== null && !reachesAllOf(maker, key)) {
        throw new AccountError('beyond-maker', 'the key reaches further than the one that asks');
      }
      if (key.revokedAt !== null) return unchanged(key);
      if (maker !== null) await this.#requireAnotherAdmin(key);
      const revoked = { ...key, revokedAt: timestampOf(this.#accountStore.now()) };
      const events = [keyEvent('key.revoked', key, actor)];
      return { operations: keyOperations(digest, revoked), events, result: revoked };
    });
  }

  /**
   * Makes a key that may do everything, and ends others, in one write with the operations of `spend`, which is asked
   * while no other change is under way and says whose keys they are. Throws what `spend` throws, and `AccountError`
   * `key-not-found` and `key-ended`, naming `revoke`, and `too-many-keys` where keys in the place of lost ones have taken
   * all the space that they have beyond others, and `revoke` names none.
   */
  replaceLost(
    spend: () => Promise<SpentLink>,
    revoke: readonly string[],
    { by, ...terms }: MailedTerms = LOST_KEY_TERMS,
  ): Promise<Replacement> {
    return this.#accountStore.change(async () => {
      const { account, operations } = await spend();
      const ended: HeldKey[] = [];
      for (const id of revoke) ended.push(await this.#ended(account, id));
      const issued = await this.#issue(account, { ...ADMIN_TERMS, ...terms }, {});
      const freed = await this.#spaceFor(terms.signIn === true ? 'sign-in' : 'replacement', issued, ended);
      const old = ended.flatMap(({ digest, key }) => keyOperations(digest, key));
      const events = ended.map(({ key }) => keyEvent('key.revoked', key, by));
      return {
        // A key that ends with this may be the one that makes space: its removal stands last.
        operations: [...operations, ...old, ...removals(freed), ...keyOperations(issued.digest, issued.key)],
        events: [...events, ...endings(freed), keyEvent('key.created', issued.key, by)],
        result: { apiKey: issued.apiKey, key: issued.key, revoked: ended.map(({ key }) => key) },
      };
    });
  }

  /** A key of an account, as it is once it is revoked now. */
  async #ended(account: string, id: string): Promise<HeldKey> {
    const held = await this.#accountStore.findKey(account, id);
    if (held === undefined) throw new AccountError('key-not-found', `the account has no key ${id}`, 'revoke');
    const now = this.#accountStore.now();
    const state = keyState(held.key, now);
    if (state !== 'active') throw new AccountError('key-ended', `the key ${id} is ${state} already`, 'revoke');
    return { digest: held.digest, key: { ...held.key, revokedAt: timestampOf(now) } };
  }

  /** The key that an operator brought before, under the same id. */
  async #broughtAgain(account: string, { apiKey, id }: GivenKey): Promise<IssuedKey | undefined> {
    if (apiKey === undefined || id === undefined) return undefined;
    const key = await this.#accountStore.keyOfDigest(keyDigest(apiKey));
    return key?.account === account && key.id === id ? { apiKey, key } : undefined;
  }

  async #issue(account: string, terms: KeyTerms, given: GivenKey): Promise<IssuedKey & HeldKey> {
    const {
      apiKey = newKeyText(this.#accountStore.node),
      id = newKeyId(this.#accountStore.node, this.#accountStore.now()),
    } = given;
    requireStrong(apiKey);
    const digest = keyDigest(apiKey);
    const taken =
      (await this.#accountStore.keyOfDigest(digest)) ?? (await this.#accountStore.findKey(account, id))?.key;
    if (taken !== undefined) throw new AccountError('key-exists', 'the key or its id is in use');
    return { apiKey, digest, key: freshKey(id, account, terms, timestampOf(this.#accountStore.now())) };
  }

  /** `changed`: others as the change that is under way leaves them. Throws `AccountError` `too-many-keys`. */
  async #spaceFor(origin: KeyOrigin, issued: HeldKey, changed: readonly HeldKey[] = []): Promise<FreedKeys> {
    const { node: home } = this.#accountStore;
    const now = this.#accountStore.now();
    const account = await this.#accountStore.requireAccount(issued.key.account);
    const held = (await this.#accountStore.keys(account.id)).map(
      (one) => changed.find(({ digest }) => digest === one.digest) ?? one,
    );
    const freed = spaceFor(origin, held, now);
    const left = held.filter((one) => !freed.ended.includes(one) && !freed.inForce.includes(one));
    requireStatable({ home, account, keys: [...left, issued], now });
    return freed;
  }

  async #requireAnotherAdmin(key: ApiKey): Promise<void> {
    const now = this.#accountStore.now();
    const administers = (one: ApiKey) =>
      one.scopes.includes('keys:admin') && keyState(one, now) === 'active' && one.replacedBy === null;
    if (!administers(key)) return;
    const others = (await this.list(key.account)).filter((other) => other.id !== key.id && administers(other));
    if (others.some((other) => reachesAllOf(other, key))) return;
    throw new AccountError('last-admin', 'it is the last key that administers the account; rotate it instead');
  }
}

/** Throws `AccountError` `key-weak` on a text that is no key. */
export function requireStrong(apiKey: string): void {
  if (isStrongEnough(apiKey)) return;
  throw new AccountError('key-weak', `an API key has at least ${MIN_API_KEY_CHARACTERS} visible characters`, 'apiKey');
}

/**
 * Who signs in by mail gets no text of a key of somebody else, and nobody else gets one of a sign-in's. Throws
 * `AccountError` `beyond-maker`.
 */
function requireOwn(maker: KeyTerms | null, { holder, signIn }: ApiKey): void {
  const isSame = maker?.holder === holder;
  const isRefused = signIn === true ? !isSame : maker?.holder !== undefined && holder !== undefined && !isSame;
  if (isRefused) throw new AccountError('beyond-maker', 'the key is of somebody else');
}

function requireRotatable(key: ApiKey, now: number): void {
  const state = keyState(key, now);
  if (state !== 'active') throw new AccountError('key-ended', `the key ${key.id} is ${state}`);
  if (key.replacedBy !== null) throw new AccountError('key-ended', `the key was replaced by ${key.replacedBy}`);
}

/** A key that would end sooner anyway still does. */
function endOf({ expiresAt }: ApiKey, now: number, overlapSeconds: number): ApiKey['expiresAt'] {
  const end = now + overlapSeconds * 1000;
  return expiresAt !== null && Date.parse(expiresAt) <= end ? expiresAt : timestampOf(end);
}

function removals({ ended, inForce }: FreedKeys): Operation[] {
  return [...ended, ...inForce].flatMap(({ digest, key }) => keyRemoval(digest, key));
}

function endings({ inForce }: FreedKeys): AccountEvent[] {
  return inForce.map(({ key }) => keyEvent('key.revoked', key, 'node'));
}

function unchanged<Result>(result: Result): Change<Result> {
  return { operations: [], events: [], result };
}
