import type { Logger } from 'pino';
import { type InviteRequest, isPersonId, type MailReader, OWNER } from '../../../protocol/api/people.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { AccountError } from '../account-error.ts';
import { type Actor, keyEvent, personEvent } from '../account-event.ts';
import type { AccountEvents, AccountStore } from '../account-store.ts';
import { type ApiKey, keyOperations, keyState, type KeyTerms } from '../api-key.ts';
import { isKeyId } from '../key-id.ts';
import { reachesAllOf, termsOf } from '../key-terms.ts';
import { emailDigest, isPublicMailAddress } from '../mail/mail-address.ts';
import type { Mail, Mailer } from '../mail/mailer.ts';
import { KEY_PRESETS } from '../scopes.ts';
import { secondFactorTable } from '../second-factors/second-factor-table.ts';
import type { SignUpLimits } from '../sign-up/sign-up-limits.ts';
import {
  isWelcome,
  newPersonId,
  type Person,
  personAddressTable,
  personOperations,
  personRemoval,
  personTable,
} from './person-table.ts';

/** People of one account. */
export const MAX_PEOPLE = 100;

export interface PeopleOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  /** Null where the node sends no mail: nobody could sign in. */
  readonly mailer: Pick<Mailer, 'send'> | null;
  /** Those of sign-ups: mails of all kinds count together. */
  readonly limits: SignUpLimits;
  /** Writes rows together with their events in the audit log: all or nothing. */
  readonly record: (events: AccountEvents, operations: readonly Operation[]) => Promise<void>;
  readonly nodeUrl: () => string;
  readonly log: Logger;
}

/**
 * The people of accounts, who sign in at the console by mail: each in a role, which is a preset of keys, and some for a
 * while. They come by a key of that preset, which ends with the sign-in.
 *
 * Crash order: who is removed loses every key that is theirs in the write that removes the row.
 */
export class People {
  readonly #options: PeopleOptions;
  readonly #locks = new KeyedLock<string>();

  constructor(options: PeopleOptions) {
    this.#options = options;
  }

