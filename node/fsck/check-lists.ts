import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import { manifestIn, verifyFiles } from '../screening/lists/edition-files.ts';
import { editionDirectory } from '../screening/lists/edition-staging.ts';
import { survey } from '../screening/lists/edition-survey.ts';
import { ListError } from '../screening/lists/list-error.ts';
import { isListId, LIST_IDS, type ListId } from '../screening/lists/list-id.ts';
import {
  attestedEdition,
  hashPart,
  listEditionTable,
  listImportTable,
  listSourceTable,
} from '../screening/lists/list-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { recordOfId } from './record-at.ts';
import { readRows } from './rows.ts';

/** How the last looks at the sources of lists went. */
export const listCheck: TableCheck = {
  tables: [listSourceTable],
  async run(check) {
    for await (const { key, parts, value } of readRows(check, listSourceTable)) {
      const [listId = ''] = parts;
      const isOfList = parts.length === 1 && isListId(listId);
      const { fileHash = null } = value ?? {};
      if (!isOfList) check.report.problem(listSourceTable.name, key, 'belongs to no list');
      else if (fileHash !== null && !(await wasInForce(check, listId, fileHash))) {
        check.report.problem(listSourceTable.name, key, 'names an edition that no record attests');
      }
    }
  },
};

/**
 * The files of every edition that a record attests: each is the one that was hashed, and those in force are read again
 * and hold what their manifest says. The rows that lead to the records follow from these, which the walk over the
 * chains has proven.
 */
export async function checkEditions(home: string, check: Check): Promise<void> {
  const inForce = new Map<ListId, Sha256Hash>();
  for (const listId of LIST_IDS) {
    const hash = await hashInForce(check, listId);
    if (hash !== undefined) inForce.set(listId, hash);
  }
  let before = '';
  for await (const { parts } of readRows(check, listEditionTable)) {
    const [listId = '', hex = ''] = parts;
    const fileHash = `sha256:${hex}`;
    if (!isListId(listId) || !isSha256Hash(fileHash) || before === listId + hex) continue;
    before = listId + hex;
    check.report.count('listEditions');
    await checkEdition(home, check, listId, fileHash, inForce.get(listId) === fileHash);
  }
}

async function hashInForce({ store }: Check, listId: ListId): Promise<Sha256Hash | undefined> {
  const last = await listImportTable.last(store, [listId]);
  const record = last === undefined ? undefined : await recordOfId(store, last[1]);
  return record === undefined ? undefined : attestedEdition(record)?.fileHash;
}

async function wasInForce({ store }: Check, listId: ListId, fileHash: Sha256Hash): Promise<boolean> {
  return (await listEditionTable.last(store, [listId, hashPart(fileHash)])) !== undefined;
}

/** What is gone can be imported again, and is then the same; what is other was changed. */
async function checkEdition(
  home: string,
  { report }: Check,
  listId: ListId,
  fileHash: Sha256Hash,
  isInForce: boolean,
): Promise<void> {
  const directory = editionDirectory(join(home, 'lists'), listId, fileHash);
  const key = join(listId, hashPart(fileHash));
  try {
    const { v, listId: _, fileHash: hash, files, ...content } = await manifestIn(directory);
    if (v !== 1 || hash !== fileHash) throw new ListError('damaged', 'they are those of another edition');
    await verifyFiles(directory, files);
    if (isInForce && !isDeepStrictEqual(await survey(directory, { listId, files }), content)) {
      throw new ListError('damaged', 'the manifest does not say what they hold');
    }
  } catch (error) {
    if (!(error instanceof ListError)) throw error;
    const isGone = error.cause instanceof Error && 'code' in error.cause && error.cause.code === 'ENOENT';
    if (isGone) report.warning('lists', key, `the files of the edition are gone: ${error.message}`);
    else report.problem('lists', key, `the files of the edition: ${error.message}`);
  }
}
