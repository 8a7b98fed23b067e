import { agentProjection } from '../agents/agent-tables.ts';
import { auditHeadProjection } from '../audit-log/audit-attested.ts';
import { settlementHeadProjection } from '../payments/settlement-tables.ts';
import { LIST_PROJECTIONS } from '../lists/list-tables.ts';
import { REGWATCH_PROJECTIONS } from '../regwatch/regwatch-tables.ts';
import type { Projection } from '../records/projection.ts';
import { INCIDENT_PROJECTIONS } from './incident-tables.ts';
import { LOCK_PROJECTIONS } from './lock-tables.ts';

/** What this node derives from its own records, so that governance can be looked up without scanning history. */
export const OWN_PROJECTIONS: readonly Projection[] = [
  auditHeadProjection,
  settlementHeadProjection,
  agentProjection,
  ...LIST_PROJECTIONS,
  ...LOCK_PROJECTIONS,
  ...INCIDENT_PROJECTIONS,
  ...REGWATCH_PROJECTIONS,
];
