import { KeyDirectory } from '../../protocol/keys/key-directory.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import { decodeBase64url } from '../../protocol/bytes.ts';
import { signatureHolds, type SignedStatement } from '../../protocol/statement/statement.ts';
import { certificateParts, certificateTable, revocationParts, revocationTable } from '../federation/federation-keys.ts';
import { rivalRosterTable, rosterTable } from '../federation/roster-book.ts';
import { rosterVoteTable } from '../federation/roster-votes.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { FORMAT_KEY } from '../store/format.ts';
import type { Table } from '../store/table.ts';
import type { ProvenKeys } from './check.ts';
import { readRows, reasonOf, type RowSource } from './rows.ts';

export const KEY_TABLES = [rosterTable, rivalRosterTable, rosterVoteTable, certificateTable, revocationTable];

/**
 * Rosters from genesis on, each authorised by the one before, and the certificates and revocations under their identity
 * keys. Memory grows with members and keys, not with records. Null where the store has no valid roster.
 */
export async function checkKeys(source: RowSource): Promise<ProvenKeys | null> {
  const rosters = openLongest(source, await readRosters(source));
  if (rosters === null) {
    // A store that was opened and never used has the row of its format alone.
    const rows = await Array.fromAsync(source.store.range({ limit: 2 }));
    if (rows.some(([key]) => key !== FORMAT_KEY)) {
      source.report.problem(rosterTable.name, null, 'the store has rows and no valid roster');
    }
    source.report.notChecked.push('signatures: the store has no valid roster');
    return null;
  }
  source.report.count('rosters', rosters.rosters.length);
  await checkRivals(source, rosters);
  await checkVotes(source, rosters);
  // Which revocations the ledger names is not known yet: none may give way to another.
  const directory = new KeyDirectory(nativeSuite, () => rosters, () => true);
  await checkStatements(source, certificateTable, (signed) => {
    const key = directory.addCertificate(signed);
    if (key === null) throw new RangeError('says no more than another one that is kept');
    source.report.count('certificates');
    return certificateParts(key);
  });
  await checkStatements(source, revocationTable, (signed) => {
    const { known } = directory.addRevocation(signed);
    source.report.count('revocations');
    return revocationParts(known);
  });
  return { rosters, directory };
}

async function readRosters(source: RowSource): Promise<SignedRoster[]> {
  const rosters: SignedRoster[] = [];
  for await (const { key, value } of readRows(source, rosterTable)) {
    if (key !== rosterTable.key(rosters.length + 1)) {
      source.report.problem(rosterTable.name, key, `roster ${rosters.length + 1} should stand here`);
    }
    if (value !== undefined) rosters.push(value);
  }
  return rosters;
}

/**
 * A rival is signed by the quorum that could, of the roster that it follows: one in force, or a rival. Rows come in order
 * of versions.
 */
async function checkRivals(source: RowSource, rosters: RosterChain): Promise<void> {
  const chains = rosters.rosters.map(({ version }) => rosters.upTo(version));
  for await (const { key, value } of readRows(source, rivalRosterTable)) {
    if (value === undefined) continue;
    try {
      const { version, previous } = rosterStatement.parse(value.statement);
      const before = chains.find(({ hash }) => hash === previous);
      if (before === undefined) throw new RangeError('follows no roster that is here');
      const chain = before.follow(nativeSuite, value);
      if (rivalRosterTable.key(version, chain.hash) !== key) throw new RangeError('stands under another key');
      if (rosters.signed[version - 1]?.statement === value.statement) throw new RangeError('is no rival');
      chains.push(chain);
      source.report.count('rivalRosters');
    } catch (error) {
      source.report.problem(rivalRosterTable.name, key, reasonOf(error));
    }
  }
}

/** A vote is a roster of its version, signed by one who was a member. */
async function checkVotes(source: RowSource, rosters: RosterChain): Promise<void> {
  for await (const { key, value } of readRows(source, rosterVoteTable)) {
    if (value === undefined) continue;
    try {
      const { version } = rosterStatement.parse(value.statement);
      if (rosterVoteTable.key(version) !== key) throw new RangeError('stands under another key');
      const isSigned = rosters.nodes
        .flatMap((node) => rosters.identityKeys(node))
        .some((identity) => signatureHolds(nativeSuite, rosterStatement, value, decodeBase64url(identity)));
      if (!isSigned) throw new RangeError('is signed by no member');
    } catch (error) {
      source.report.problem(rosterVoteTable.name, key, reasonOf(error));
    }
  }
}

/** The rosters as far as they hold. */
function openLongest({ report }: RowSource, rosters: readonly SignedRoster[]): RosterChain | null {
  for (let length = rosters.length; length > 0; length--) {
    try {
      return RosterChain.open(nativeSuite, rosters.slice(0, length));
    } catch (error) {
      report.problem(rosterTable.name, rosterTable.key(length), reasonOf(error));
    }
  }
  return null;
}

/** Adds every statement of a table; `add` throws on what does not hold, and names the key parts of its row. */
async function checkStatements(
  source: RowSource,
  table: Table<SignedStatement>,
  add: (signed: SignedStatement) => readonly string[],
): Promise<void> {
  for await (const { key, value } of readRows(source, table)) {
    if (value === undefined) continue;
    try {
      if (table.key(...add(value)) !== key) source.report.problem(table.name, key, 'stands under another key');
    } catch (error) {
      source.report.problem(table.name, key, reasonOf(error));
    }
  }
}
