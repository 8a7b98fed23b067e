import { canonicalize } from '../../protocol/json/canonical.ts';
import type { JsonObject, JsonValue } from '../../protocol/json/value.ts';
import type { Facts, LinkFacts } from '../../protocol/statement/claims.ts';
import type { RecordKind } from '../../protocol/statement/vocabulary.ts';
import type { Draft } from '../intake/draft.ts';

/** A request of governance in parts: what its schema names, and what else the caller sent. */
export interface GovernanceBody {
  readonly body: JsonObject;
  readonly additional: ReadonlyMap<string, JsonValue>;
}

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
  { body, additional }: GovernanceBody,
  { kind, account, sourceId, claims = {}, links = {} }: GovernanceFacts,
): Draft {
  const named = Object.entries(body).filter(([name]) => !additional.has(name));
  const rest = additional.size === 0 ? {} : { additional: Object.fromEntries(additional) };
  return {
    kind,
    account,
    sourceId,
    payload: canonicalize({ ...Object.fromEntries(named), ...rest }),
    claims: { ...claims, channel: 'direct', given: named.map(([name]) => name).sort() },
    links,
  };
}
