import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  TEMPLATE_EXAMPLE,
  type TemplateAnswer,
  TemplateAnswerShape,
  TemplateOrSchemaShape,
  TemplateQueryShape,
} from '../../../protocol/api/templates.ts';
import { dayOf } from '../../../protocol/audit/day.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { objectId } from '../../../protocol/object-ids.ts';
import { fillTemplate, type Template, templateSchema } from '../../../protocol/templates/template.ts';
import { TEMPLATES } from '../../../protocol/templates/templates.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { type Caller, covers, reaches } from '../../accounts/caller.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import type { GovernanceRecords } from '../../governance/governance-records.ts';
import type { Incidents } from '../../governance/incidents.ts';
import { fieldProblem, Problem } from '../problem.ts';
import { queryReader } from '../query.ts';
import type { KeyRoute } from '../route.ts';
import { isAboutSystem, MAX_LISTED, type ReportScope, systemScope } from './gap-evidence.ts';

export interface TemplateServices {
  readonly records: Pick<AccountRecords, 'find' | 'requireIncident'>;
  readonly governanceRecords: Pick<GovernanceRecords, 'listed' | 'page' | 'system'>;
  readonly incidents: Pick<Incidents, 'track'>;
  readonly node: NodeId;
  readonly now: () => number;
}

/** What a document is about, and the records that may say something about it. */
interface Gathered {
  readonly records: readonly AttestationRecord[];
  /** What may replace some of them. */
  readonly besides: readonly AttestationRecord[];
  readonly truncated: boolean;
  /** The correction that stands in the place of the incident. */
  readonly correctedBy: RecordId | null;
  readonly systemRef: string | null;
  readonly incident: AttestationRecord | null;
}

const { systemId: SYSTEM, incidentId: INCIDENT } = TemplateQueryShape.properties;
const NAMES = [...TEMPLATES.keys()];

/** `GET /v1/templates/:name` (api-rules §4.3): the schema of a document, or with a key the document filled. */
export function templateRoute(services: TemplateServices): KeyRoute {
  const readQuery = queryReader(TemplateQueryShape);
  return {
    method: 'GET',
    path: '/v1/templates/:name',
    access: 'key',
    scope: 'export:read',
    documentation: {
      summary: 'A document that a regime asks for, point by point, filled from what is on record',
      description:
        `One of ${NAMES.join(', ')}. Without a key: the JSON Schema of the document, with a help text for each point. ` +
        'With a key: the document filled from the records of governance of a system on this node. Every point names its ' +
        'records; one without says so. Free text stays in payloads and is not copied. `incident-report` takes an ' +
        '`incidentId`.',
      params: {
        name: { description: 'Name of a template.', shape: TemplateAnswerShape.properties.template, example: 'fria' },
      },
      query: {
        systemId: {
          description: 'A system of the register, by its `systemRef` or the id of an entry (`sys_…`).',
          shape: SYSTEM,
          example: EXAMPLE_IDS.systemRef,
        },
        incidentId: {
          description: 'The incident of an `incident-report`.',
          shape: INCIDENT,
          example: EXAMPLE_IDS.incident,
        },
      },
      answer: { shape: TemplateOrSchemaShape, example: TEMPLATE_EXAMPLE },
      problems: ['invalid-field', 'missing-field', 'template-not-found', 'system-not-found', 'incident-not-found'],
    },
    async withoutKey({ params: { name = '' } }) {
      return { body: templateSchema(requireTemplate(name)) };
    },
    async answer({ params: { name = '' }, query }, caller) {
      const template = requireTemplate(name);
      const { systemId, incidentId } = readQuery(query);
      const gathered =
        template.isOfIncident === true
          ? await ofIncident(services, caller, incidentId, systemId)
          : await ofSystem(services, caller, systemId);
      return { body: answerOf(services, template, gathered) };
    },
  };
}

