import { type MailReader, OWNER } from '../../../protocol/api/people.ts';
import type { Logger } from 'pino';
import { MAX_CODE_TRIES, type SecondFactorKind } from '../../../protocol/api/second-factors.ts';
import { SIGN_IN_HOURS } from '../../../protocol/api/sign-ins.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import { PeriodicTask } from '../../concurrency/periodic-task.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AccountError } from '../account-error.ts';
import { askedFor, secondFactorEvent } from '../account-event.ts';
import { type AccountStore, signUpTable } from '../account-store.ts';
import type { ApiKey } from '../api-key.ts';
import type { ApiKeys, IssuedKey, MailedTerms, Replacement } from '../api-keys.ts';
import { KEY_PRESETS } from '../scopes.ts';
import type { People } from '../people/people.ts';
import type { Person } from '../people/person-table.ts';
import { emailDigest, isPublicMailAddress } from '../mail/mail-address.ts';
import type { Mailer } from '../mail/mailer.ts';
import { isShown, NOTHING_SHOWN, type ShownFactor } from '../second-factors/proof.ts';
import type { SecondFactors as HeldFactors } from '../second-factors/second-factor-table.ts';
import type { Holder, SecondFactors } from '../second-factors/second-factors.ts';
import { SignUpError, type SignUpLimits } from '../sign-up/sign-up-limits.ts';
import { lostKeyMail, signInMail } from './link-mails.ts';
import {
  hasExpired,
  LINK_MS,
  type LinkPurpose,
  type LostKeyRow,
  lostKeyTable,
  newToken,
  tokenDigest,
} from './lost-key-table.ts';

const HOUR_MS = 3_600_000;
const MAILS = { 'lost-key': lostKeyMail, 'sign-in': signInMail } as const;

export interface LostKeysOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  readonly keys: ApiKeys;
  /** Who else signs in by mail. Default: nobody. */
  readonly people?: Pick<People, 'at' | 'welcome'>;
  /** What people show beside a link. Default: nothing. */
  readonly secondFactors?: Pick<SecondFactors, 'of' | 'prove'>;
  /** Null where the node sends no mail. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  /** Those of sign-ups: mails for lost keys count together with them, links to sign in apart. */
  readonly limits: SignUpLimits;
  /** Address of the key-authenticated API. */
  readonly nodeUrl: () => string;
  readonly log: Logger;
}

/** What a link is good for, and the keys that it may end: oldest first, those that have ended too. */
export interface OpenLink extends LostKeyRow {
  readonly keys: readonly ApiKey[];
  /** What is to be shown beside it; undefined where nothing is. */
  readonly factors: HeldFactors | undefined;
}

/** The key of somebody who signs in by a link, who it is, and what they showed beside the link. */
export interface MailedKey extends IssuedKey {
  readonly holder: MailReader;
  readonly secondFactor: SecondFactorKind | null;
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
  request(email: string, from: string, answered: Promise<void>, purpose: LinkPurpose = 'lost-key'): void {
    const { mailer, limits } = this.#options;
    if (mailer === null) throw new SignUpError('no-mail', 'this node sends no mail');
    if (!isPublicMailAddress(email)) throw new SignUpError('email-invalid', 'is not a mail address');
    const digest = emailDigest(email);
    if (purpose === 'sign-in') limits.admitSignIn(from, digest);
    else limits.admit(from, digest);
    void answered.then(() => this.#begin(digest, purpose, mailer));
  }

  /** What a link is good for. Reads alone. Throws `AccountError` `link-invalid`. */
  async open(token: string): Promise<OpenLink> {
    const link = await this.#require(tokenDigest(token), 'lost-key');
    return { ...link, keys: await this.#options.keys.list(link.account), factors: await this.#factorsOf(link) };
  }

  /**
   * Makes a key that may do everything, ends the keys named, and spends the link. Throws `AccountError`:
   * `link-invalid`; `second-factor-needed` and `second-factor-wrong`; `key-not-found` and `key-ended`, naming `revoke`;
   * `too-many-keys`; and `LimitError`. Then nothing has changed, and the link still works, `MAX_CODE_TRIES` times where a
   * code is tried.
   */
  async replace(token: string, revoke: readonly string[], shown = NOTHING_SHOWN): Promise<Replacement> {
    const digest = tokenDigest(token);
    await this.#countTry(digest, 'lost-key', shown);
    const spend = async () => {
      const row = await this.#require(digest, 'lost-key');
      const used = await this.#options.secondFactors?.prove(holderOf(row), shown);
      return { account: row.account, operations: [lostKeyTable.del(digest), ...(used?.operations ?? [])] };
    };
    return this.#options.keys.replaceLost(spend, revoke);
  }

  /** Whom a link signs in, and what they show beside it. Reads alone. Throws `AccountError` `link-invalid`. */
  async openSignIn(token: string): Promise<Pick<OpenLink, 'account' | 'factors'>> {
    const row = await this.#require(tokenDigest(token), 'sign-in');
    return { account: row.account, factors: await this.#factorsOf(row) };
  }

  /**
   * Spends a link to sign in, for a key that may do everything and ends with the sign-in: what holds for keys holds for
   * whoever came by mail. Past `MAX_SIGN_IN_KEYS` such keys of the account the oldest ends. Throws `AccountError`:
   * `link-invalid`, `second-factor-needed`, `second-factor-wrong`; and `LimitError`.
   */
  async signIn(token: string, shown = NOTHING_SHOWN): Promise<MailedKey> {
    const digest = tokenDigest(token);
    await this.#countTry(digest, 'sign-in', shown);
    const { account, person } = await this.#require(digest, 'sign-in');
    const terms = person === undefined ? this.#ownerTerms() : this.#personTerms(await this.#welcome(account, person));
    let secondFactor: SecondFactorKind | null = null;
    const spend = async () => {
      // As it was, unless it was spent or replaced meanwhile.
      const row = await this.#require(digest, 'sign-in');
      if (person !== undefined) await this.#welcome(account, person);
      const used = await this.#options.secondFactors?.prove(holderOf(row), shown);
      secondFactor = used?.kind ?? null;
      return { account, operations: [lostKeyTable.del(digest), ...(used?.operations ?? [])] };
    };
    const issued = await this.#options.keys.replaceLost(spend, [], terms);
    return { ...issued, holder: person ?? OWNER, secondFactor };
  }

  #factorsOf(row: LostKeyRow): Promise<HeldFactors | undefined> {
    return this.#options.secondFactors?.of(holderOf(row)) ?? Promise.resolve(undefined);
  }

  /**
   * Counts what is shown beside a link before it is judged: so no crowd of calls, and no crash, has a try for nothing.
   * Throws `AccountError` `link-invalid`, with the one after the last.
   */
  async #countTry(digest: string, purpose: LinkPurpose, shown: ShownFactor): Promise<void> {
    if (!isShown(shown)) return;
    const isOver = await this.#options.accountStore.change(async () => {
      const row = await this.#require(digest, purpose);
      if ((await this.#factorsOf(row)) === undefined) return { operations: [], events: [], result: false };
      const tries = (row.tries ?? 0) + 1;
      const isOne = tries <= MAX_CODE_TRIES;
      const operations = [isOne ? lostKeyTable.put([digest], { ...row, tries }) : lostKeyTable.del(digest)];
      const events = [secondFactorEvent('second-factor.shown', holderOf(row), purpose)];
      return { operations, events, result: !isOne };
    });
    if (isOver) throw new AccountError('link-invalid', 'too many codes were tried by this link: ask for another');
  }

  #ownerTerms(): MailedTerms {
    const expiresAt = timestampOf(this.#endsAt());
    return { by: 'sign-in', name: 'console, by mail', holder: OWNER, signIn: true, expiresAt };
  }

  #personTerms({ id, role, expiresAt }: Person): MailedTerms {
    const end = expiresAt === null ? this.#endsAt() : Math.min(this.#endsAt(), Date.parse(expiresAt));
    const scopes = [...KEY_PRESETS[role]];
    return { by: 'sign-in', name: id, holder: id, signIn: true, preset: role, scopes, expiresAt: timestampOf(end) };
  }

