import type { Logger } from 'pino';
import { timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AccountError } from '../account-error.ts';
import { askedFor } from '../account-event.ts';
import { type AccountStore, signUpTable } from '../account-store.ts';
import type { Account } from '../account.ts';
import type { ApiKey } from '../api-key.ts';
import type { ApiKeys, Replacement } from '../api-keys.ts';
import { emailDigest, isPublicMailAddress } from '../mail/mail-address.ts';
import type { Mail, Mailer } from '../mail/mailer.ts';
import { SignUpError, type SignUpLimits } from '../sign-up/sign-up-limits.ts';
import { hasExpired, LINK_MS, type LostKeyRow, lostKeyTable, newToken, tokenDigest } from './lost-key-table.ts';

const LINK_MINUTES = LINK_MS / 60_000;

/** The mail with the link by which the lost keys of an account are replaced. */
function lostKeyMail(to: string, account: string, token: string, nodeUrl: string): Mail {
  const link = `${nodeUrl}/v1/lost-key/${token}`;
  return {
    to,
    subject: 'Replace the lost keys of your Meridian account',
    text: `Someone, you it seems, asked to replace the lost API keys of the account
${account} at
${nodeUrl}

This link lists the keys of the account. To open it changes nothing:

${link}

This makes a new key that may do everything and shows it once; "revoke" holds
the ids of the keys that end at the same moment, and may be empty:

curl -s ${link} \\
  -H 'content-type: application/json' \\
  -d '{"revoke": []}'

The link works once and for ${LINK_MINUTES} minutes. A newer one ends it.

If it was not you, there is nothing to do: no key was made, and none was
changed.
`,
  };
}

export interface LostKeysOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  readonly keys: ApiKeys;
  /** Null where the node sends no mail. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  /** Those of sign-ups: mails of both kinds count together. */
  readonly limits: SignUpLimits;
  /** Address of the key-authenticated API. */
  readonly nodeUrl: () => string;
  readonly log: Logger;
}

/** What a link is good for, and the keys that it may end: oldest first, those that have ended too. */
export interface OpenLink extends LostKeyRow {
  readonly keys: readonly ApiKey[];
}

/** How often rows of links that have ended are removed. In milliseconds. */
const SWEEP_MS = LINK_MS;

/**
 * Lost keys, replaced by whoever can read the mail of an account's address. Of a request nothing that depends on
 * whether there is an account is done, or begun, before its answer was sent.
 *
 * Crash order: the link's row, then its mail; a crash between the two leaves a row whose token is nowhere, which
 * expires. The row of a link is removed in the atomic write that makes the key and ends the old ones: both, or neither.
 */
export class LostKeys implements AsyncDisposable {
  readonly #options: LostKeysOptions;
  /** One request of an address at a time, so that its links are mailed in their order. */
  readonly #locks = new KeyedLock<string>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  readonly #sweeps: PeriodicTask<void>;

  constructor(options: LostKeysOptions) {
    this.#options = options;
    this.#sweeps = new PeriodicTask(SWEEP_MS, () => this.#sweep());
  }

  /** Begins to remove the rows of links that have ended. */
  start(): void {
    this.#sweeps.start();
  }

  /**
   * Takes a request for a link: it is mailed, where the address has an account here, once `answered` resolves. `from`
   * is the caller's internet address. Throws `SignUpError` `no-mail` or `email-invalid`, `LimitError`.
   */
  request(email: string, from: string, answered: Promise<void>): void {
    const { mailer, limits } = this.#options;
    if (mailer === null) throw new SignUpError('no-mail', 'this node sends no mail');
    if (!isPublicMailAddress(email)) throw new SignUpError('email-invalid', 'is not a mail address');
    const digest = emailDigest(email);
    limits.admit(from, digest);
    void answered.then(() => this.#begin(digest, mailer));
  }

  /** What a link is good for. Reads alone. Throws `AccountError` `link-invalid`. */
  async open(token: string): Promise<OpenLink> {
    const link = await this.#require(tokenDigest(token));
    return { ...link, keys: await this.#options.keys.list(link.account) };
  }

  /**
   * Makes a key that may do everything, ends the keys named, and spends the link. Throws `AccountError`:
   * `link-invalid`; `key-not-found` and `key-ended`, naming `revoke`; `too-many-keys`. Then nothing has changed, and
   * the link still works.
   */
  replace(token: string, revoke: readonly string[]): Promise<Replacement> {
    const digest = tokenDigest(token);
    return this.#options.keys.replaceLost(async () => {
      const { account } = await this.#require(digest);
      return { account, operations: [lostKeyTable.del(digest)] };
    }, revoke);
  }

  /** Gives up the mails under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#sweeps[Symbol.asyncDispose]();
    await Promise.all(this.#underWay);
  }

  #begin(digest: string, mailer: Pick<Mailer, 'send'>): void {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    const work = this.#locks
      .exclusive(digest, () => this.#mail(digest, mailer, signal))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#options.log.warn({ err: error }, 'a link for lost keys was not mailed');
      })
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async #mail(digest: string, mailer: Pick<Mailer, 'send'>, signal: AbortSignal): Promise<void> {
    const { store, accountStore, nodeUrl } = this.#options;
    signal.throwIfAborted();
    const id = await signUpTable.get(store, digest);
    const account = id === undefined ? undefined : await accountStore.account(id);
    if (account?.email === undefined) return;
    const token = newToken();
    await this.#write(account, token);
    await mailer.send(lostKeyMail(account.email, account.id, token, nodeUrl()), signal);
  }

  /** The row of a link, in the place of all others of the account. */
  #write({ id }: Account, token: string): Promise<void> {
    const { accountStore } = this.#options;
    return accountStore.change(async () => {
      const now = accountStore.now();
      const outdated = await this.#removals((row) => row.account === id || hasExpired(row, now));
      const row = lostKeyTable.put([tokenDigest(token)], { account: id, expiresAt: timestampOf(now + LINK_MS) });
      return { operations: [...outdated, row], events: [askedFor('lost-key', id)], result: undefined };
    });
  }

  async #require(digest: string): Promise<LostKeyRow> {
    const { store, accountStore } = this.#options;
    const row = await lostKeyTable.get(store, digest);
    if (row !== undefined && !hasExpired(row, accountStore.now())) return row;
    throw new AccountError('link-invalid', 'the link was used, has ended, or never was one');
  }

  async #sweep(): Promise<void> {
    const { accountStore, log } = this.#options;
    try {
      await accountStore.change(async () => {
        const now = accountStore.now();
        return { operations: await this.#removals((row) => hasExpired(row, now)), events: [], result: undefined };
      });
    } catch (error) {
      log.warn({ err: error }, 'links for lost keys that have ended were not removed');
    }
  }

  /** Few rows: as many as links are made in `LINK_MS`, and in the time between two sweeps. */
  async #removals(isOutdated: (row: LostKeyRow) => boolean): Promise<Operation[]> {
    const operations: Operation[] = [];
    for await (const [[digest = ''], row] of lostKeyTable.under(this.#options.store, [])) {
      if (isOutdated(row)) operations.push(lostKeyTable.del(digest));
    }
    return operations;
  }
}