function answerOf({ node, now }: TemplateServices, template: Template, gathered: Gathered): TemplateAnswer {
  const { name, version, title, description } = template;
  const { records, besides, truncated, systemRef, incident, correctedBy } = gathered;
  const day = dayOf(timestampOf(now()));
  const points = fillTemplate(template, { from: day, to: day }, records, besides);
  return {
    success: true,
    template: name,
    version,
    title,
    description,
    node,
    asOf: day,
    systemRef,
    incidentId: incident === null ? null : objectId('incident', incident.id),
    correctedBy: correctedBy === null ? null : objectId('incident', correctedBy),
    truncated,
    points: Object.fromEntries(
      Object.entries(points).map(([id, { value, recordIds, note }]) => [
        id,
        { value: value === null ? null : [...value], recordIds: [...recordIds], note },
      ]),
    ),
  };
}

/** Throws `Problem` 404. */
function requireTemplate(name: string): Template {
  const template = TEMPLATES.get(name);
  if (template !== undefined) return template;
  throw new Problem('template-not-found', `There is no template of this name, but ${NAMES.join(', ')}.`);
}

/** Throws `Problem` 400 and 404. */
async function ofSystem(services: TemplateServices, caller: Caller, systemId: string | undefined): Promise<Gathered> {
  if (systemId === undefined) throw missing('systemId');
  const scope = await scopeOf(services, caller, systemId);
  const { records, besides, truncated } = await listed(services, caller, scope);
  const { systemRef } = scope;
  return { records, besides, truncated: truncated.size > 0, systemRef, incident: null, correctedBy: null };
}

/** An incident with who was told of it, what was done about it, and its system. Throws `Problem` 400 and 404. */
async function ofIncident(
  services: TemplateServices,
  caller: Caller,
  incidentId: string | undefined,
  systemId: string | undefined,
): Promise<Gathered> {
  if (incidentId === undefined) throw missing('incidentId');
  const incident = await services.records.requireIncident(caller, incidentId, 'incidentId');
  const { notifications, supersededBy = null } = await services.incidents.track(incident, services.now());
  const named = systemId ?? incident.claims.asserted?.systemRef;
  const scope = named === undefined ? null : await scopeOf(services, caller, named);
  const { records, besides, truncated } = await services.governanceRecords.listed(
    caller.account.id,
    MAX_LISTED,
    (record) => maySee(caller, record) && isOfIncident(record, incident, scope),
  );
  const seen = notifications.filter((record) => maySee(caller, record));
  const all = new Map([incident, ...records, ...seen].map((record) => [record.id, record]));
  const systemRef = scope?.systemRef ?? null;
  return {
    records: [...all.values()],
    besides: besides.filter(({ kind }) => kind !== 'incident'),
    truncated: truncated.size > 0,
    correctedBy: supersededBy,
    systemRef,
    incident,
  };
}

/** Of other incidents nothing is shown: they are not what the document is about. */
function isOfIncident(record: AttestationRecord, incident: AttestationRecord, scope: ReportScope | null): boolean {
  const isReaction = record.kind === 'notification' || record.kind === 'corrective_action';
  if (isReaction) return record.links.incident === incident.id;
  return record.kind !== 'incident' && scope !== null && isAboutSystem(scope, record);
}

/** Throws `Problem` 404. */
async function scopeOf(services: TemplateServices, caller: Caller, systemId: string): Promise<ReportScope> {
  const entry = systemId.startsWith('sys_') ? await services.records.find(caller, systemId) : undefined;
  const systemRef = entry?.kind === 'system' ? entry.claims.asserted?.systemRef : undefined;
  return systemScope(services.governanceRecords, caller, { field: 'systemId', systemRef: systemRef ?? systemId });
}

function listed({ governanceRecords }: TemplateServices, caller: Caller, scope: ReportScope) {
  return governanceRecords.listed(
    caller.account.id,
    MAX_LISTED,
    (record) => maySee(caller, record) && isAboutSystem(scope, record),
  );
}

function maySee({ key }: Caller, { sourceId, submittedAt }: AttestationRecord): boolean {
  return reaches(key, sourceId) && covers(key, submittedAt);
}

function missing(field: string): Problem {
  return fieldProblem(field, 'required', 'is required with an API key', 'missing-field');
}
