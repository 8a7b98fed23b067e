import type { Facts, LinkFacts } from '../../protocol/chain/facts.ts';
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
    claims: { ...claims, channel: 'direct', given: givenMembers(body) },
    links,
  };
}
