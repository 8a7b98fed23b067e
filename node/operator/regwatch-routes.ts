import { readFile, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Static } from 'typebox';
import type { JsonObject } from '../../protocol/json/value.ts';
import { readJsonBody } from '../http/body.ts';
import { fieldError, Problem } from '../http/problem.ts';
import type { Call, OperatorRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';
import { MAX_DOCUMENT_BYTES } from '../services/regulatory-feed/document-reader.ts';
import type { SourceTerms } from '../services/regulatory-feed/entry.ts';
import type { ItemOutcome, OwnItem } from '../services/regulatory-feed/item-intake.ts';
import { RegwatchError } from '../services/regulatory-feed/regwatch-error.ts';
import type { RegwatchServices } from '../services/regulatory-feed/regwatch-services.ts';
import { type Source, termsOf } from '../services/regulatory-feed/sources.ts';
import {
  AddItemsShape,
  CorrectItemShape,
  IngestShape,
  type RegwatchState,
  type SourceAnswer,
  type WrittenItem,
} from './regwatch-forms.ts';

const MAX_BYTES = 2 << 20;
const NEWEST = 10;

const validateItems = validator(AddItemsShape);
const validateCorrection = validator(CorrectItemShape);
const validateIngest = validator(IngestShape);

/** The regulatory feed of a running node: how its sources do, and how an operator brings in items and corrects them. */
export function regwatchRoutes(services: RegwatchServices): readonly OperatorRoute[] {
  const { regItems } = services;
  return [
    { method: 'GET', path: '/regwatch', access: 'free', answer: async () => ({ body: await stateOf(services) }) },
    changing('/regwatch/items', async (body) => {
      const items: ItemOutcome[] = [];
      for (const item of validateItems(body).items.map(ownItem)) items.push(await regItems.add(item));
      return { items: items.map(plain) };
    }),
    changing('/regwatch/items/:item', async (body, { params }) => {
      const corrected = await regItems.correct(params.item ?? '', validateCorrection(body));
      return { items: [plain(corrected)] };
    }),
    changing('/regwatch/ingest', async (body) => {
      const { file, source } = validateIngest(body);
      const terms = sourceOf(source, services.regSources.sources);
      return { ...(await regItems.ingest({ bytes: await readDocumentFile(file), contentType: null }, terms)) };
    }),
  ];
}

function changing(path: string, change: (body: JsonObject, call: Call) => Promise<JsonObject>): OperatorRoute {
  return {
    method: 'POST',
    path,
    access: 'free',
    async answer(call) {
      const { value } = await readJsonBody(call.context.req, { maxBytes: MAX_BYTES });
      try {
        return { body: { success: true, ...(await change(value, call)) } };
      } catch (error) {
        if (!(error instanceof RegwatchError)) throw error;
        const field = error.code === 'document-refused' ? 'file' : error.code === 'item-unknown' ? 'item' : 'source';
        throw refused(field, error.message, error);
      }
    },
  };
}

async function stateOf({ regSources, regFeed }: RegwatchServices): Promise<RegwatchState> {
  const { items } = await regFeed.page({}, NEWEST);
  return {
    success: true,
    sources: await Promise.all(
      regSources.sources.map(async ({ url, terms: { id, authority } }): Promise<SourceAnswer> => {
        const state = await regSources.state(id);
        const { checkedAt = null, succeededAt = null, nextAt = null, failures = 0, error = null } = state ?? {};
        return { id, url, authority, checkedAt, succeededAt, nextAt, failures, error };
      }),
    ),
    newest: items.map(({ ingestedAt, revision: { itemId, sample, content } }) => ({
      itemId,
      title: content.title,
      ingestedAt,
      sample,
    })),
  };
}

function ownItem({ id, sample = false, ...content }: WrittenItem): OwnItem {
  const key = id ?? content.sourceUrl ?? null;
  if (key === null) throw refused('items', 'an item has an id or a sourceUrl');
  const empty = { summary: '', citation: null, publishedAt: null, effectiveAt: null, keyDates: [], sourceUrl: null };
  return { key, sample, content: { ...empty, ...content } };
}

function plain({ itemId, outcome, attestationId }: ItemOutcome): JsonObject {
  return { itemId, outcome, attestationId };
}

/** A configured source has its own terms; any other has those that are given. */
function sourceOf(given: Static<typeof IngestShape>['source'], configured: readonly Source[]): SourceTerms {
  const { id, authority, ...rest } = given;
  const known = configured.find(({ terms }) => terms.id === id);
  if (known !== undefined && Object.keys(given).length > 1) {
    throw refused('source', `${id} is configured, and its terms with it`);
  }
  if (known !== undefined) return known.terms;
  if (authority !== undefined) return termsOf({ id, authority, ...rest });
  throw new RegwatchError('source-unknown', `no source ${id} is configured; its authority must be given`);
}

/** Throws `RegwatchError` where it is no file of a document's size. */
async function readDocumentFile(path: string): Promise<Uint8Array> {
  if (!isAbsolute(path)) throw refused('file', 'is not an absolute path');
  try {
    const about = await stat(path);
    if (!about.isFile() || about.size > MAX_DOCUMENT_BYTES) {
      throw new RegwatchError('document-refused', `it is no file of up to ${MAX_DOCUMENT_BYTES} bytes`);
    }
    return await readFile(path);
  } catch (error) {
    if (error instanceof RegwatchError) throw error;
    throw new RegwatchError('document-refused', `${path} cannot be read`, error);
  }
}

function refused(field: string, message: string, cause?: unknown): Problem {
  return new Problem('invalid-field', `${field}: ${message}`, {
    errors: [fieldError([field], 'invalid', message)],
    cause,
  });
}
