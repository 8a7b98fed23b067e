import Type, { type TObject, type TProperties, type TSchema } from 'typebox';
import { SourceIdShape, TextShape } from '../api/fields.ts';
import { IdTextShape, PersonShape } from '../api/governance-fields.ts';
import { TimeOrDayShape } from '../api/times.ts';
import { type Asserted, type AssertedName } from '../chain/asserted.ts';
import { MAX_LINKED } from '../chain/claims.ts';
import type { RecordId } from '../ids.ts';
import type { JsonObject } from '../json/value.ts';
import type { ObjectKind } from '../object-ids.ts';
import { needs } from '../shapes.ts';
import type { GovernanceKind } from '../statement/vocabulary.ts';

/** Names and words of a record, entries of a list of them, and sources of a system. In code points and in number. */
const MAX_NAME = 256;
const MAX_WORD = 64;
const MAX_TEXT = 4000;
const MAX_LISTED = 100;

/** The source of records of governance that name none. */
export const GOVERNANCE_SOURCE = 'governance';

/**
 * What becomes of a member of a request: `asserted` is signed as it is, `time` as a moment in UTC, `hash` with its prefix,
 * `person` and `subject` as a pseudonym, `claim` beside the facts of decisions; `payload` is committed to and not signed
 * in clear.
 */
type Treatment = 'asserted' | 'claim' | 'hash' | 'payload' | 'person' | 'subject' | 'time';

/** A member of a request, and what is signed of it. */
export interface Member {
  readonly shape: TSchema;
  readonly treatment: Treatment;
  /** Name of the signed fact where it differs from the member's. */
  readonly as?: AssertedName;
  /** Words that others understand; another one is signed all the same, with a warning. */
  readonly recommended?: readonly string[];
  /** The time of something that has happened: not after the record. */
  readonly isPast?: true;
}

/** A kind of record of governance: what its endpoint takes and what it signs (api-rules §4.3). */
export interface Declaration {
  readonly kind: GovernanceKind;
  /** Prefix of its ids in `OBJECT_PREFIXES`, and the member of an answer that has one. */
  readonly object: ObjectKind & GovernanceKind;
  readonly idMember: string;
  readonly path: `/v1/${string}`;
  readonly listPath: `/v1/${string}`;
  readonly summary: string;
  readonly description: string;
  readonly members: Readonly<Record<string, Member>>;
  /** The few without which the record says nothing. */
  readonly required: readonly string[];
  /** Of these, one has to be given. */
  readonly oneOf?: readonly string[];
  /** Times that may not be before another: [later, earlier]. */
  readonly order?: readonly (readonly [later: string, earlier: string])[];
  readonly example: JsonObject;
  readonly exampleId: RecordId;
  readonly exampleFacts: Asserted;
}

/** Members that every kind takes beside its own. */
const LINK_MEMBERS = {
  /** The record of the same kind that this one replaces. */
  supersedes: Type.Optional(IdTextShape),
  relatedAttestationIds: Type.Optional(Type.Array(IdTextShape, { maxItems: MAX_LINKED })),
};

/** The schema of a kind's request: its own members, those of every kind, and the source. */
export function requestShape({ kind, members, required, oneOf: some }: Declaration): TObject {
  const properties: TProperties = { sourceId: Type.Optional(SourceIdShape) };
  for (const [member, { shape }] of Object.entries(members)) {
    properties[member] = required.includes(member) ? shape : Type.Optional(shape);
  }
  const title = `${kind[0]?.toUpperCase()}${kind.slice(1)}Request`;
  const condition = some && needs('anyOf', Object.fromEntries(some.map((member) => [member, 'text'])));
  return Type.Object({ ...properties, ...LINK_MEMBERS }, { title, ...condition });
}

/** A name of something, by which its owner finds it again. */
export function name(options: Partial<Member> = {}): Member {
  return { shape: TextShape(1, MAX_NAME), treatment: 'asserted', ...options };
}

/** One of a vocabulary that is open. */
export function word(recommended?: readonly string[]): Member {
  const shape = TextShape(1, MAX_WORD);
  return recommended === undefined ? { shape, treatment: 'asserted' } : { shape, treatment: 'asserted', recommended };
}

/** One of a closed vocabulary. */
export function oneOf(values: readonly string[]): Member {
  return { shape: Type.Enum([...values]), treatment: 'asserted' };
}

export function names(): Member {
  return {
    shape: Type.Array(TextShape(1, MAX_NAME), { minItems: 1, maxItems: MAX_LISTED, uniqueItems: true }),
    treatment: 'asserted',
  };
}

export function flag(): Member {
  return { shape: Type.Boolean(), treatment: 'asserted' };
}

/** SHA-256 of a file: 64 hex digits, with or without `sha256:` before them. */
export function sha256(): Member {
  return { shape: Type.String({ pattern: '^(sha256:)?[0-9a-f]{64}$' }), treatment: 'hash' };
}

export function time(options: Pick<Member, 'as' | 'isPast'> = {}): Member {
  return { shape: TimeOrDayShape, treatment: 'time', ...options };
}

/** The time of something that has happened. */
export function pastTime(): Member {
  return time({ isPast: true });
}

export function person(): Member {
  return { shape: PersonShape, treatment: 'person' };
}

/** The person concerned, in the caller's own words: kept in the payload, and found again only to be erased. */
export function subject(): Member {
  return { shape: PersonShape, treatment: 'subject', as: 'subject' };
}

/** Free text, which stays in the payload; that it is given is signed. */
export function text(): Member {
  return { shape: TextShape(1, MAX_TEXT), treatment: 'payload' };
}

/** Id of a record that this one is about. */
export function link(): Member {
  return { shape: IdTextShape, treatment: 'payload' };
}

export function payload(shape: TSchema): Member {
  return { shape, treatment: 'payload' };
}

export function claim(claimName: 'modelId' | 'modelVersion'): Member {
  return { shape: TextShape(1, claimName === 'modelId' ? MAX_NAME : 128), treatment: 'claim' };
}