  /**
   * Invites a person, by mail. Throws `AccountError` `terms-invalid`,
   * `beyond-maker` where they may do or see more than the key that asks, or for longer, `person-exists`,
   * `too-many-people`; `LimitError`.
   */
  async invite(account: string, key: string, { email, role, expiresAt }: InviteRequest) {
    const { accountStore, mailer, limits, record } = this.#options;
    if (mailer === null) {
      throw new AccountError('terms-invalid', 'cannot be written to: this node sends no mail', 'email');
    }
    if (!isPublicMailAddress(email)) throw new AccountError('terms-invalid', 'is not a mail address', 'email');
    if (!isKeyId(key)) throw new RangeError(`${key} invites nobody`);
    const person = await this.#locks.exclusive(account, async (): Promise<Person> => {
      const now = accountStore.now();
      const maker = await accountStore.makerOf(account, { key });
      const request = {
        preset: role,
        sources: null,
        addresses: null,
        from: null,
        to: null,
        ...(expiresAt === undefined ? {} : { expiresAt }),
      };
      const end = maker === null ? null : await this.#endOf(account, maker);
      const terms = termsOf(request, maker === null ? null : { ...maker, addresses: null, expiresAt: end }, now);
      const all = await this.list(account);
      if (all.some((one) => emailDigest(one.email) === emailDigest(email))) {
        throw new AccountError('person-exists', 'is that of somebody of the account already', 'email');
      }
      if (all.length >= MAX_PEOPLE) {
        throw new AccountError('too-many-people', `an account has at most ${MAX_PEOPLE} people`);
      }
      limits.admitInvitation(account, emailDigest(email));
      const id = newPersonId(accountStore.node, now);
      const times = { createdAt: timestampOf(now), expiresAt: terms.expiresAt };
      const invited: Person = { id, account, email, role, ...times, invitedBy: key };
      await record([personEvent('person.invited', invited, { key })], personOperations(invited));
      return invited;
    });
    return { person, mailed: await this.#mail(person, mailer) };
  }

  /** Oldest first. */
  async list(account: string): Promise<readonly Person[]> {
    const people: Person[] = [];
    for await (const [, person] of personTable.under(this.#options.store, [account])) people.push(person);
    return people;
  }

  /** Who may sign in by the mail of an address, at which accounts. */
  async at(digest: string): Promise<readonly Person[]> {
    const { store, accountStore } = this.#options;
    const people: Person[] = [];
    for await (const [[account = ''], id] of personAddressTable.under(store, [digest])) {
      const person = await personTable.get(store, account, id);
      if (person !== undefined && isWelcome(person, accountStore.now())) people.push(person);
    }
    return people;
  }

  /** One who may sign in now; undefined where there is none of this id. */
  async welcome(account: string, id: string): Promise<Person | undefined> {
    const { store, accountStore } = this.#options;
    const person = await personTable.get(store, account, id);
    return person !== undefined && isWelcome(person, accountStore.now()) ? person : undefined;
  }

  /** Where somebody reads mail of an account now; undefined for who is of the account no more. */
  async addressOf(account: string, reader: MailReader): Promise<string | undefined> {
    if (reader === OWNER) return (await this.#options.accountStore.account(account))?.email;
    return (await this.welcome(account, reader))?.email;
  }

  /**
   * Throws `AccountError` `beyond-maker` where somebody who signs in by mail may do or see more than the key that asks. Who
   * is of the account no more could do everything.
   */
  async requireWithin(account: string, by: Actor, reader: MailReader): Promise<void> {
    const { store, accountStore } = this.#options;
    const maker = await accountStore.makerOf(account, by);
    const person = reader === OWNER ? undefined : await personTable.get(store, account, reader);
    const scopes = KEY_PRESETS[person?.role ?? 'admin'];
    if (maker === null || reachesAllOf(maker, { scopes, sources: null })) return;
    throw new AccountError('beyond-maker', 'the key that asks does not reach all that they do');
  }

  /** Ends what a person may do here, at once. Throws `AccountError` `person-not-found`, `beyond-maker`. */
  remove(account: string, id: string, key: string): Promise<void> {
    return this.#locks.exclusive(account, async () => {
      const person = isPersonId(id) ? await personTable.get(this.#options.store, account, id) : undefined;
      if (person === undefined) throw new AccountError('person-not-found', 'the account has nobody of this id');
      if (!isKeyId(key)) throw new RangeError(`${key} removes nobody`);
      await this.requireWithin(account, { key }, person.id);
      const { accountStore } = this.#options;
      await accountStore.change(async () => {
        const now = accountStore.now();
        const theirs = (await accountStore.keys(account)).filter((held) => isInForceOf(person, held.key, now));
        const revokedAt = timestampOf(now);
        const revoked = theirs.flatMap((held) => keyOperations(held.digest, { ...held.key, revokedAt }));
        return {
          operations: [...revoked, ...personRemoval(person), secondFactorTable.del(account, person.id)],
          events: [
            ...theirs.map((held) => keyEvent('key.revoked', held.key, 'node')),
            personEvent('person.removed', person, { key }),
          ],
          result: undefined,
        };
      });
    });
  }

  /** When access ends of who asks by a key: the key of a sign-in by mail ends long before who is signed in. */
  async #endOf(account: string, { holder, signIn, expiresAt }: KeyTerms): Promise<KeyTerms['expiresAt']> {
    if (holder === undefined || signIn !== true) return expiresAt;
    if (holder === OWNER) return null;
    const person = await this.welcome(account, holder);
    return person === undefined ? expiresAt : person.expiresAt;
  }

  async #mail({ email, account, role }: Person, mailer: Pick<Mailer, 'send'>): Promise<boolean> {
    try {
      await mailer.send(invitation(email, account, role, this.#options.nodeUrl()));
      return true;
    } catch (error) {
      this.#options.log.warn({ err: error }, 'an invitation was not mailed');
      return false;
    }
  }
}

/** Whether a key in force is a person's: of a sign-in, or made by a key of theirs. */
function isInForceOf({ id }: Person, key: ApiKey, now: number): boolean {
  return key.holder === id && keyState(key, now) === 'active';
}

function invitation(to: string, account: string, role: string, nodeUrl: string): Mail {
  return {
    to,
    subject: 'You are invited to the console of a Meridian account',
    text: `You may sign in at the console of the account
${account}
in the role ${role}, at

${nodeUrl}/console/sign-in

Ask there for a link in a mail to this address.
`,
  };
}
