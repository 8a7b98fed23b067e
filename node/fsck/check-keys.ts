import { KeyDirectory } from '../../protocol/keys/key-directory.ts';
import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import { decodeBase64url } from '../../protocol/bytes.ts';
import { signatureHolds, type SignedStatement } from '../../protocol/statement/statement.ts';
import {
  certificateParts,
  certificateTable,
  revocationParts,
  revocationTable,
} from '../log/members/federation-keys.ts';
import {
  GIVEN_ROSTERS_ROW,
  givenRostersTable,
  readGivenRosters,
  readNewestRosters,
} from '../log/members/given-rosters.ts';
import { rosterVoteTable } from '../federation/roster-votes.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { FORMAT_KEY } from '../store/format.ts';
import type { Table } from '../store/table.ts';
import type { ProvenKeys } from './check.ts';
import { readRows, reasonOf, type RowSource } from './rows.ts';

export const KEY_TABLES = [givenRostersTable, rosterVoteTable, certificateTable, revocationTable];

const GIVEN_KEY = givenRostersTable.key(GIVEN_ROSTERS_ROW);

/**
 * Rosters from genesis on, which all its members signed, each linked to the one before, and the certificates and
 * revocations under their identity keys. Memory grows with members and keys, not with records. Null where the store has
 * no valid roster.
 */
export async function checkKeys(source: RowSource): Promise<ProvenKeys | null> {
  const rosters = await readRosters(source);
  if (rosters === null) {
    // A store that was opened and never used has the row of its format alone.
    const rows = await Array.fromAsync(source.store.range({ limit: 2 }));
    if (rows.some(([key]) => key !== FORMAT_KEY)) {
      source.report.problem(givenRostersTable.name, null, 'the store has rows and no valid roster');
    }
    source.report.notChecked.push('signatures: the store has no valid roster');
    return null;
  }
  source.report.count('rosters', rosters.rosters.length);
  await checkVotes(source, rosters);
  // Which revocations the ledger names is not known yet: none may give way to another.
  const directory = new KeyDirectory(
    nativeSuite,
    () => rosters,
    () => true,
  );
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

/**
 * The newest rosters that the store knows; those that were given, where the log does not read, which is reported there.
 */
async function readRosters(source: RowSource): Promise<RosterChain | null> {
  for await (const { key } of readRows(source, givenRostersTable)) {
    if (key !== GIVEN_KEY) source.report.problem(givenRostersTable.name, key, 'belongs to nothing');
  }
  try {
    const given = await readGivenRosters(source.store);
    return given && (await readNewestRosters(source.store).catch(() => given));
  } catch (error) {
    source.report.problem(givenRostersTable.name, GIVEN_KEY, `the rosters do not hold: ${reasonOf(error)}`);
    return null;
  }
}

/** A vote is a roster of its version, signed by one who was a member. */
async function checkVotes(source: RowSource, rosters: RosterChain): Promise<void> {
  for await (const { key, value } of readRows(source, rosterVoteTable)) {
    if (value === undefined) continue;
    try {
      const { signed } = value;
      const { version } = rosterStatement.parse(signed.statement);
      if (rosterVoteTable.key(version) !== key) throw new RangeError('stands under another key');
      const isSigned = rosters.nodes
        .flatMap((node) => rosters.identityKeys(node))
        .some((identity) => signatureHolds(nativeSuite, rosterStatement, signed, decodeBase64url(identity)));
      if (!isSigned) throw new RangeError('is signed by no member');
    } catch (error) {
      source.report.problem(rosterVoteTable.name, key, reasonOf(error));
    }
  }
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
