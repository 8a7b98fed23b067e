import { pino } from 'pino';
import { type AccountStatement, readAccountStatement } from '../../../../protocol/accounts/statement.ts';
import type { AttestationRecord } from '../../../../protocol/chain/record.ts';
import { nodeId, type NodeId } from '../../../../protocol/ids.ts';
import type { AccountStore } from '../../../../node/accounts/account-store.ts';
import { Accounts } from '../../../../node/accounts/accounts.ts';
import {
  StatementPublisher,
  type StatementPublisherOptions,
} from '../../../../node/accounts/statements/statement-publisher.ts';
import { statementDueTable } from '../../../../node/accounts/statements/statement-tables.ts';
import type { Draft } from '../../../../node/intake/draft.ts';
import { readPayload } from '../../../../node/records/payload/payload-tables.ts';
import { versionIds } from '../../../../node/records/account-record-table.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import type { Store } from '../../../../node/store/store.ts';
import { until } from '../../../fixtures/until.ts';
import { type Fate, IntakeFixture, NODE, cipher } from '../../intake/intake-fixture.ts';

export const [US, SG] = [nodeId('us'), nodeId('sg')];
const MEMBERS: readonly NodeId[] = [NODE, US, SG];

export interface StatementFixtureOptions {
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

/**
 * Accounts, their publisher and intake over one store. Opened again on the same directory, it is the node after a
 * restart.
 */
export class StatementFixture implements AsyncDisposable {
  readonly fixture: IntakeFixture;
  readonly accounts: Accounts;
  readonly publisher: StatementPublisher;
  /** Lines of the log. */
  readonly log: readonly string[];

  private constructor(
    fixture: IntakeFixture,
    accounts: Accounts,
    publisher: StatementPublisher,
    log: readonly string[],
  ) {
    this.fixture = fixture;
    this.accounts = accounts;
    this.publisher = publisher;
    this.log = log;
  }

  static async open(directory: string, options: StatementFixtureOptions = {}): Promise<StatementFixture> {
    const { fate, accepts = () => true, now = Date.now, afterReading } = options;
    const fixture = await IntakeFixture.open(directory, { now, ...(fate && { fate }) });
    const { store, intake } = fixture;
    const lines: string[] = [];
    const accounts = await Accounts.open({ store, node: NODE, now, isMember: (node) => MEMBERS.includes(node) });
    const publisher = new StatementPublisher({
      store,
      accountStore: afterReading === undefined ? accounts.accountStore : pausing(accounts.accountStore, afterReading),
      record: (draft: Draft) => (accepts() ? intake.submit(draft) : Promise.reject(new Error('halted'))),
      random: () => 0,
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    });
    return new StatementFixture(fixture, accounts, publisher, lines);
  }

  get store(): Store {
    return this.fixture.store;
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
      const payload = record === undefined ? 'erased' : await readPayload(this.store, cipher, id, record.seq);
      if (record === undefined || payload === 'erased') throw new Error(`${id} is not there`);
      stated.unshift({ record, statement: readAccountStatement(payload.text) });
    }
    return stated;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.publisher[Symbol.asyncDispose]();
    await this.accounts[Symbol.asyncDispose]();
    await this.fixture[Symbol.asyncDispose]();
  }
}

/** A book whose reader does something else in between. */
function pausing(
  accountStore: AccountStore,
  afterReading: () => Promise<void>,
): StatementPublisherOptions['accountStore'] {
  return {
    node: accountStore.node,
    now: accountStore.now,
    account: (id) => accountStore.account(id),
    keys: (id) => accountStore.keys(id),
    onStatementDue: (listener) => accountStore.onStatementDue(listener),
    async change(work) {
      const result = await accountStore.change(work);
      await afterReading();
      return result;
    },
    async look(work) {
      const result = await accountStore.look(work);
      await afterReading();
      return result;
    },
  };
}
