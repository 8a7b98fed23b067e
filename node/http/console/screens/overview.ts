import type { JsonObject } from '../../../../protocol/json/value.ts';
import type { ChartSection } from '../../../pages/console-page.ts';
import { itemsOf } from '../cells.ts';
import { factsFrom, type Screen, textOf } from '../screen.ts';

const JSON_PATH = '/v1/overview';

/** How things stand: what is recorded, what waits, what is due. */
export const overviewScreen: Screen = {
  path: '',
  name: '',
  async show(look) {
    const overview = await look.ask(JSON_PATH);
    return {
      title: 'Overview',
      sections: [
        factsFrom(overview, 'What is due', JSON_PATH, {
          'incidents.overdue': 'Incidents past their first clock',
          'incidents.dueSoon': 'Incidents whose first clock ends within a day',
          'incidents.open': 'Other incidents whose clocks run',
          'incidents.truncated': 'There are more than were counted',
          'keys.endingSoon': 'Keys that end within 30 days',
          'packs.failed': 'Packs of evidence that failed',
        }),
        factsFrom(overview, 'What there is', JSON_PATH, {
          'records.today': 'Records today',
          'records.thisMonth': 'Records this month',
          ledger: 'The ledger, as this node reaches it',
          'keys.active': 'Keys in force',
          'packs.ready': 'Packs of evidence ready',
          'packs.making': 'Packs in the making',
          signIns: 'Signed in at the console',
          asOf: 'As of',
        }),
        recordsOf(overview),
        anchoringOf(overview),
        {
          kind: 'links',
          title: 'Look closer',
          links: [
            { text: 'Incidents that are overdue', href: 'console/incidents?state=overdue' },
            { text: 'Incidents due soon', href: 'console/incidents?state=due-soon' },
            { text: 'The newest records', href: 'console/records' },
            { text: 'Clauses of the EU AI Act', href: 'console/frameworks/EU_AI_ACT' },
          ],
        },
      ],
    };
  },
};

function recordsOf(overview: JsonObject): ChartSection {
  return {
    kind: 'chart',
    title: 'Records of the last 30 days',
    json: JSON_PATH,
    axis: 'Day',
    unit: 'records',
    member: 'records.days',
    field: 'records',
    points: itemsOf(overview, 'records.days').map((day) => {
      return { label: textOf(day, 'day'), value: Number(day.records) };
    }),
  };
}

function anchoringOf(overview: JsonObject): ChartSection {
  return {
    kind: 'chart',
    title: 'How long the ledger took for the last batches of this node',
    json: JSON_PATH,
    axis: 'Batch',
    unit: 'seconds',
    member: 'anchoring.batches',
    field: 'seconds',
    points: itemsOf(overview, 'anchoring.batches').map((batch) => {
      return { label: textOf(batch, 'batch'), value: Number(batch.seconds) };
    }),
  };
}
