import Type from 'typebox';
import { ERASURE_SOURCE } from '../../../protocol/api/erasures.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { LinkFacts } from '../../../protocol/chain/facts.ts';
import { ASKED_WORDS, isOpenFact } from '../../../protocol/frameworks/asked-words.ts';
import {
  type Declaration,
  GOVERNANCE_SOURCE,
  type Member,
  requestShape,
} from '../../../protocol/governance/declaration.ts';
import { DECLARATIONS } from '../../../protocol/governance/declarations.ts';
import {
  DEFAULT_GOVERNANCE_PAGE,
  governanceAnswerExample,
  governanceAnswerShape,
  governanceListExample,
  governanceListShape,
  GovernanceQueryShape,
  MAX_GOVERNANCE_PAGE,
} from '../../../protocol/governance/listing.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { OrdinalShape } from '../../../protocol/shapes.ts';
import { type Caller, covers, reaches } from '../../accounts/caller.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import { governanceDraft } from '../../governance/governance-draft.ts';
import type { GovernanceRecords, ListedRecord } from '../../governance/governance-records.ts';
import type { Pseudonyms, Subjects } from '../../governance/subjects.ts';
import type { Draft } from '../../intake/draft.ts';
import { fieldProblem } from '../problem.ts';
import { queryReader } from '../query.ts';
import { FilteredCursor } from '../page-cursor.ts';
import { type Recorder, type RecordingRequest, recordingRoute, requireReach } from '../recording/recording.ts';
import { recommendedWarnings } from '../recording/tiered-warnings.ts';
import type { KeyRoute } from '../route.ts';
import { assertedOf } from './governance-facts.ts';

export interface GovernanceKindServices {
  readonly recorder: Recorder;
  readonly records: Pick<AccountRecords, 'requireAll' | 'requireIncident' | 'requireOfKind'>;
  readonly governanceRecords: Pick<GovernanceRecords, 'page' | 'revising'>;
  readonly pseudonyms: Pick<Pseudonyms, 'assertedSubject' | 'person'>;
  readonly subjects: Pick<Subjects, 'row'>;
  readonly now: () => number;
}

const { sourceId: SOURCE, systemRef: SYSTEM, current: CURRENT, limit: LIMIT } = GovernanceQueryShape.properties;
/** By the number of a record. */
const CURSOR = new FilteredCursor(Type.Tuple([OrdinalShape]), [42]);

/** The endpoints of every kind of record of governance: one that records, one that lists (api-rules §4.3). */
export function governanceKindRoutes(services: GovernanceKindServices): readonly KeyRoute[] {
  return Object.values(DECLARATIONS).flatMap((declaration) => [
    recordRoute(services, declaration),
    listRoute(services, declaration),
  ]);
}

function recordRoute(services: GovernanceKindServices, declaration: Declaration): KeyRoute {
  const { path, summary, description, example, members } = declaration;
  const shape = requestShape(declaration);
  return recordingRoute(services.recorder, {
    path,
    scope: 'governance:write',
    shape,
    documentation: {
      summary,
      description,
      request: { shape, example },
      answer: { shape: governanceAnswerShape(declaration), example: governanceAnswerExample(declaration) },
      problems: ['time-order', 'time-in-future', 'attestation-not-found', 'incident-not-found'],
    },
    async record(work, submit) {
      const { caller, body } = work;
      const account = caller.account.id;
      const sourceId = sourceOf(body);
      requireReach(caller, sourceId);
      requireOpenSource(sourceId);
      const { pseudonyms, now } = services;
      const asserted = assertedOf(declaration, body, { account, pseudonyms, now: now() });
      const links = await linksOf(services, declaration, work);
      const { modelId, modelVersion } = claimsOf(declaration, body);
      const { kind } = declaration;
      const draft = (supersedes = links.supersedes): Draft => ({
        ...governanceDraft(work, {
          kind,
          account,
          sourceId,
          claims: { asserted, modelId, modelVersion },
          links: { ...links, supersedes },
        }),
        ...subjectRow(services, account, body.subjectRef),
      });
      const { systemRef } = asserted;
      if (kind !== 'system' || systemRef === undefined || links.supersedes !== undefined) return submit(draft());
      return services.governanceRecords.revising(account, systemRef, (newest) => {
        if (newest !== undefined) requireSystemReach(caller, newest);
        return submit(draft(newest?.id));
      });
    },
    answer: ({ record, envelope }) => ({
      ...envelope,
      [declaration.idMember]: objectId(declaration.object, record.id),
      ...commonOf(declaration, record),
    }),
    warnings: (request) =>
      Object.entries(members).flatMap(([name, member]) => wordWarnings(name, member, request[name])),
  });
}

function listRoute({ governanceRecords }: GovernanceKindServices, declaration: Declaration): KeyRoute {
  const readQuery = queryReader(GovernanceQueryShape);
  const { kind, listPath } = declaration;
  return {
    method: 'GET',
    path: listPath,
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: `The records of kind ${kind} of the account on this node`,
      description:
        'The newest first, with the facts that are signed: persons under pseudonyms, free text not at all. With a filter ' +
        'a page may hold few records, or none, and still have a `nextCursor`.',
      query: {
        sourceId: { description: 'Those of one source.', shape: SOURCE, example: GOVERNANCE_SOURCE },
        systemRef: { description: 'Those about one system.', shape: SYSTEM, example: EXAMPLE_IDS.systemRef },
        current: { description: '`true`: those that no newer one supersedes.', shape: CURRENT, example: 'true' },
        cursor: CURSOR.parameter,
        limit: { description: `At most ${MAX_GOVERNANCE_PAGE}.`, shape: LIMIT, example: '50' },
      },
      answer: { shape: governanceListShape(declaration), example: governanceListExample(declaration) },
      problems: ['invalid-field'],
    },
    async answer({ query }, caller) {
      const { sourceId, systemRef, current, cursor, limit = DEFAULT_GOVERNANCE_PAGE } = readQuery(query);
      requireReach(caller, sourceId);
      const currentOnly = current === 'true';
      const filters = { kind, sourceId, systemRef, currentOnly };
      const { records, next } = await governanceRecords.page({
        account: caller.account.id,
        kind,
        accepts: (record) => maySee(caller, record) && isOf(record, sourceId, systemRef),
        currentOnly,
        before: CURSOR.read(cursor, filters)?.[0],
        limit,
      });
      const items = records.map((listed) => itemOf(declaration, listed));
      return { body: { success: true, items, nextCursor: next === undefined ? null : CURSOR.write([next], filters) } };
    },
  };
}

