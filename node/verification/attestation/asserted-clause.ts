import { clauseOf } from '../../../protocol/frameworks/catalogue.ts';
import { NOT_APPLICABLE_EVENT } from '../../../protocol/frameworks/event-types.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';

/** A clause that a caller holds not to concern its source. */
export interface AssertedClause {
  readonly framework: string;
  readonly clause: string;
}

/**
 * The clause that `data` of a record of the event `NOT_APPLICABLE` names. It becomes claims only where the catalogue has
 * it: any other text is the caller's own and stays in the payload.
 */
export function assertedClause(event: string | undefined, data: JsonObject): AssertedClause | undefined {
  const { framework, clause } = data;
  if (event !== NOT_APPLICABLE_EVENT || typeof framework !== 'string' || typeof clause !== 'string') return undefined;
  return clauseOf(framework, clause) === undefined ? undefined : { framework, clause };
}

/** Why an assertion is shown for no clause. */
export function assertedClauseWarnings(event: string | undefined, data: JsonObject): string[] {
  if (event !== NOT_APPLICABLE_EVENT || assertedClause(event, data) !== undefined) return [];
  return ['data: framework and clause name no clause of GET /v1/frameworks; the event stands for none'];
}
