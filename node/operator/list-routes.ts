import { isAbsolute } from 'node:path';
import type { Context } from 'koa';
import type { JsonObject } from '../../protocol/json/value.ts';
import { readJsonBody } from '../http/body.ts';
import { fieldError, Problem } from '../http/problem.ts';
import type { Call, OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import type { ListServices } from '../screening/lists/list-services.ts';
import type { Edition } from '../screening/lists/contract.ts';
import { freshnessOf } from '../screening/lists/freshness.ts';
import { ListError } from '../screening/lists/list-error.ts';
import { readListFolder } from '../screening/lists/list-folder.ts';
import { isListId, LIST_IDS, type ListId } from '../screening/lists/list-id.ts';
import type { Taken } from '../screening/lists/list-registry.ts';
import { listSourceTable } from '../screening/lists/list-tables.ts';
import type { Store } from '../store/store.ts';
import {
  type EditionAnswer,
  ImportListShape,
  type ListOutcome,
  type ListState,
  UpdateListShape,
} from './list-forms.ts';

/** What the routes of lists stand on. */
export interface ListRoutesOptions extends ListServices {
  readonly store: Store;
  readonly now: () => number;
}

const MAX_BYTES = 16 << 10;

const validateImport = validator(ImportListShape);
const validateUpdate = validator(UpdateListShape);

/** The official lists of a running node: what is in force, and how an operator brings in another edition. */
export function operatorListRoutes(options: ListRoutesOptions): readonly OperatorRoute[] {
  const { lists, listUpdates } = options;
  return [
    {
      method: 'GET',
      path: '/lists',
      access: 'free',
      answer: async () => ({
        body: { success: true, lists: await Promise.all(LIST_IDS.map((listId) => stateOf(options, listId))) },
      }),
    },
    changing('/lists/:list/import', options, async (listId, body) => {
      const { directory, acceptShrink = false } = validateImport(body);
      if (!isAbsolute(directory)) {
        const errors = [fieldError(['directory'], 'pattern', 'must be an absolute path')];
        throw new Problem('invalid-field', 'directory is not an absolute path', { errors });
      }
      const folder = await readListFolder(directory, listId);
      if (folder === undefined) return undefined;
      const { files, ignored } = folder;
      const taken = await lists.take(listId, { files, origin: { kind: 'import', urls: [] }, acceptShrink });
      return { ...taken, ignored };
    }),
    changing('/lists/:list/update', options, async (listId, body) => {
      const { acceptShrink = false } = validateUpdate(body);
      if (listUpdates === null) throw new ListError('no-source', 'no source is configured (LISTS_SOURCES)');
      return { ...(await listUpdates.update(listId, acceptShrink)), ignored: [] };
    }),
  ];
}

type Change = (
  listId: ListId,
  body: JsonObject,
) => Promise<(Taken & { readonly ignored: readonly string[] }) | undefined>;

/** What is refused for the sake of the list is an outcome, not an error of the question. */
function changing(path: string, { lists }: ListRoutesOptions, change: Change): OperatorRoute {
  const inForce = (listId: ListId) => {
    const edition = lists.current().get(listId);
    return edition === undefined ? null : editionAnswer(edition);
  };
  const outcomeOf = async (listId: ListId, body: JsonObject): Promise<ListOutcome> => {
    const plain = { success: true, listId, code: null, detail: null, ignored: [] } as const;
    try {
      const taken = await change(listId, body);
      if (taken === undefined) return { ...plain, ignored: [], outcome: 'not-given', edition: inForce(listId) };
      const { unchanged, edition, ignored } = taken;
      const outcome = unchanged ? 'unchanged' : 'taken';
      return { ...plain, outcome, ignored: [...ignored], edition: editionAnswer(edition) };
    } catch (error) {
      if (!(error instanceof ListError)) throw error;
      const { code, message: detail } = error;
      return { ...plain, ignored: [], outcome: 'refused', code, detail, edition: inForce(listId) };
    }
  };
  return {
    method: 'POST',
    path,
    access: 'free',
    answer: async ({ context, params }) => ({ body: { ...(await outcomeOf(listOf(params), await bodyOf(context))) } }),
  };
}

async function stateOf({ lists, listUpdates, store, now }: ListRoutesOptions, listId: ListId): Promise<ListState> {
  const edition = lists.current().get(listId);
  const row = await listSourceTable.get(store, listId);
  const missing = (await lists.isDamaged(listId)) ? 'damaged' : 'missing';
  return {
    listId,
    freshness: edition === undefined ? missing : freshnessOf(edition, now()),
    edition: edition === undefined ? null : editionAnswer(edition),
    kept: await lists.kept(listId),
    source:
      listUpdates?.has(listId) === true ? { checkedAt: row?.checkedAt ?? null, failure: row?.failure ?? null } : null,
  };
}

function editionAnswer(edition: Edition): EditionAnswer {
  const { fileHash, fileDate, retrievedAt, entryCount, nameCount, unmatchedRows, sample, attestationId } = edition;
  return { fileHash, fileDate, retrievedAt, entryCount, nameCount, unmatchedRows, sample, attestationId };
}

/** Throws `Problem` 400. */
function listOf({ list = '' }: Call['params']): ListId {
  if (isListId(list)) return list;
  throw new Problem('invalid-field', 'there is no such list', { errors: [fieldError(['list'], 'enum', 'is no list')] });
}

async function bodyOf(context: Context): Promise<JsonObject> {
  return (await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value;
}
