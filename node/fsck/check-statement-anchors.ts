import type { Sha256Hash } from '../../protocol/hash.ts';
import {
  parseLedgerMessage,
  type RevocationMessage,
  type RosterMessage,
  writeLedgerMessage,
} from '../../protocol/log/message.ts';
import { type NamedStatement, nameStatement } from '../../protocol/log/naming.ts';
import { messageHash, statementAnchorTable } from '../anchoring/anchors.ts';
import { type StatementRow, statementOutboxClosedTable, statementOutboxTable } from '../anchoring/outbox.ts';
import { rosterTextTable } from '../log/log-tables.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { placeFaults } from './anchor-place.ts';
import { stateFaults } from './check-outbox.ts';
import type { Check, ProvenKeys, TableCheck } from './check.ts';
import { Report } from './report.ts';
import { readRows, reasonOf } from './rows.ts';

/** The message that names each statement held here, by the statement's hash. */
type NamingMessages = ReadonlyMap<Sha256Hash, RosterMessage | RevocationMessage>;

/**
 * Anchors of revocations and rosters: each message names the statement it stands under; what is on its way
 * names a statement that is held here. Memory grows with members and keys.
 */
export const statementAnchorCheck: TableCheck = {
  tables: [statementOutboxTable, statementOutboxClosedTable, statementAnchorTable],
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
    await checkAnchors(check);
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
  // An anchor row that does not read is reported with the anchors.
  const place = [row.statement, messageHash(row.message)] as const;
  const anchor = isClosed ? await statementAnchorTable.get(store, ...place).catch(() => null) : null;
  if (anchor === undefined) faults.push('is confirmed, but its anchor is not in the store');
  return faults;
}

/** Of two revocations of one key the store keeps the one that stands; that the other was anchored stays on record. */
function isSuperseded(known: NamingMessages, { message, statement }: StatementRow): boolean {
  try {
    const said = parseLedgerMessage(message);
    if (said.type !== 'revocation' || said.statement !== statement) return false;
    return [...known.values()].some((other) => other.type === 'revocation' && other.keyId === said.keyId);
  } catch {
    return false;
  }
}

async function checkAnchors(check: Check): Promise<void> {
  const { report } = check;
  for await (const { key, value } of readRows(check, statementAnchorTable)) {
    if (value === undefined) continue;
    const { type, statement, anchor } = value;
    if (key !== statementAnchorTable.key(statement, messageHash(anchor.message))) {
      report.problem(statementAnchorTable.name, key, 'stands under another key');
    }
    for (const fault of placeFaults(check, anchor)) report.problem(statementAnchorTable.name, key, fault);
    try {
      const said = parseLedgerMessage(anchor.message);
      if (said.type === 'batch' || said.type !== type || said.statement !== statement) {
        report.problem(statementAnchorTable.name, key, 'says something else than its message');
      }
    } catch (error) {
      report.problem(statementAnchorTable.name, key, reasonOf(error));
    }
    report.count('statementAnchors');
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
