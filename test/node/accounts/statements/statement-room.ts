import { pino } from 'pino';
import { type AccountStatement, readAccountStatement } from '../../../../protocol/accounts/statement.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { nodeId, type NodeId } from '../../../../protocol/ids.ts';
import type { AccountBook } from '../../../../node/accounts/account-book.ts';
import { Accounts } from '../../../../node/accounts/accounts.ts';
import { StatementPublisher, type StatementPublisherOptions } from '../../../../node/accounts/statements/statement-publisher.ts';
import { statementDueTable } from '../../../../node/accounts/statements/statement-tables.ts';
import type { Draft } from '../../../../node/intake/draft.ts';
import { readPayload } from '../../../../node/payload/payload-tables.ts';
import { versionIds } from '../../../../node/records/account-record-table.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import type { Store } from '../../../../node/store/store.ts';
import { until } from '../../../fixtures/until.ts';
import { type Fate, IntakeRoom, NODE, vault } from '../../intake/intake-room.ts';

export const [US, SG] = [nodeId('us'), nodeId('sg')];
const MEMBERS: readonly NodeId[] = [NODE, US, SG];

export interface StatementRoomOptions {
  readonly fate?: () => Fate;
  /** Whether records are accepted. Default: always. */
  readonly accepts?: () => boolean;
  readonly now?: () => number;
  /** Done whenever the publisher has read of an account, before it goes on. */
  readonly afterReading?: () => Promise<void>;
}

/** A statement as its record and its payload say it. */
export interface Stated {
  readonly record: AttestationRecord;
  readonly statement: AccountStatement;
}

/** Accounts, their publisher and intake over one store. Opened again on the same directory, it is the node after a restart. */
export class StatementRoom implements AsyncDisposable {
  readonly room: IntakeRoom;
  readonly accounts: Accounts;
  readonly publisher: StatementPublisher;
  /** Lines of the log. */
  readonly log: readonly string[];

  private constructor(room: IntakeRoom, accounts: Accounts, publisher: StatementPublisher, log: readonly string[]) {
    this.room = room;
    this.accounts = accounts;
    this.publisher = publisher;
    this.log = log;
  }

  static async open(directory: string, options: StatementRoomOptions = {}): Promise<StatementRoom> {
    const { fate, accepts = () => true, now = Date.now, afterReading } = options;
    const room = await IntakeRoom.open(directory, { now, ...(fate && { fate }) });
    const { store, intake } = room;
    const lines: string[] = [];
    const accounts = await Accounts.open({ store, node: NODE, now, isMember: (node) => MEMBERS.includes(node) });
    const publisher = new StatementPublisher({
      store,
      book: afterReading === undefined ? accounts.book : pausing(accounts.book, afterReading),
      record: (draft: Draft) => (accepts() ? intake.submit(draft) : Promise.reject(new Error('halted'))),
      random: () => 0,
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    });
    return new StatementRoom(room, accounts, publisher, lines);
  }

  get store(): Store {
    return this.room.store;
  }

  async due(): Promise<string[]> {
    return (await Array.fromAsync(statementDueTable.under(this.store, []))).map(([[account = '']]) => account);
  }

  /** Resolves once nothing is due. */
  async settled(): Promise<void> {
    this.publisher.start();
    await until('nothing to be due', async () => (await this.due()).length === 0);
  }

  /** All versions of an account, oldest first, read from their records and payloads. */
  async stated(account: string): Promise<Stated[]> {
    const stated: Stated[] = [];
    for await (const id of versionIds(this.store, account, NODE)) {
      const record = (await readRecord(this.store, id))?.record;
      const payload = record === undefined ? 'erased' : await readPayload(this.store, vault, id, record.seq);
      if (record === undefined || payload === 'erased') throw new Error(`${id} is not there`);
      stated.unshift({ record, statement: readAccountStatement(payload.text) });
    }
    return stated;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publisher[Symbol.asyncDispose]();
    await this.accounts[Symbol.asyncDispose]();
    await this.room[Symbol.asyncDispose]();
  }
}

/** A book whose reader does something else in between. */
function pausing(book: AccountBook, afterReading: () => Promise<void>): StatementPublisherOptions['book'] {
  return {
    node: book.node,
    now: book.now,
    account: (id) => book.account(id),
    keys: (id) => book.keys(id),
    onStatementDue: (listener) => book.onStatementDue(listener),
    async change(work) {
      const result = await book.change(work);
      await afterReading();
      return result;
    },
    async look(work) {
      const result = await book.look(work);
      await afterReading();
      return result;
    },
  };
}
