import { refusalSource } from '../../../protocol/accounts/refused-key.ts';
import type { KeyId } from '../../../protocol/accounts/key-id.ts';
import type { StatedKey } from '../../../protocol/accounts/statement.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { cappedTimestampOf, type Timestamp } from '../../../protocol/time.ts';
import type { Draft } from '../../intake/draft.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { readRecord } from '../../records/record-reader.ts';
import { ulidTime } from '../../records/record-id.ts';
import type { Reads } from '../../store/store.ts';
import { AccountError } from '../account-error.ts';
import type { ApiKey } from '../api-key.ts';
import { reachesAllOf } from '../key-terms.ts';
import type { ForeignAccount, ForeignAccounts } from './foreign-accounts.ts';

export interface KeyRefusalsOptions {
  readonly store: Reads;
  readonly foreign: Pick<ForeignAccounts, 'find' | 'refusalOf'>;
  /** Makes a record. Rejects where nothing was recorded. */
  readonly record: (draft: Draft) => Promise<{ readonly record: AttestationRecord }>;
  /** A key has ended. Must not throw. */
  readonly onChange: () => void;
  readonly now: () => number;
}

/**
 * Keys of accounts of other nodes as their statements have them, and how one is ended here for good (protocol §5): the
 * refusal is a record, in force here with its write, at the other nodes that the account names as soon as it arrives,
 * and at its home, which makes a version without the key. It takes no word of the home, which may be dead.
 */
export class KeyRefusals {
  readonly #options: KeyRefusalsOptions;
  readonly #locks = new KeyedLock();

  constructor(options: KeyRefusalsOptions) {
    this.#options = options;
  }

  /** All keys of the newest statement that is held. Throws `AccountError` `maker-ended` where none is in force. */
  async list(account: string): Promise<ApiKey[]> {
    const foreign = await this.#require(account);
    return Promise.all(
      foreign.keys.map(async (key) => this.#answer(foreign, key, await this.#refusedAt(foreign, key.id))),
    );
  }

  /**
   * Refuses a key for good; one that was refused stays as it is. `maker` is the key that asks: any may for itself.
   * Throws `AccountError`: `key-not-found`, `maker-ended`, and `beyond-maker` where it is another key that reaches
   * further.
   */
  refuse(account: string, id: KeyId, maker: string): Promise<ApiKey> {
    return this.#locks.exclusive(account, async () => {
      const foreign = await this.#require(account);
      const key = foreign.keys.find((each) => each.id === id);
      if (key === undefined) throw new AccountError('key-not-found', `the account has no key ${id}`);
      await this.#requireMaker(foreign, key, maker);
      const before = await this.#refusedAt(foreign, id);
      if (before !== null) return this.#answer(foreign, key, before);
      const { record } = await this.#options.record(refusalDraft(account, id, maker));
      this.#options.onChange();
      return this.#answer(foreign, key, record.submittedAt);
    });
  }

  /** The key that asks, as it is now. */
  async #requireMaker(foreign: ForeignAccount, key: StatedKey, id: string): Promise<void> {
    const maker = foreign.keys.find((each) => each.id === id);
    const isInForce =
      maker !== undefined && foreign.valid.has(maker.id) && (await this.#refusedAt(foreign, maker.id)) === null;
    if (!isInForce) throw new AccountError('maker-ended', 'the API key was revoked or has expired');
    if (maker.id === key.id || reachesAllOf(maker, key)) return;
    throw new AccountError('beyond-maker', 'the key reaches further than the one that asks');
  }

  async #require(account: string): Promise<ForeignAccount> {
    const foreign = await this.#options.foreign.find(account);
    if (foreign === undefined) throw new AccountError('maker-ended', 'the account does not name this node any more');
    return foreign;
  }

  async #refusedAt(foreign: ForeignAccount, key: KeyId): Promise<Timestamp | null> {
    const id: RecordId | undefined = await this.#options.foreign.refusalOf(foreign, key);
    const found = id && (await readRecord(this.#options.store, id));
    return found?.record.submittedAt ?? null;
  }

  /** What a statement does not say of a key its home alone knows. */
  #answer({ account }: ForeignAccount, key: StatedKey, revokedAt: Timestamp | null): ApiKey {
    const { id, scopes, sources, addresses, expiresAt } = key;
    const unsaid = { name: null, preset: null, replacedBy: null, lastUsedDay: null };
    const createdAt = cappedTimestampOf(ulidTime(id.slice(id.lastIndexOf('_') + 1)));
    return { ...unsaid, id, account: account.id, scopes, sources, addresses, createdAt, expiresAt, revokedAt };
  }
}

/** What intake records of a refusal. It counts against no limit of the account. */
function refusalDraft(account: string, key: KeyId, by: string): Draft {
  return {
    kind: 'account_key_refused',
    account,
    sourceId: refusalSource(key),
    payload: canonicalize({ account, by, key }),
    claims: { channel: 'tiered' },
    links: {},
  };
}
