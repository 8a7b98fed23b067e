import type { PackQuestion } from '../../../../protocol/pack/manifest.ts';
import { timestampOf } from '../../../../protocol/time.ts';

/** A question about the source `triage` of the account `acme` in 2026, under the EU AI Act. */
export const QUESTION: PackQuestion = {
  account: 'acme',
  sources: ['triage'],
  systems: null,
  from: timestampOf(Date.UTC(2026, 0, 1)),
  to: timestampOf(Date.UTC(2027, 0, 1)),
  asOf: timestampOf(Date.UTC(2027, 0, 2)),
  frameworks: ['EU_AI_ACT'],
  kinds: null,
  disclosure: false,
};
