import { hash, randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { CALENDAR_TOKEN_PATTERN } from '../../../protocol/api/calendar.ts';
import { Closed, TimestampShape } from '../../../protocol/shapes.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import type { Caller } from '../../accounts/caller.ts';
import { KeyIdShape, isKeyId } from '../../accounts/key-id.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { jsonTable, Table, textCodec } from '../../store/table.ts';

const TOKEN_BYTES = 32;
const TOKEN = new RegExp(CALENDAR_TOKEN_PATTERN);
/** Whose calendar a token is that is none: of nobody, so that as much is looked up as of one that was. */
const NOBODY = { account: 'nobody', key: 'none' };

const CalendarRowShape = Closed({
  account: Type.String(),
  /** The API key that made it: it shows what that key sees, and ends with it. */
  key: KeyIdShape,
  createdAt: TimestampShape,
});
export type Calendar = Readonly<Static<typeof CalendarRowShape>>;

/** (SHA-256 of the token of a calendar's address, hex) → whose it is. The token is nowhere. */
export const calendarTable = jsonTable('calendar', CalendarRowShape);
/** (account, API key) → SHA-256 of the token. Before there was one of each key: (account) → the same. */
export const accountCalendarTable = new Table('account-calendar', textCodec);

interface CalendarMaker {
  readonly account: string;
  /** Id of an API key. */
  readonly key: string;
}

export interface CalendarsOptions {
  readonly store: Store;
  readonly accountStore: AccountStore;
  readonly auditLog: Pick<AuditLog, 'recordWith'>;
  /**
   * When the copy was taken that this store comes from; null where it is none. A calendar that is as old may have been
   * ended since, and the copy does not know.
   */
  readonly copiedAt: Timestamp | null;
}

/**
 * Calendars of accounts: each has an address that is a secret, for programs that show calendars and know no keys. A key
 * has one: a new one takes the place of its old one. It is worth no more than the key that made it, and ends with it.
 * Rows of those whose key has ended are removed when a key of the account makes one.
 */
export class Calendars {
  readonly #options: CalendarsOptions;
  readonly #locks = new KeyedLock<string>();

  private constructor(options: CalendarsOptions) {
    this.#options = options;
  }

  /** Ends those that an older copy of the store brought back, and brings index rows of before to a key each. */
  static async open(options: CalendarsOptions): Promise<Calendars> {
    const { store, copiedAt } = options;
    for await (const [[digest = ''], calendar] of calendarTable.under(store, [])) {
      const isVoid = copiedAt !== null && Date.parse(calendar.createdAt) <= Date.parse(copiedAt);
      const moves = await movesOf(store, calendar, digest);
      const operations = isVoid ? [...moves, ...removal(calendar, digest)] : moves;
      if (operations.length > 0) await store.write(operations);
    }
    return new Calendars(options);
  }

  /** The token of a new address of the caller's key, in the place of its one before. */
  create({ account, key }: Caller): Promise<string> {
    return this.#locks.exclusive(account.id, async () => {
      const { accountStore } = this.#options;
      if (!isKeyId(key.id)) throw new RangeError(`${key.id} makes no calendar`);
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const digest = digestOf(token);
      const calendar: Calendar = { account: account.id, key: key.id, createdAt: timestampOf(accountStore.now()) };
      await this.#write(account.id, 'calendar.created', key.id, [
        ...(await this.#outdated(calendar)),
        calendarTable.put([digest], calendar),
        accountCalendarTable.put([account.id, key.id], digest),
      ]);
      return token;
    });
  }

  /** Ends the address of the caller's key; where it has none, nothing is changed. */
  async delete({ account, key }: Caller): Promise<void> {
    await this.#locks.exclusive(account.id, async () => {
      const digest = await accountCalendarTable.get(this.#options.store, account.id, key.id);
      if (digest === undefined) return;
      await this.#write(account.id, 'calendar.deleted', key.id, removal({ account: account.id, key: key.id }, digest));
    });
  }

  /** Who made the calendar of a token; undefined where it is none any more. As much is read either way. */
  async find(token: string): Promise<Caller | undefined> {
    const { store, accountStore } = this.#options;
    const calendar = TOKEN.test(token) ? await calendarTable.get(store, digestOf(token)) : undefined;
    const { account, key } = calendar ?? NOBODY;
    return (await accountStore.keyInForce(account, key))?.caller;
  }

  /** What takes away the calendars that end with a new one: that of the same key, and those of keys that have ended. */
  async #outdated({ account, key }: CalendarMaker): Promise<Operation[]> {
    const { store, accountStore } = this.#options;
    const operations: Operation[] = [];
    for await (const [[of = ''], digest] of accountCalendarTable.under(store, [account])) {
      const isOver = of === key || (await accountStore.keyInForce(account, of)) === undefined;
      if (isOver) operations.push(...removal({ account, key: of }, digest));
    }
    return operations;
  }

  async #write(account: string, action: string, by: string, operations: readonly Operation[]): Promise<void> {
    const facts = { action, address: null, by, requestId: null, status: null, subject: account };
    await this.#options.auditLog.recordWith(account, [facts], operations);
  }
}

function removal({ account, key }: CalendarMaker, digest: string): readonly Operation[] {
  return [calendarTable.del(digest), accountCalendarTable.del(account, key)];
}

/**
 * What brings the index row of a calendar under its key, where it still stands under the account alone. A key that made
 * another one meanwhile keeps that: the one before ends.
 */
async function movesOf(store: Store, { account, key }: CalendarMaker, digest: string): Promise<readonly Operation[]> {
  if ((await accountCalendarTable.get(store, account)) !== digest) return [];
  const old = accountCalendarTable.del(account);
  const isFree = (await accountCalendarTable.get(store, account, key)) === undefined;
  return [old, isFree ? accountCalendarTable.put([account, key], digest) : calendarTable.del(digest)];
}

function digestOf(token: string): string {
  return hash('sha256', `meridian/calendar/1\0${token}`, 'hex');
}
