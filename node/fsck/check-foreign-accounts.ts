import { homeOf } from '../../protocol/accounts/account-id.ts';
import { readAccountStatement } from '../../protocol/accounts/statement.ts';
import { decodeBase64url } from '../../protocol/bytes.ts';
import {
  foreignKeyTable,
  type HeldStatement,
  heldStatementTable,
  wantedStatementTable,
} from '../accounts/elsewhere/held-statement-tables.ts';
import { judgeStatement } from '../accounts/elsewhere/statement-check.ts';
import type { Check, TableCheck } from './check.ts';
import { recordOfId } from './record-at.ts';
import { reasonOf, readRows } from './rows.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const DIGEST_AT = 'sha256:'.length;

/** Statements of accounts of other nodes: each is what its home signed, and its keys are found by their digests. */
export const foreignAccountCheck: TableCheck = {
  tables: [heldStatementTable, foreignKeyTable, wantedStatementTable],
  async run(check) {
    await checkStatements(check);
    await checkKeys(check);
    await checkWanted(check);
  },
};

async function checkStatements(check: Check): Promise<void> {
  const { report, store, own } = check;
  for await (const { key, parts, value } of readRows(check, heldStatementTable)) {
    report.count('foreignStatements');
    const [home, account = '', seq] = parts;
    if (homeOf(account) !== home || home === own) {
      report.problem(heldStatementTable.name, key, 'is of no account of another node');
    }
    if (value === undefined) continue;
    const record = await recordOfId(store, value.id);
    // A fork may have taken it along, and the row goes with the next look at the account.
    if (record === undefined) {
      report.warning(heldStatementTable.name, key, `is of the record ${value.id}, which is not held`);
    } else if (
      record.kind !== 'account' ||
      record.account !== account ||
      record.node !== home ||
      record.seq !== Number(seq)
    ) {
      report.problem(heldStatementTable.name, key, `is of the record ${value.id}, which is of another place`);
    } else if (judge(value, (payload) => judgeStatement(record, payload)) !== 'holds') {
      report.problem(heldStatementTable.name, key, 'is not what its home signed');
    } else await checkStated(check, key, account, value);
  }
}

/** Damaged text encodings are no statement. */
function judge({ salt, text }: HeldStatement, judged: (payload: { salt: Uint8Array; text: string }) => string): string {
  try {
    return judged({ salt: decodeBase64url(salt), text });
  } catch (error) {
    return reasonOf(error);
  }
}

async function checkStated(
  { report, store }: Check,
  key: string,
  account: string,
  { text }: HeldStatement,
): Promise<void> {
  for (const { id, hash } of readAccountStatement(text).keys) {
    const row = await foreignKeyTable.get(store, hash.slice(DIGEST_AT)).catch(() => undefined);
    if (row?.accounts.includes(account) === true || row?.contested === true) continue;
    // Of a key that many accounts state, only some are kept.
    report.warning(heldStatementTable.name, key, `its key ${id} is not found by its digest`);
  }
}

async function checkKeys(check: Check): Promise<void> {
  const { report } = check;
  for await (const { key, parts, value } of readRows(check, foreignKeyTable)) {
    const [digest = ''] = parts;
    if (!DIGEST.test(digest)) report.problem(foreignKeyTable.name, key, 'is no digest of a key');
    if (value === undefined) continue;
    for (const account of value.accounts) {
      if (await states(check, account, digest)) continue;
      report.problem(foreignKeyTable.name, key, `leads to ${account}, of which no held statement states the key`);
    }
    if (value.accounts.length > 1 && !value.contested) {
      report.problem(foreignKeyTable.name, key, 'leads to several accounts and is not contested');
    }
  }
}

async function states({ store }: Check, account: string, digest: string): Promise<boolean> {
  const home = homeOf(account);
  if (home === undefined) return false;
  try {
    for await (const [, { text }] of heldStatementTable.under(store, [home, account])) {
      if (readAccountStatement(text).keys.some(({ hash }) => hash.slice(DIGEST_AT) === digest)) return true;
    }
  } catch {
    // The walk over the statements reports it.
    return true;
  }
  return false;
}

async function checkWanted(check: Check): Promise<void> {
  const { report, store, own } = check;
  for await (const { key, parts, value } of readRows(check, wantedStatementTable)) {
    const [home, account = '', seq] = parts;
    if (homeOf(account) !== home || home === own) {
      report.problem(wantedStatementTable.name, key, 'is of no account of another node');
    }
    if (value === undefined) continue;
    const record = await recordOfId(store, value);
    if (record === undefined) {
      report.warning(wantedStatementTable.name, key, `wants the record ${value}, which is not held`);
    } else if (
      record.kind !== 'account' ||
      record.account !== account ||
      record.node !== home ||
      record.seq !== Number(seq)
    ) {
      report.problem(wantedStatementTable.name, key, `wants the record ${value}, which is of another place`);
    }
  }
}
