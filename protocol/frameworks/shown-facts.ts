import { annexPointOf } from './annex-point.ts';
import type { Asserted } from '../chain/asserted.ts';
import type { AttestationRecord } from '../chain/record.ts';

/**
 * What a record of governance shows under `evidence-rules/2`: names of the members that were given with something in
 * them and of the facts that are signed, and `name=value` of words, flags and numbers. Nothing of a payload.
 */
export function shownFacts({ claims, links }: AttestationRecord): ReadonlySet<string> {
  const { asserted = {}, given = [] } = claims;
  const shown = new Set<string>(given);
  const { actionStatus, criteria, environment, legalHold, modelId, modelVersion, overallRating } = claims;
  const { residualRisk, retentionDays: retentionPeriodDays, reviewOutcome, scope, severity } = claims;
  const told = { actionStatus, criteria, environment, legalHold, modelId, modelVersion, overallRating };
  addAll(shown, { ...told, residualRisk, retentionPeriodDays, reviewOutcome, scope, severity });
  addAll(shown, asserted);
  for (const point of asserted.annexPoint ?? []) {
    const written = annexPointOf(point);
    if (written !== undefined) shown.add(`annexPoint=${written}`);
  }
  const { decision: decisionId, incident: incidentId } = links;
  // A name that was given and leads to nothing shows nothing.
  for (const [name, target] of Object.entries({ decisionId, incidentId })) {
    if (target === undefined) shown.delete(name);
    else shown.add(name);
  }
  for (const name of asserted.emptyMembers ?? []) shown.delete(name);
  return shown;
}

type Fact = Asserted[keyof Asserted] | number | readonly string[] | undefined;

function addAll(shown: Set<string>, facts: Readonly<Record<string, Fact>>): void {
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined) continue;
    shown.add(name);
    for (const one of Array.isArray(value) ? value : [value]) {
      if (typeof one !== 'object') shown.add(`${name}=${String(one)}`);
      else if ('regime' in one) shown.add(`${name}=${one.regime}`);
    }
  }
}
