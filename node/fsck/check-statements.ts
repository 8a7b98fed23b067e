import type { Sha256Hash } from '../../protocol/hash.ts';
import {
  parseLedgerMessage,
  type RevocationMessage,
  type RosterMessage,
  writeLedgerMessage,
} from '../../protocol/log/message.ts';
import { type NamedStatement, nameStatement } from '../../protocol/log/naming.ts';
import { type StatementRow, statementOutboxClosedTable, statementOutboxTable } from '../anchoring/outbox.ts';
import { rosterTextTable } from '../log/log-tables.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { stateFaults } from './check-outbox.ts';
import type { Check, ProvenKeys, TableCheck } from './check.ts';
import { Report } from './report.ts';
import { readRows } from './rows.ts';

/** The message that names each statement held here, by the statement's hash. */
type NamingMessages = ReadonlyMap<Sha256Hash, RosterMessage | RevocationMessage>;

/**
 * Revocations and rosters on their way to the ledger, or there: each message names a statement that is held here.
 * Memory grows with members and keys.
 */
export const statementCheck: TableCheck = {
  tables: [statementOutboxTable, statementOutboxClosedTable],
  async run(check) {
    const known = check.keys === null ? null : await statementsOf(check, check.keys);
    for (const table of [statementOutboxTable, statementOutboxClosedTable]) {
      for await (const { key, value } of readRows(check, table)) {
        if (value === undefined) continue;
        const isClosed = table === statementOutboxClosedTable;
        for (const fault of await rowFaults(check, known, value, isClosed)) {
          check.report.problem(table.name, key, fault);
        }
        if (key !== table.key(value.statement)) check.report.problem(table.name, key, 'stands under another key');
        check.report.count(isClosed ? 'statementsConfirmed' : 'statementsOpen');
      }
    }
  },
};

async function rowFaults(
  { store }: Check,
  known: NamingMessages | null,
  row: StatementRow,
  isClosed: boolean,
): Promise<string[]> {
  const faults = stateFaults(row, isClosed);
  if (known !== null) {
    const expected = known.get(row.statement);
    if (expected === undefined) {
      if (!isSuperseded(known, row)) faults.push('names a statement that is not in the store');
    } else if (row.message !== writeLedgerMessage(expected)) {
      faults.push('its message is not that of the statement');
    }
  }
  if (!isClosed && (await statementOutboxClosedTable.get(store, row.statement).catch(() => undefined)) !== undefined) {
    faults.push('is open and confirmed at once');
  }
  return faults;
}

/** Of two revocations of one key the store keeps the one that stands; that the other was named stays on record. */
function isSuperseded(known: NamingMessages, { message, statement }: StatementRow): boolean {
  try {
    const said = parseLedgerMessage(message);
    if (said.type !== 'revocation' || said.statement !== statement) return false;
    return [...known.values()].some((other) => other.type === 'revocation' && other.keyId === said.keyId);
  } catch {
    return false;
  }
}

async function statementsOf(check: Check, { rosters, directory }: ProvenKeys): Promise<NamingMessages> {
  const found = new Map<Sha256Hash, RosterMessage | RevocationMessage>();
  const add = (type: NamedStatement['type'], text: string) => {
    try {
      const message = nameStatement(nativeSuite, rosters.genesis, { type, text });
      found.set(message.statement, message);
    } catch {
      // Those that do not read are reported with the keys.
    }
  };
  for (const text of rosters.texts.slice(1)) add('roster', text);
  // Those that this node named and the log did not come to among them.
  const kept = readRows({ ...check, report: new Report() }, rosterTextTable);
  for await (const { value } of kept) if (value !== undefined) add('roster', value);
  for (const { signed } of rosters.nodes.flatMap((node) => directory.revocationsOf(node))) {
    add('revocation', signed.statement);
  }
  return found;
}
