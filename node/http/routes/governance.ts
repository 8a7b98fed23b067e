import type { GovernanceRooms } from '../../governance-rooms.ts';
import type { Recorder } from '../recording/recorder.ts';
import type { KeyRoute } from '../route.ts';
import { correctiveActionRoute } from './corrective-action.ts';
import { erasureRoute } from './erasures.ts';
import { holdReleaseRoute } from './hold-release.ts';
import { humanOverrideRoute } from './human-override.ts';
import { impactAssessmentRoute } from './impact-assessment.ts';
import { incidentRoute } from './incident.ts';
import { incidentsRoute } from './incidents.ts';
import { retentionLockRoute } from './retention-lock.ts';
import { retentionRoute } from './retention.ts';
import { riskAssessmentRoute } from './risk-assessment.ts';
import { sessionEndRoute } from './session-end.ts';
import { sessionStartRoute } from './session-start.ts';

export interface GovernanceRouteRooms extends GovernanceRooms {
  readonly recorder: Recorder;
  readonly now: () => number;
}

/** The endpoints by which an account's records are governed. */
export function governanceRoutes(rooms: GovernanceRouteRooms): readonly KeyRoute[] {
  return [
    sessionStartRoute(rooms),
    sessionEndRoute(rooms),
    humanOverrideRoute(rooms),
    incidentRoute(rooms),
    incidentsRoute(rooms),
    retentionLockRoute(rooms),
    holdReleaseRoute(rooms),
    retentionRoute(rooms),
    riskAssessmentRoute(rooms),
    impactAssessmentRoute(rooms),
    correctiveActionRoute(rooms),
    erasureRoute(rooms),
  ];
}
