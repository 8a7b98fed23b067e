import { hash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';

/** `unmetered` is granted by an operator only: no limit of any kind. */
export const TIERS = ['developer', 'standard', 'professional', 'enterprise', 'unmetered'] as const;
export type Tier = (typeof TIERS)[number];

const AccountShape = Type.Object(
  { id: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,63}$' }), tier: Type.Enum([...TIERS]) },
  { additionalProperties: false },
);
export type Account = Static<typeof AccountShape>;

const ApiKeyShape = Type.Object({ account: Type.String(), revoked: Type.Boolean() }, { additionalProperties: false });
type ApiKey = Static<typeof ApiKeyShape>;

const compiledAccount = Compile(AccountShape);
const compiledApiKey = Compile(ApiKeyShape);

/** (account id) → account. */
export const accountTable = new Table(
  'account',
  jsonCodec((value: unknown): value is Account => compiledAccount.Check(value)),
);
/** (SHA-256 of the key, hex) → whose it is. The key itself is nowhere. */
export const apiKeyTable = new Table(
  'api-key',
  jsonCodec((value: unknown): value is ApiKey => compiledApiKey.Check(value)),
);

/** Shortest API key taken: keys are random, so a hash without salt and stretching protects them. */
export const MIN_API_KEY_CHARACTERS = 32;
const MAX_CACHED_KEYS = 10_000;

export type Authentication = { readonly account: Account } | 'unknown' | 'revoked';

export class AccountError extends Error {
  override readonly name = 'AccountError';
}

/** Callers of the key-authenticated API. Owns the cache: every change goes through here. */
export class Accounts {
  readonly #store: Store;
  readonly #known = new Map<string, Authentication>();
  /** Counts the changes, so that what was read before one is not remembered after it. */
  #changes = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Whose key this is. A few microseconds for a key seen before. */
  async authenticate(apiKey: string): Promise<Authentication> {
    const digest = hash('sha256', apiKey, 'hex');
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    const changes = this.#changes;
    const found = await this.#read(digest);
    if (found !== 'unknown' && changes === this.#changes) this.#remember(digest, found);
    return found;
  }

  /** Creates or changes an account and gives it a key. Throws `AccountError` on a weak key or a bad account. */
  async grant(account: Account, apiKey: string): Promise<void> {
    if (!compiledAccount.Check(account)) throw new AccountError('the account is malformed');
    if (apiKey.length < MIN_API_KEY_CHARACTERS) {
      throw new AccountError(`an API key has at least ${MIN_API_KEY_CHARACTERS} characters`);
    }
    const digest = hash('sha256', apiKey, 'hex');
    await this.#store.write([
      accountTable.put([account.id], account),
      apiKeyTable.put([digest], { account: account.id, revoked: false }),
    ]);
    this.#changes++;
    this.#known.clear();
  }

  async #read(digest: string): Promise<Authentication> {
    const key = await apiKeyTable.get(this.#store, digest);
    const account = key && (await accountTable.get(this.#store, key.account));
    if (key === undefined || account === undefined) return 'unknown';
    return key.revoked ? 'revoked' : { account };
  }

  #remember(digest: string, found: Authentication): void {
    this.#known.set(digest, found);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_CACHED_KEYS && oldest !== undefined) this.#known.delete(oldest);
  }
}
