import { agentProjection } from '../governance/agents/agent-tables.ts';
import { auditHeadProjection } from '../accounts/audit-log/audit-attested.ts';
import { settlementHeadProjection } from '../payments/settlement-tables.ts';
import { LIST_PROJECTIONS } from '../screening/lists/list-tables.ts';
import { REGWATCH_PROJECTIONS } from './regulatory-feed/regwatch-tables.ts';
import type { Projection } from '../records/projection.ts';
import { GOVERNANCE_PROJECTIONS } from '../governance/governance-tables.ts';
import { INCIDENT_PROJECTIONS } from '../governance/incident-tables.ts';
import { LOCK_PROJECTIONS } from '../governance/lock-tables.ts';
import { REVIEW_PROJECTION } from '../governance/due-reviews.ts';

/** What this node derives from its own records, so that governance can be looked up without scanning history. */
export const OWN_PROJECTIONS: readonly Projection[] = [
  auditHeadProjection,
  settlementHeadProjection,
  agentProjection,
  ...LIST_PROJECTIONS,
  ...LOCK_PROJECTIONS,
  ...INCIDENT_PROJECTIONS,
  ...GOVERNANCE_PROJECTIONS,
  REVIEW_PROJECTION,
  ...REGWATCH_PROJECTIONS,
];