  #endsAt(): number {
    return this.#options.accountStore.now() + SIGN_IN_HOURS * HOUR_MS;
  }

  /** Somebody who may still sign in. Throws `AccountError` `link-invalid`. */
  async #welcome(account: string, id: string): Promise<Person> {
    const person = await this.#options.people?.welcome(account, id);
    if (person !== undefined) return person;
    throw new AccountError('link-invalid', 'whoever it was sent to was removed, or their time is over');
  }

  /** Gives up the mails under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#sweeps[Symbol.asyncDispose]();
    await Promise.all(this.#underWay);
  }

  #begin(digest: string, purpose: LinkPurpose, mailer: Pick<Mailer, 'send'>): void {
    const { signal } = this.#closing;
    if (signal.aborted) return;
    const work = this.#locks
      .exclusive(digest, () => this.#mail(digest, purpose, mailer, signal))
      .catch((error: unknown) => {
        if (!signal.aborted) this.#options.log.warn({ err: error }, 'a link was not mailed');
      })
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async #mail(digest: string, purpose: LinkPurpose, mailer: Pick<Mailer, 'send'>, signal: AbortSignal): Promise<void> {
    const { store, accountStore, nodeUrl, people } = this.#options;
    signal.throwIfAborted();
    const id = await signUpTable.get(store, digest);
    const account = id === undefined ? undefined : await accountStore.account(id);
    if (account?.email !== undefined) {
      const token = newToken();
      await this.#write({ account: account.id }, token, purpose);
      await mailer.send(MAILS[purpose](account.email, account.id, token, nodeUrl()), signal);
    }
    if (purpose !== 'sign-in') return;
    for (const person of (await people?.at(digest)) ?? []) {
      const token = newToken();
      await this.#write({ account: person.account, person: person.id }, token, purpose);
      await mailer.send(signInMail(person.email, person.account, token, nodeUrl()), signal);
    }
  }

  /** The row of a link, in the place of all others of whom it is for. */
  #write(
    { account: id, person }: Pick<LostKeyRow, 'account' | 'person'>,
    token: string,
    purpose: LinkPurpose,
  ): Promise<void> {
    const { accountStore } = this.#options;
    return accountStore.change(async () => {
      const now = accountStore.now();
      const outdated = await this.#removals(
        (row) => (row.account === id && row.person === person) || hasExpired(row, now),
      );
      const link = { account: id, expiresAt: timestampOf(now + LINK_MS) };
      const whose = person === undefined ? link : { ...link, person };
      const row = purpose === 'sign-in' ? { ...whose, purpose } : whose;
      const operations = [...outdated, lostKeyTable.put([tokenDigest(token)], row)];
      return { operations, events: [askedFor(purpose, id)], result: undefined };
    });
  }

  /** A link is good for what it was mailed for alone. */
  async #require(digest: string, purpose: LinkPurpose): Promise<LostKeyRow> {
    const { store, accountStore } = this.#options;
    const row = await lostKeyTable.get(store, digest);
    const isFor = row !== undefined && (row.purpose ?? 'lost-key') === purpose;
    if (isFor && !hasExpired(row, accountStore.now())) return row;
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
      log.warn({ err: error }, 'mailed links that have ended were not removed');
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

function holderOf({ account, person }: LostKeyRow): Holder {
  return { account, holder: person ?? OWNER };
}
