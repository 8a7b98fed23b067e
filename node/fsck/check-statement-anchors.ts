import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { parseAnchorMessage, type StatementAnchor, writeAnchorMessage } from '../../protocol/ledger/anchor-message.ts';
import { readStatementAnchor, statementAnchorTable } from '../anchoring/anchors.ts';
import { type StatementRow, statementOutboxClosedTable, statementOutboxTable } from '../anchoring/outbox.ts';
import { rivalRosterTable } from '../federation/roster-book.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { placeFaults } from './anchor-place.ts';
import { stateFaults } from './check-outbox.ts';
import type { Check, ProvenKeys, TableCheck } from './check.ts';
import { Report } from './report.ts';
import { readRows, reasonOf } from './rows.ts';

type StatementType = StatementAnchor['type'];

/**
 * Anchors of certificates, revocations and rosters: each message names the statement it stands under; what is on its way
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
  { store, own, keys }: Check,
  known: ReadonlyMap<Sha256Hash, StatementType> | null,
  row: StatementRow,
  isClosed: boolean,
): Promise<string[]> {
  const faults = stateFaults(row, isClosed);
  if (known !== null && keys !== null && own !== null) {
    const type = known.get(row.statement);
    const { federation } = keys.rosters;
    if (type === undefined) {
      if (!isSuperseded(known, row)) faults.push('names a statement that is not in the store');
    } else if (row.message !== writeAnchorMessage({ v: 1, type, federation, node: own, statement: row.statement })) {
      faults.push('its message is not that of the statement');
    }
  }
  if (!isClosed && (await statementOutboxClosedTable.get(store, row.statement).catch(() => undefined)) !== undefined) {
    faults.push('is open and confirmed at once');
  }
  // An anchor row that does not read is reported with the anchors.
  const anchor = isClosed ? await readStatementAnchor(store, row.statement).catch(() => null) : null;
  if (anchor === undefined) faults.push('is confirmed, but its anchor is not in the store');
  return faults;
}

/**
 * Of two certificates or revocations of one key the earlier stands, and the store keeps it alone; that the other was
 * anchored stays on record.
 */
function isSuperseded(known: ReadonlyMap<Sha256Hash, StatementType>, { message, statement }: StatementRow): boolean {
  try {
    const said = parseAnchorMessage(message);
    if (said.type === 'batch' || said.type === 'roster' || said.statement !== statement) return false;
    return [...known.values()].includes(said.type);
  } catch {
    return false;
  }
}

async function checkAnchors(check: Check): Promise<void> {
  const { report } = check;
  for await (const { key, value } of readRows(check, statementAnchorTable)) {
    if (value === undefined) continue;
    const { type, node, statement, anchor } = value;
    if (key !== statementAnchorTable.key(statement, Number(anchor.sequence))) {
      report.problem(statementAnchorTable.name, key, 'stands under another key');
    }
    for (const fault of placeFaults(check, anchor)) report.problem(statementAnchorTable.name, key, fault);
    try {
      const said = parseAnchorMessage(anchor.message);
      if (said.type !== type || said.node !== node || said.statement !== statement) {
        report.problem(statementAnchorTable.name, key, 'says something else than its message');
      }
    } catch (error) {
      report.problem(statementAnchorTable.name, key, reasonOf(error));
    }
    report.count('statementAnchors');
  }
}

/** Rosters that gave way to another among them: each was on its way to the ledger, which decided between the two. */
async function statementsOf(
  check: Check,
  { rosters, directory }: ProvenKeys,
): Promise<ReadonlyMap<Sha256Hash, StatementType>> {
  const found = new Map<Sha256Hash, StatementType>();
  const add = (type: StatementType, statement: string) => found.set(hashText(nativeSuite, statement), type);
  for (const { statement } of rosters.signed) add('roster', statement);
  // Those that do not read are reported with the keys.
  const rivals = readRows({ ...check, report: new Report() }, rivalRosterTable);
  for await (const { value } of rivals) if (value !== undefined) add('roster', value.statement);
  for (const { certificate, signed } of directory.all()) {
    add('key', signed.statement);
    const revoked = directory.revocation(certificate.node, certificate.keyId);
    if (revoked !== undefined) add('revocation', revoked.signed.statement);
  }
  return found;
}
