import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  INCIDENTS_EXAMPLE,
  type TrackedIncidentAnswer,
  TrackedIncidentAnswerShape,
} from '../../../protocol/api/incidents.ts';
import { RECORD_LIST_EXAMPLES } from '../../../protocol/api/record-lists.ts';
import { ObjectIdShape } from '../../../protocol/api/governance-fields.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { type Caller, mayName } from '../../accounts/caller.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import type { Incidents } from '../../governance/incidents.ts';
import { linkingIds } from '../../records/link-tables.ts';
import { readRecord } from '../../records/record-reader.ts';
import type { Reads } from '../../store/store.ts';
import { Problem } from '../problem.ts';
import type { KeyRoute } from '../route.ts';
import { incidentItem } from './incidents.ts';
import { correctiveActionRow } from './kind-lists.ts';

/** Revisions of corrective actions that one answer names. */
const MAX_ACTIONS = 200;

export interface TrackedIncidentServices {
  readonly store: Reads;
  readonly node: NodeId;
  readonly records: Pick<AccountRecords, 'findIncident'>;
  readonly incidents: Pick<Incidents, 'track'>;
  readonly now: () => number;
}

/** `GET /v1/incidents/:id`: one incident, with its clocks, its notifications and its corrective actions. */
export function trackedIncidentRoute(services: TrackedIncidentServices): KeyRoute {
  return {
    method: 'GET',
    path: '/v1/incidents/:id',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'One incident of the account with all that is on record about it',
      description:
        'As in `GET /v1/incidents`, with what it corrects, the records that it names, and the revisions of corrective ' +
        `actions that were recorded here because of it, the first ${MAX_ACTIONS}.`,
      params: {
        id: { description: 'Id of the incident.', shape: ObjectIdShape, example: EXAMPLE_IDS.incident },
      },
      answer: { shape: TrackedIncidentAnswerShape, example: EXAMPLE },
      problems: ['incident-not-found'],
    },
    async answer({ params: { id = '' } }, caller) {
      const record = await services.records.findIncident(caller, id);
      if (record === undefined) throw new Problem('incident-not-found', 'There is no incident of this id.');
      const tracked = await services.incidents.track(record, services.now());
      const { supersedes, related = [] } = record.links;
      const body: TrackedIncidentAnswer = {
        success: true,
        incident: incidentItem(tracked, (one) => mayName(caller, one)),
        supersedes: supersedes === undefined ? null : objectId('incident', supersedes),
        relatedAttestationIds: [...related],
        correctiveActions: (await actionsOf(services, caller, record)).map(correctiveActionRow),
      };
      return { body };
    },
  };
}

/** Own records of corrective actions that name an incident, as far as the caller may see them. */
async function actionsOf(
  { store, node }: TrackedIncidentServices,
  caller: Caller,
  { id }: AttestationRecord,
): Promise<readonly AttestationRecord[]> {
  const links = { target: id, name: 'incident', kind: 'corrective_action' } as const;
  const found = await Promise.all(
    (await linkingIds(store, links, MAX_ACTIONS, node)).map((one) => readRecord(store, one)),
  );
  return found.flatMap((one) => (one !== undefined && mayName(caller, one.record) ? [one.record] : []));
}

const [INCIDENT] = INCIDENTS_EXAMPLE.items;
const EXAMPLE = {
  success: true,
  incident: INCIDENT ?? null,
  supersedes: null,
  relatedAttestationIds: [],
  correctiveActions: RECORD_LIST_EXAMPLES.correctiveActions.items,
};
