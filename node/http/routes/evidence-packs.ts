import { createReadStream } from 'node:fs';
import {
  DeletedPackAnswerShape,
  isPackId,
  PACK_TYPE,
  type PackAnswer,
  PackAnswerShape,
  type PackId,
  PackIdShape,
  PackLifetimeAnswerShape,
  PackLifetimeShape,
  PackRequestShape,
  PACKS_EXAMPLE,
  PacksAnswerShape,
} from '../../../protocol/api/evidence-packs.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { ApiKeys } from '../../accounts/api-keys.ts';
import { type Caller, whoActsBy } from '../../accounts/caller.ts';
import type { PackRow } from '../../packs/pack-tables.ts';
import type { Packs } from '../../packs/packs.ts';
import { readJsonBody } from '../body.ts';
import { byteRange } from '../byte-range.ts';
import { fieldProblem, Problem } from '../problem.ts';
import type { Answer, Call, KeyRoute } from '../route.ts';
import { validator } from '../validation.ts';
import { packQuestion, type QuestionSources, requireProofWindowOf, requirePackReach } from './pack-question.ts';

const BODY = { maxBytes: 64 << 10 };
const PATH = '/v1/evidence-packs';
const DAY_MS = 86_400_000;
const PACK_PARAMETER = { id: { description: 'Id of the pack.', shape: PackIdShape, example: EXAMPLE_IDS.pack } };

export interface PackRouteServices extends QuestionSources {
  readonly packs: Packs;
  readonly accounts: { readonly keys: Pick<ApiKeys, 'isInPlaceOf'> };
  /** Throws where the node has no storage left. */
  readonly requireStorage: () => void;
}

const validateRequest = validator(PackRequestShape);
const validateLifetime = validator(PackLifetimeShape);

/** Packs of evidence (api-rules §2.9): what was recorded of sources in a period, in one file that proves itself. */
export function packRoutes(services: PackRouteServices): readonly KeyRoute[] {
  return [
    askRoute(services),
    listRoute(services),
    lifetimeRoute(services),
    readRoute(services),
    fileRoute(services),
    deleteRoute(services),
  ];
}

function askRoute(services: PackRouteServices): KeyRoute {
  const { packs, requireStorage } = services;
  return {
    method: 'POST',
    path: PATH,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'Asks for a pack of evidence',
      description:
        'Everything that was recorded of sources, or of the sources of systems, from `from` on and before `to`, with its ' +
        'proofs, a report by clauses, and the account’s key-use log of the period. `kinds` narrows tables and CSV alone. ' +
        'It is made in the background: `GET /v1/evidence-packs/:id` says how far it is. The first asking fixes the answer; ' +
        'the same question, `asOf` included, is answered with the same file afterwards, but for its signature, for what ' +
        'was erased since and for checkpoints whose key was compromised. With `disclosure` the contents of the records are ' +
        'in it, which is a line of the key-use log: at the home of the account alone, and where it made all the records.',
      request: { shape: PackRequestShape, example: PACKS_EXAMPLE.request },
      answer: { shape: PackAnswerShape, example: PACKS_EXAMPLE.answer },
      problems: [
        'missing-field',
        'invalid-field',
        'time-order',
        'time-in-future',
        'proof-window-expired',
        'source-not-found',
        'system-not-found',
        'framework-not-found',
        'payload-elsewhere',
        'as-of-unavailable',
        'packs-busy',
        'storage-full',
      ],
    },
    async answer({ context }, caller) {
      const request = validateRequest((await readJsonBody(context.req, BODY)).value);
      const { question, nodes } = await packQuestion(services, caller, request);
      requireStorage();
      const row = await packs.ask(question, { key: caller.key.id, by: whoActsBy(caller.key), nodes });
      return { body: { success: true, ...(await answerOf(services, row)) } };
    },
  };
}

function listRoute(services: PackRouteServices): KeyRoute {
  const { packs } = services;
  return {
    method: 'GET',
    path: PATH,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'The packs of the account at this node',
      description: 'The newest first: those that are there, in the making, or failed.',
      answer: { shape: PacksAnswerShape, example: PACKS_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, caller) {
      requirePackReach(caller);
      const rows = await packs.list(caller.account.id);
      const answers = await Promise.all(rows.map((row) => answerOf(services, row)));
      return { body: { success: true, packs: answers, lifetimeDays: await packs.lifetimeDays(caller.account.id) } };
    },
  };
}

function lifetimeRoute({ packs }: PackRouteServices): KeyRoute {
  return {
    method: 'PUT',
    path: `${PATH}/lifetime`,
    access: 'key',
    scope: 'governance:write',
    documentation: {
      summary: 'How long the files of the account’s packs are kept',
      description: 'At this node, in days from when each is ready; those that are there already go by it too.',
      request: { shape: PackLifetimeShape, example: PACKS_EXAMPLE.lifetime.request },
      answer: { shape: PackLifetimeAnswerShape, example: PACKS_EXAMPLE.lifetime.answer },
      problems: ['missing-field', 'invalid-field'],
    },
    async answer({ context }, caller) {
      requirePackReach(caller);
      const { days } = validateLifetime((await readJsonBody(context.req, BODY)).value);
      await packs.setLifetime(caller.account.id, days);
      return { body: { success: true, lifetimeDays: days } };
    },
  };
}

