import { hash } from 'node:crypto';
import type { Static } from 'typebox';
import type { AttestRequest } from '../../../protocol/api/attest.ts';
import type { ReferenceDatabasesShape } from '../../../protocol/api/fields.ts';
import type { TieredAttestRequest } from '../../../protocol/api/tiered-attest.ts';
import type { Claims } from '../../../protocol/chain/claims.ts';
import type { Facts } from '../../../protocol/chain/facts.ts';
import { clauseOf } from '../../../protocol/frameworks/catalogue.ts';
import { NOT_APPLICABLE_EVENT } from '../../../protocol/frameworks/event-types.ts';
import { canonicalize, joinMembers } from '../../../protocol/json/canonical.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { type DecisionTexts, decisionTexts } from '../../../protocol/payload/commitment.ts';
import type { Channel } from '../../../protocol/statement/vocabulary.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { Draft } from '../../intake/draft.ts';
import { assertedFacts, reviewDateWarnings } from './asserted-facts.ts';

const DEFAULT_EVENT = 'DECISION';
/** What is lifted out of `data` into the signed claims: entries, and code points of each text. */
const MAX_LIFTED = 20;
const MAX_LIFTED_CHARACTERS = 256;

/** A request body in parts: what its schema names, and what else the caller sent. */
export interface DecisionBody<Request> {
  readonly request: Request;
  readonly body: JsonObject;
  readonly additional: ReadonlyMap<string, JsonValue>;
}

/** The draft of a decision: its parts are committed to one by one. */
export type DecisionDraft = Draft & Required<Pick<Draft, 'decision'>>;

/**
 * The draft of a `POST /v1/attest`. A second identical body of the same account is a duplicate. `occurredAt`: the
 * request's, in the form that is signed.
 */
export function attestDraft(
  account: string,
  { request, body, additional }: DecisionBody<AttestRequest>,
  occurredAt?: Timestamp,
): DecisionDraft {
  const texts = bodyTexts(body, request.data, additional);
  const claims = sharedClaims(request);
  const { modelId = claims.modelId, modelVersion = claims.modelVersion, riskLevel = claims.riskLevel } = request;
  const own = { ...claims, modelId, modelVersion, riskLevel };
  return {
    ...decisionDraft(account, 'direct', request, own, texts, occurredAt),
    duplicateKey: hash('sha256', joinMembers(texts.members), 'hex'),
  };
}

/** The draft of a `POST /v1/tiered-attest`. `occurredAt`: the request's, in the form that is signed. */
export function tieredDraft(
  account: string,
  { request, body, additional }: DecisionBody<TieredAttestRequest>,
  occurredAt?: Timestamp,
): DecisionDraft {
  const texts = bodyTexts(body, request.data, additional);
  return decisionDraft(account, 'tiered', request, sharedClaims(request), texts, occurredAt);
}

/** What a request claims by the members that every channel takes. */
function sharedClaims({ model_ref: model, complianceMeta: meta, environment, confidenceScore }: TieredAttestRequest) {
  return {
    modelId: model?.model_id,
    modelVersion: model?.model_version,
    thirdPartyModel: model?.third_party_model,
    systemId: model?.system_id,
    riskLevel: meta?.riskLevel,
    jurisdiction: meta?.jurisdiction,
    eventType: meta?.serviceEventType,
    environment,
    confidenceScore,
  };
}

interface BodyTexts {
  /** Canonical texts of the payload's members. */
  readonly members: ReadonlyMap<string, string>;
  readonly decision: DecisionTexts;
}

interface Shared {
  readonly sourceId: string;
  readonly data: JsonObject;
  readonly referenceDatabase?: Static<typeof ReferenceDatabasesShape>;
  readonly matched?: boolean;
  readonly adverse?: boolean;
}

