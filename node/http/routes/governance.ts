import type { GovernanceServices } from '../../governance/governance-services.ts';
import type { Recorder } from '../recording/recording.ts';
import type { KeyRoute } from '../route.ts';
import { impactAssessmentRoute, riskAssessmentRoute } from './assessments.ts';
import { correctiveActionRoute } from './corrective-action.ts';
import { erasureRoute } from './erasures.ts';
import { governanceKindRoutes } from './governance-kinds.ts';
import { holdReleaseRoute } from './hold-release.ts';
import { humanOverrideRoute } from './human-override.ts';
import { incidentRoute, incidentsRoute } from './incidents.ts';
import { retentionLockRoute } from './retention-lock.ts';
import { retentionRoute } from './retention.ts';
import { trackedIncidentRoute, type TrackedIncidentServices } from './tracked-incident.ts';
import { sessionEndRoute, sessionStartRoute } from './sessions.ts';

export interface GovernanceRouteServices extends GovernanceServices, Pick<TrackedIncidentServices, 'node' | 'store'> {
  readonly recorder: Recorder;
  readonly now: () => number;
}

/** The endpoints by which an account's records are governed. */
export function governanceRoutes(services: GovernanceRouteServices): readonly KeyRoute[] {
  return [
    sessionStartRoute(services),
    sessionEndRoute(services),
    humanOverrideRoute(services),
    incidentRoute(services),
    incidentsRoute(services),
    trackedIncidentRoute(services),
    retentionLockRoute(services),
    holdReleaseRoute(services),
    retentionRoute(services),
    riskAssessmentRoute(services),
    impactAssessmentRoute(services),
    correctiveActionRoute(services),
    erasureRoute(services),
    ...governanceKindRoutes(services),
  ];
}