function readRoute(services: PackRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: `${PATH}/:id`,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'How far a pack is',
      params: PACK_PARAMETER,
      answer: { shape: PackAnswerShape, example: PACKS_EXAMPLE.answer },
      problems: ['invalid-field', 'pack-not-found'],
    },
    async answer({ params }, caller) {
      requirePackReach(caller);
      const row = await services.packs.get(caller.account.id, packParameter(params));
      return { body: { success: true, ...(await answerOf(services, row)) } };
    },
  };
}

function fileRoute(services: PackRouteServices): KeyRoute {
  return {
    method: 'GET',
    path: `${PATH}/:id/file`,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'The file of a pack',
      description:
        'A ZIP, or one part of it where `Range` asks for that (RFC 9110 §14). Its `ETag` is that of the file as it is now: ' +
        'with it in `If-Range` a download that broke off goes on, or begins again where the file is another one.',
      params: PACK_PARAMETER,
      answer: { contentType: PACK_TYPE, example: 'PK' },
      headers: ['Accept-Ranges', 'Content-Disposition', 'Content-Range'],
      otherStatuses: { 206: 'One part of the file.' },
      problems: [
        'invalid-field',
        'pack-not-found',
        'pack-not-ready',
        'proof-window-expired',
        'as-of-unavailable',
        'range-not-satisfiable',
      ],
    },
    answer: (call, caller) => fileAnswer(services, call, caller),
  };
}

async function fileAnswer({ packs, now }: PackRouteServices, call: Call, caller: Caller): Promise<Answer> {
  requirePackReach(caller);
  const { context, params } = call;
  const { row, path } = await packs.file(caller.account.id, packParameter(params));
  requireProofWindowOf(row.question, caller.account.tier, now());
  const { bytes = 0, manifestHash = '', readyAt = '' } = row.made ?? {};
  const tag = `"${manifestHash.slice('sha256:'.length)}.${Date.parse(readyAt)}"`;
  const asked = { range: context.get('Range'), ifRange: context.get('If-Range') };
  const range = byteRange(asked, { bytes, tag });
  const headers = {
    'Content-Type': PACK_TYPE,
    'Content-Disposition': `attachment; filename="${row.id}.zip"`,
    'Accept-Ranges': 'bytes',
    ETag: tag,
  };
  if (range === null) {
    return { headers: { ...headers, 'Content-Length': String(bytes) }, body: createReadStream(path) };
  }
  const { from, end } = range;
  return {
    status: 206,
    headers: {
      ...headers,
      'Content-Length': String(end - from),
      'Content-Range': `bytes ${from}-${end - 1}/${bytes}`,
    },
    body: createReadStream(path, { start: from, end: end - 1 }),
  };
}

function deleteRoute(services: PackRouteServices): KeyRoute {
  const { packs } = services;
  return {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'Deletes the file of a pack, or ends its making',
      description:
        'By who had it made (the same key, one that rotations at this node put in its place, or the same person who signs ' +
        'in by mail) or a key with `governance:write`; one of an earlier release, which did not keep who that was, by the ' +
        'latter alone. What it answers stays fixed: who asks the same again has the same file made.',
      params: PACK_PARAMETER,
      answer: { shape: DeletedPackAnswerShape, example: PACKS_EXAMPLE.deleted },
      problems: ['invalid-field', 'pack-not-found'],
    },
    async answer({ params }, caller) {
      requirePackReach(caller);
      const id = packParameter(params);
      await requireAsker(services, caller, await packs.get(caller.account.id, id));
      await packs.remove(caller.account.id, id);
      return { body: { success: true, packId: id, deleted: true } };
    },
  };
}

/** A key that may read alone takes no file away from others. Throws `Problem` 403. */
async function requireAsker(
  { accounts }: PackRouteServices,
  { account, key }: Caller,
  { askedBy }: PackRow,
): Promise<void> {
  if (askedBy === whoActsBy(key) || key.scopes.includes('governance:write')) return;
  if (askedBy !== undefined && (await accounts.keys.isInPlaceOf(account.id, key.id, askedBy))) return;
  throw new Problem(
    'scope-forbidden',
    'Another has this pack made: only they, or a key with governance:write, delete it.',
  );
}

/** Throws `Problem` 400. */
function packParameter({ id = '' }: Readonly<Record<string, string>>): PackId {
  if (isPackId(id)) return id;
  throw fieldProblem('id', 'pattern', 'is not the id of a pack');
}

async function answerOf({ packs, self }: PackRouteServices, row: PackRow): Promise<PackAnswer> {
  const { id, question, state, failure, made, createdAt } = row;
  const { sources, systems, from, to, asOf, frameworks, kinds, disclosure } = question;
  const isReady = state === 'ready' && made !== null;
  const ends = isReady ? Date.parse(made.readyAt) + (await packs.lifetimeDays(question.account)) * DAY_MS : null;
  return {
    packId: id,
    state: state === 'gone' ? 'failed' : state,
    failure,
    asOf,
    progress: packs.progressOf(row),
    manifestHash: isReady ? made.manifestHash : null,
    attestationId: isReady ? made.attestationId : null,
    node: self,
    sources,
    systems,
    from,
    to,
    frameworks,
    kinds,
    disclosure,
    bytes: isReady ? made.bytes : null,
    createdAt,
    expiresAt: ends === null ? null : timestampOf(ends),
  };
}
