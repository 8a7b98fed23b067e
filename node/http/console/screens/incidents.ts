import { INCIDENT_STATES } from '../../../../protocol/compliance/incident-state.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { ACTION_STATUSES } from '../../../../protocol/statement/vocabulary.ts';
import type { BoardSection, Card, Cell, TableSection } from '../../../pages/console-page.ts';
import { cellOf, itemsOf, objectAt } from '../cells.ts';
import {
  columns,
  factsFrom,
  filterOf,
  formLink,
  type Look,
  narrowed,
  type Screen,
  tableOf,
  textOf,
  withQuery,
} from '../screen.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const INCIDENT = `curl -X POST "$NODE/v1/incident" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"sourceId":"loan-model","severity":"serious","description":"…","incidentPeriodStart":"2026-11-20"}'`;

/** Incidents, the soonest due first, with what is left of the clock that ends first. */
export const incidentsScreen: Screen = {
  path: '/incidents',
  name: 'incidents',
  show: (look) => ({
    title: 'Incidents',
    sections: [
      filterOf(look, 'console/incidents', { state: ['State', INCIDENT_STATES], sourceId: 'Source' }),
      tableOf(look, {
        title: 'Incidents',
        about: 'The soonest due first. Clocks are arithmetic: which of them applies is not determined.',
        path: withQuery('/v1/incidents', narrowed(look, ['state', 'sourceId'])),
        here: 'console/incidents',
        columns: columns({
          incidentId: 'Incident',
          severity: 'Severity',
          sourceId: 'Source',
          notificationState: 'State',
          earliestDueAt: 'First clock ends',
          left: 'Time left',
          earliestRef: 'Which clock',
          submittedAt: 'Recorded',
          supersededBy: 'Corrected by',
        }),
        cells: { left: (item) => timeLeft(item, look.now) },
        ways: (item) =>
          formLink('Record a notification', 'notification', {
            incidentId: textOf(item, 'incidentId'),
            sourceId: textOf(item, 'sourceId'),
          }),
        empty: { text: 'No incident is in this state.', curl: INCIDENT },
      }),
      { kind: 'links', title: 'Record one', links: [{ text: 'Report an incident', href: 'console/forms/incident' }] },
    ],
  }),
};

/** One incident: its clocks side by side, who was told, and its corrective actions by their states. */
export const incidentScreen: Screen = {
  path: '/incidents/:id',
  name: 'incidents',
  async show(look) {
    const { id = '' } = look.params;
    const json = `/v1/incidents/${encodeURIComponent(id)}`;
    const answer = await look.ask(json);
    const incident = objectAt(answer, 'incident');
    const given = { incidentId: id, sourceId: textOf(incident, 'sourceId') };
    return {
      title: `Incident ${id}`,
      sections: [
        factsFrom(answer, 'The incident', json, {
          'incident.severity': 'Severity',
          'incident.sourceId': 'Source',
          'incident.notificationState': 'State',
          'incident.attestationId': 'Its record',
          'incident.submittedAt': 'Recorded',
          'incident.clockStart.at': 'Clocks run from',
          'incident.clockStart.basis': 'Which is',
          'incident.role': 'Reported as',
          'incident.reportability': 'Reportability, as asserted',
          'incident.memberStates': 'Member states',
          'incident.warnings': 'Warnings',
          supersedes: 'It corrects',
          'incident.supersededBy': 'Corrected by',
          relatedAttestationIds: 'Records that it names',
        }),
        clocksOf(incident, json, look),
        notificationsOf(incident, json),
        actionsOf(answer, json),
        {
          kind: 'links',
          title: 'What you can do',
          links: [
            { text: 'Record a notification', href: withQuery('console/forms/notification', given) },
            { text: 'Record a corrective action', href: withQuery('console/forms/corrective-action', given) },
            {
              text: 'Correct the report',
              href: withQuery('console/forms/incident', { sourceId: given.sourceId, supersedes: id }),
            },
          ],
        },
      ],
    };
  },
};

function clocksOf(incident: JsonObject, json: string, look: Look): TableSection {
  const running = itemsOf(incident, 'clocks').filter(({ dueAt }) => typeof dueAt === 'string');
  return {
    kind: 'table',
    title: 'Clocks that are asserted',
    about: 'Each is arithmetic on what was asserted. Which of them applies is not determined.',
    json,
    member: 'incident.clocks',
    columns: columns({ ref: 'Clock', dueAt: 'Ends', left: 'Time left', kept: 'Kept', source: 'Source' }),
    rows: running.map((clock) => [
      { kind: 'text', text: `${textOf(clock, 'regime')} ${textOf(clock, 'ref')}` },
      cellOf('dueAt', clock.dueAt),
      leftOf(textOf(clock, 'dueAt'), look.now),
      keptOf(clock, look.now),
      cellOf('source', clock.source),
    ]),
    empty: { text: 'No clock runs.', curl: null },
    next: null,
  };
}

/** `reportedAfterDueAt`: null where nobody was told so far. */
function keptOf({ reportedAfterDueAt, dueAt }: JsonObject, now: number): Cell {
  if (reportedAfterDueAt === true) return { kind: 'state', tone: 'bad', text: 'missed' };
  if (reportedAfterDueAt === false) return { kind: 'state', tone: 'good', text: 'kept' };
  const isOver = Date.parse(String(dueAt)) < now;
  return isOver ? { kind: 'state', tone: 'bad', text: 'missed so far' } : { kind: 'state', tone: 'wait', text: 'runs' };
}

function notificationsOf(incident: JsonObject, json: string): TableSection {
  const titles = columns({
    attestationId: 'Record',
    to: 'To',
    reportType: 'Report',
    regime: 'Regime',
    authority: 'Authority',
    memberState: 'State',
    sentAt: 'Sent',
    submittedAt: 'Recorded',
  });
  return {
    kind: 'table',
    title: 'Who was told',
    json,
    member: 'incident.notifications',
    columns: titles,
    rows: itemsOf(incident, 'notifications').map((one) => titles.map(({ field }) => cellOf(field, one[field]))),
    empty: { text: 'Nobody was told, as far as is on record.', curl: null },
    next: null,
  };
}

/** States that most actions never have. */
const ENDS: ReadonlySet<string> = new Set(['ineffective', 'cancelled']);

/** A column for each state; the last revision of each action counts. */
function actionsOf(answer: JsonObject, json: string): BoardSection {
  const all = itemsOf(answer, 'correctiveActions').map((action, i) => ({ action, member: `correctiveActions.${i}` }));
  const last = new Map(all.map((one) => [textOf(one.action, 'correctiveActionId'), one]));
  const columnOf = (state: string) => ({
    title: state,
    cards: [...last.values()].filter(({ action }) => action.actionStatus === state).map(cardOf),
  });
  const shown = ACTION_STATUSES.map(columnOf).filter(({ title, cards }) => cards.length > 0 || !ENDS.has(title));
  return { kind: 'board', title: 'Corrective actions', json, columns: shown };
}

function cardOf({ action, member }: { readonly action: JsonObject; readonly member: string }): Card {
  const titles = {
    correctiveActionId: 'Corrective action',
    revision: 'Revision',
    dueAt: 'Due',
    attestationId: 'Its last record',
  };
  const given = {
    correctiveActionId: textOf(action, 'correctiveActionId'),
    sourceId: textOf(action, 'sourceId'),
    incidentId: textOf(action, 'incidentId'),
  };
  return {
    member,
    facts: Object.entries(titles).map(([field, title]) => ({ title, cell: cellOf(field, action[field]) })),
    way: formLink('Go on with it', 'corrective-action', given),
  };
}

function timeLeft(item: JsonObject, now: number): Cell {
  if (item.supersededBy !== null || String(item.notificationState).startsWith('notified')) return { kind: 'none' };
  return leftOf(textOf(item, 'earliestDueAt'), now);
}

function leftOf(dueAt: string, now: number): Cell {
  const left = Date.parse(dueAt) - now;
  const words = spanOf(Math.abs(left));
  if (left < 0) return { kind: 'state', tone: 'bad', text: `${words} ago` };
  return { kind: 'state', tone: left < DAY_MS ? 'wait' : 'none', text: `${words} left` };
}

function spanOf(milliseconds: number): string {
  const [days, hours] = [Math.floor(milliseconds / DAY_MS), Math.floor((milliseconds % DAY_MS) / HOUR_MS)];
  if (days > 0) return `${days} d ${hours} h`;
  return `${hours} h ${Math.floor((milliseconds % HOUR_MS) / MINUTE_MS)} min`;
}