function decisionDraft(
  account: string,
  channel: Channel,
  request: Shared,
  claims: Omit<Facts, 'channel'>,
  texts: BodyTexts,
  occurredAt: Timestamp | undefined,
): DecisionDraft {
  const { matched = request.data.matched } = request;
  const { data, adverse } = request;
  const reference = request.referenceDatabase ?? data.referenceDatabase;
  return {
    kind: 'decision',
    account,
    sourceId: request.sourceId,
    payload: joinMembers(texts.members),
    decision: texts.decision,
    claims: {
      ...claims,
      ...assertedClause(claims.eventType, data),
      asserted: assertedFacts({ event: claims.eventType, data, adverse, occurredAt }),
      channel,
      eventType: claims.eventType ?? DEFAULT_EVENT,
      matched: typeof matched === 'boolean' ? matched : undefined,
      referenceDatabase: reference === undefined ? undefined : referenceDatabases(reference),
    },
    links: {},
  };
}

/** Every byte of the body is made canonical once: the payload's text is put together from the parts' texts. */
function bodyTexts(body: JsonObject, data: JsonObject, additional: ReadonlyMap<string, JsonValue>): BodyTexts {
  const decision = decisionTexts(data);
  const members = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    if (!additional.has(name)) members.set(name, name === 'data' ? decision.data : canonicalize(value));
  }
  if (additional.size > 0) members.set('additional', canonicalize(Object.fromEntries(additional)));
  return { members, decision };
}

/** That more databases were named in `data` than are signed. `given`: those at the top, which stand in their place. */
export function referenceDatabaseWarnings(given: Shared['referenceDatabase'], data: JsonObject): string[] {
  const named = data.referenceDatabase;
  const isLifted = given === undefined && Array.isArray(named);
  if (!isLifted || named.length <= MAX_LIFTED) return [];
  return [`data.referenceDatabase: has ${named.length} entries; the first ${MAX_LIFTED} are signed`];
}

/**
 * The named databases, each with a non-empty id; undefined where none is. `data.referenceDatabase` is the caller's own
 * material, so what is not of the documented form names nothing.
 */
function referenceDatabases(given: unknown): Claims['referenceDatabase'] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const named = list.slice(0, MAX_LIFTED).flatMap((item) => {
    if (typeof item === 'string') return isLiftable(item) ? [{ id: item }] : [];
    if (typeof item !== 'object' || item === null || !('id' in item)) return [];
    const { id } = item;
    if (typeof id !== 'string' || !isLiftable(id)) return [];
    return [
      { id, ...optional('version', textMember(item, 'version')), ...optional('sha256', textMember(item, 'sha256')) },
    ];
  });
  return named.length === 0 ? undefined : named;
}

function textMember(item: object, name: 'version' | 'sha256'): string | undefined {
  const value: unknown = Object.entries(item).find(([key]) => key === name)?.[1];
  return typeof value === 'string' && isLiftable(value) ? value : undefined;
}

function isLiftable(text: string): boolean {
  // A code point has at most two UTF-16 units: a text that is far too long is not walked through.
  return text !== '' && text.length <= 2 * MAX_LIFTED_CHARACTERS && [...text].length <= MAX_LIFTED_CHARACTERS;
}

function optional<Name extends string, Value>(name: Name, value: Value | undefined): { [K in Name]?: Value } {
  if (value === undefined) return {};
  const member: { [K in Name]?: Value } = {};
  member[name] = value;
  return member;
}

/** A clause that a caller holds not to concern its source. */
interface AssertedClause {
  readonly framework: string;
  readonly clause: string;
}

/**
 * The clause that `data` of a record of the event `NOT_APPLICABLE` names. It becomes claims only where the catalogue
 * has it: any other text is the caller's own and stays in the payload.
 */
export function assertedClause(event: string | undefined, data: JsonObject): AssertedClause | undefined {
  const { framework, clause } = data;
  if (event !== NOT_APPLICABLE_EVENT || typeof framework !== 'string' || typeof clause !== 'string') return undefined;
  return clauseOf(framework, clause) === undefined ? undefined : { framework, clause };
}

/** Why an assertion is shown for no clause, or without the date of its review. */
export function assertedClauseWarnings(event: string | undefined, data: JsonObject): string[] {
  if (event !== NOT_APPLICABLE_EVENT) return [];
  const ofDate = reviewDateWarnings(event, data);
  if (assertedClause(event, data) !== undefined) return ofDate;
  return ['data: framework and clause name no clause of GET /v1/frameworks; the event stands for none', ...ofDate];
}
