import { isPackId } from '../../protocol/api/evidence-packs.ts';
import { readOwnRecord } from '../records/record-reader.ts';
import {
  packFederationTable,
  packHorizonTable,
  packLifetimeTable,
  packQuestionTable,
  packSignatureTable,
  packTable,
  questionHash,
} from '../packs/pack-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/**
 * Packs of evidence: each stands under its account and its id, answers one question that leads to it, and of one that was
 * made there is the record. Their files are no part of the store.
 */
export const packCheck: TableCheck = {
  tables: [packTable, packQuestionTable, packFederationTable, packSignatureTable, packHorizonTable, packLifetimeTable],
  async run(check) {
    const ids = await checkPacks(check);
    await checkQuestions(check);
    await checkParts(check, ids);
    await Array.fromAsync(readRows(check, packHorizonTable));
    await Array.fromAsync(readRows(check, packLifetimeTable));
  },
};

/** Ids of the packs that there are. */
async function checkPacks({ own, ...check }: Check): Promise<ReadonlySet<string>> {
  const { report, store } = check;
  const ids = new Set<string>();
  for await (const { key, parts, value } of readRows(check, packTable)) {
    report.count('packs');
    const problem = (detail: string): void => report.problem(packTable.name, key, detail);
    ids.add(parts[1] ?? '');
    if (value === undefined) continue;
    const { id, question, made } = value;
    if (question.account !== parts[0] || id !== parts[1]) problem('is of another account, or another pack');
    if ((await packQuestionTable.get(store, question.account, questionHash(question))) !== id) {
      problem('is not the answer to its question');
    }
    if (own === null || made === null) continue;
    const record = await readOwnRecord(store, own, made.attestationId).catch(() => undefined);
    if (record?.claims.packManifest !== made.manifestHash) problem('has no record that names its manifest');
  }
  return ids;
}

async function checkQuestions(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, packQuestionTable)) {
    if (value === undefined) continue;
    const pack = isPackId(value)
      ? await packTable.get(check.store, parts[0] ?? '', value).catch(() => undefined)
      : undefined;
    if (pack !== undefined && questionHash(pack.question) === parts[1]) continue;
    check.report.problem(packQuestionTable.name, key, 'leads to a pack that is not there, or of another question');
  }
}

/** What is kept for a pack is of one that there is. */
async function checkParts(check: Check, ids: ReadonlySet<string>): Promise<void> {
  for (const table of [packFederationTable, packSignatureTable]) {
    for await (const { key, parts } of readRows<unknown>(check, table)) {
      if (!ids.has(parts[0] ?? '')) check.report.problem(table.name, key, 'is of no pack');
    }
  }
}
