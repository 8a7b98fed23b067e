import type { Asserted } from '../../protocol/chain/asserted.ts';
import type { Facts, LinkFacts } from '../../protocol/chain/facts.ts';
import type { JsonValue } from '../../protocol/json/value.ts';
import type { RecordKind } from '../../protocol/statement/vocabulary.ts';
import { givenMembers, payloadText, type RequestBody } from '../verification/attestation/payload-text.ts';
import type { Draft } from '../intake/draft.ts';

/** What makes one record of governance differ from another. */
export interface GovernanceFacts {
  readonly kind: RecordKind;
  readonly account: string;
  readonly sourceId: string;
  readonly claims?: Omit<Facts, 'channel' | 'given'>;
  readonly links?: LinkFacts;
}

/** The draft of a record of governance. All of the request is its payload; which members it had is on record. */
export function governanceDraft(
  body: RequestBody,
  { kind, account, sourceId, claims = {}, links = {} }: GovernanceFacts,
): Draft {
  return {
    kind,
    account,
    sourceId,
    payload: payloadText(body),
    claims: { ...claims, asserted: assertedWith(claims.asserted, body), channel: 'direct', given: givenMembers(body) },
    links,
  };
}

/** With the names of members that hold nothing: that they were given is no fact. */
function assertedWith(asserted: Asserted | undefined, { body, additional }: RequestBody): Asserted | undefined {
  const emptyMembers = Object.entries(body)
    .filter(([name, value]) => !additional.has(name) && isEmpty(value))
    .map(([name]) => name)
    .sort();
  return emptyMembers.length === 0 ? asserted : { ...asserted, emptyMembers };
}

/** Lists and objects of nothing hold nothing. */
function isEmpty(value: JsonValue): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return typeof value === 'object' && value !== null && Object.values(value).every(isEmpty);
}