/** Of a word that no clause asks for, or that is none of those recommended: it is signed as it is. */
function wordWarnings(name: string, { recommended }: Member, word: unknown): readonly string[] {
  if (typeof word !== 'string') return [];
  if (recommended !== undefined) return recommendedWarnings(name, word, recommended);
  const asked = isOpenFact(name) ? ASKED_WORDS[name] : [];
  if (asked.length === 0 || asked.includes(word)) return [];
  return [`${name}: no clause of GET /v1/frameworks asks for ${JSON.stringify(word)}; signed as given`];
}

/** A key that does not see the newest entry of a system revises it no more than it reads it. Throws `Problem` 403. */
function requireSystemReach(caller: Caller, newest: AttestationRecord): void {
  if (maySee(caller, newest)) return;
  throw fieldProblem('systemRef', 'scope', 'names a system that this API key does not see', 'scope-forbidden');
}

/** What stands under the source of erasures is the node's own word. Throws `Problem` 400. */
function requireOpenSource(sourceId: string): void {
  if (sourceId !== ERASURE_SOURCE) return;
  throw fieldProblem('sourceId', 'reserved', `${ERASURE_SOURCE} is the source of what this node records of erasures`);
}

function sourceOf({ sourceId }: JsonObject): string {
  return typeof sourceId === 'string' ? sourceId : GOVERNANCE_SOURCE;
}

/** Every record that a request names. Throws `ComplianceError` where one is not there, or is of another kind. */
async function linksOf(
  { records }: GovernanceKindServices,
  { kind, members }: Declaration,
  { body, caller }: RecordingRequest<unknown>,
): Promise<LinkFacts> {
  const { decisionId, incidentId, supersedes, relatedAttestationIds } = body;
  const named = Array.isArray(relatedAttestationIds)
    ? relatedAttestationIds.filter((id): id is string => typeof id === 'string')
    : [];
  const related = [...new Set((await records.requireAll(caller, named, 'relatedAttestationIds')).map(({ id }) => id))];
  const isTaken = (name: string, value: JsonValue | undefined): value is string =>
    name in members && typeof value === 'string';
  const [decision] = isTaken('decisionId', decisionId)
    ? await records.requireAll(caller, [decisionId], 'decisionId')
    : [];
  const incident = isTaken('incidentId', incidentId)
    ? await records.requireIncident(caller, incidentId, 'incidentId')
    : undefined;
  const before =
    typeof supersedes === 'string' ? await records.requireOfKind(caller, supersedes, kind, 'supersedes') : undefined;
  return {
    related: related.length === 0 ? undefined : related,
    decision: decision?.id,
    incident: incident?.id,
    supersedes: before?.id,
  };
}

function claimsOf({ members }: Declaration, { modelId, modelVersion }: JsonObject) {
  return {
    modelId: 'modelId' in members && typeof modelId === 'string' ? modelId : undefined,
    modelVersion: 'modelVersion' in members && typeof modelVersion === 'string' ? modelVersion : undefined,
  };
}

/** The row by which an erasure of the person's data finds the record. */
function subjectRow(
  { subjects }: GovernanceKindServices,
  account: string,
  subjectRef: JsonValue | undefined,
): Pick<Draft, 'besides'> {
  return typeof subjectRef === 'string' ? { besides: (id) => [subjects.row(account, subjectRef, id)] } : {};
}

function maySee({ key }: Caller, { sourceId, submittedAt }: AttestationRecord): boolean {
  return reaches(key, sourceId) && covers(key, submittedAt);
}

function isOf(record: AttestationRecord, sourceId: string | undefined, systemRef: string | undefined): boolean {
  const { systemRef: about, systems = [] } = record.claims.asserted ?? {};
  if (sourceId !== undefined && record.sourceId !== sourceId) return false;
  return systemRef === undefined || about === systemRef || systems.includes(systemRef);
}

function itemOf(declaration: Declaration, { record, supersededBy }: ListedRecord): JsonObject {
  const { idMember, object } = declaration;
  return {
    [idMember]: objectId(object, record.id),
    attestationId: record.id,
    submittedAt: record.submittedAt,
    ...commonOf(declaration, record),
    given: [...(record.claims.given ?? [])],
    relatedAttestationIds: [...(record.links.related ?? [])],
    supersededBy: supersededBy === undefined ? null : objectId(object, supersededBy),
  };
}

function commonOf({ object }: Declaration, { sourceId, claims, links }: AttestationRecord): JsonObject {
  return {
    sourceId,
    facts: { ...claims.asserted },
    modelId: claims.modelId ?? null,
    modelVersion: claims.modelVersion ?? null,
    decisionId: links.decision ?? null,
    incidentId: links.incident === undefined ? null : objectId('incident', links.incident),
    supersedes: links.supersedes === undefined ? null : objectId(object, links.supersedes),
  };
}
