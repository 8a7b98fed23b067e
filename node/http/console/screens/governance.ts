import { isJsonArray, type JsonObject } from '../../../../protocol/json/value.ts';
import type { Cell, Section, TableSection } from '../../../pages/console-page.ts';
import { cellOf, itemsOf, memberOf, objectAt } from '../cells.ts';
import {
  ApiRefusal,
  columns,
  filterOf,
  formLink,
  type Look,
  narrowed,
  type Screen,
  tableOf,
  textOf,
  withQuery,
} from '../screen.ts';

/** What people looked at again, and the state of records that need two of them (EU AI Act Art. 14(5)). */
export const oversightScreen: Screen = {
  path: '/oversight',
  name: 'oversight',
  show: (look) => ({
    title: 'Oversight',
    sections: [
      waitingOf(look),
      filterOf(look, 'console/oversight', { sourceId: 'Source', from: 'From', to: 'Before' }),
      reviewsOf(look),
      policiesOf(look),
      {
        kind: 'links',
        title: 'Record one',
        links: [
          { text: 'Record a review', href: 'console/forms/human-override' },
          { text: 'Choose what a person must look at', href: 'console/forms/oversight-policy' },
        ],
      },
    ],
  }),
};

/** What people still have to look at. */
function waitingOf(look: Look): Promise<TableSection> {
  return tableOf(look, {
    title: 'To be looked at',
    about:
      'Decisions that a policy chose, the oldest first, until as many different people as it asks for looked at them.',
    path: '/v1/oversight',
    here: 'console/oversight',
    columns: columns({
      attestationId: 'Decision',
      sourceId: 'Source',
      submittedAt: 'Made',
      persons: 'People who must',
      distinctReviewers: 'People who did',
      policies: 'By the policies',
    }),
    ways: (item) =>
      formLink('Record a review', 'human-override', {
        sourceId: textOf(item, 'sourceId'),
        originalAttestationId: textOf(item, 'attestationId'),
      }),
    empty: { text: 'Nothing waits for a person.', curl: null },
  });
}

function policiesOf(look: Look): Promise<TableSection> {
  return tableOf(look, {
    title: 'Policies',
    path: '/v1/oversight-policies',
    member: 'policies',
    here: 'console/oversight',
    columns: columns({ policyId: 'Policy', name: 'Name', when: 'Decisions', persons: 'People', createdAt: 'Made' }),
    cells: { when: (item) => ({ kind: 'code', text: JSON.stringify(item.when) }) },
    ways: (item) => formLink('End it', 'oversight-policy-delete', { id: textOf(item, 'policyId') }),
    empty: {
      text: 'No policy chooses what a person must look at.',
      curl: `curl -X POST "$NODE/v1/oversight-policies" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"name":"Refusals","when":{"adverse":true},"persons":1}'`,
    },
  });
}

/** How many different people looked at the same record, as far as the page goes. */
async function reviewsOf(look: Look): Promise<TableSection> {
  const path = withQuery('/v1/reviews', narrowed(look, ['sourceId', 'from', 'to']));
  const people = new Map<string, Set<string>>();
  const counted: Look = {
    ...look,
    async ask(asked) {
      const answer = await look.ask(asked);
      for (const item of itemsOf(answer, 'items')) {
        const of = people.get(textOf(item, 'originalAttestationId')) ?? new Set();
        people.set(textOf(item, 'originalAttestationId'), of.add(textOf(item, 'reviewer')));
      }
      return answer;
    },
  };
  return tableOf(counted, {
    title: 'Reviews',
    about:
      'The same person has the same pseudonym. Two persons: at least two of them looked at the same record, among the ' +
      'reviews of this page.',
    path,
    here: 'console/oversight',
    columns: columns({
      overrideId: 'Review',
      originalAttestationId: 'What was looked at',
      reviewOutcome: 'Outcome',
      reviewer: 'By',
      two: 'Two persons',
      sourceId: 'Source',
      submittedAt: 'Recorded',
    }),
    cells: { two: (item) => twoOf(people.get(textOf(item, 'originalAttestationId'))?.size ?? 0) },
    empty: {
      text: 'No review is on record.',
      curl: `curl -X POST "$NODE/v1/human-override" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"sourceId":"loan-model","originalAttestationId":"att_…","reviewerId":"staff-1","reviewOutcome":"confirmed"}'`,
    },
  });
}

function twoOf(people: number): Cell {
  return people >= 2
    ? { kind: 'state', tone: 'good', text: 'two looked at it' }
    : { kind: 'state', tone: 'none', text: 'one looked at it' };
}

/** Assessments of risks and impacts, in their revisions. */
export const assessmentsScreen: Screen = {
  path: '/assessments',
  name: 'assessments',
  show: (look) => ({
    title: 'Assessments',
    sections: [
      filterOf(look, 'console/assessments', { sourceId: 'Source', from: 'From', to: 'Before' }),
      tableOf(look, {
        title: 'Assessments',
        path: withQuery('/v1/assessments', narrowed(look, ['sourceId', 'from', 'to'])),
        here: 'console/assessments',
        columns: columns({
          assessmentId: 'Assessment',
          type: 'Of',
          sourceId: 'Source',
          rating: 'Rating',
          reviewDueAt: 'To be looked at again',
          supersedes: 'Revises',
          supersededBy: 'Revised by',
          submittedAt: 'Recorded',
        }),
        ways: (item) => assessmentWays(item),
        empty: {
          text: 'No assessment is on record.',
          curl: `curl -X POST "$NODE/v1/risk-assessment" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"sourceId":"loan-model","risksIdentified":["unfair refusals"],"residualRisk":"low"}'`,
        },
      }),
      {
        kind: 'links',
        title: 'Record one',
        links: [
          { text: 'Record a risk assessment', href: 'console/forms/risk-assessment' },
          { text: 'Record an impact assessment', href: 'console/forms/impact-assessment' },
        ],
      },
    ],
  }),
};

function assessmentWays(item: JsonObject): Cell {
  const form = item.type === 'risk' ? 'risk-assessment' : 'impact-assessment';
  const id = textOf(item, 'attestationId');
  const revise = formLink('Revise', form, {
    sourceId: textOf(item, 'sourceId'),
    supersedes: textOf(item, 'assessmentId'),
  });
  const before = textOf(item, 'supersedes');
  if (before === '') return revise;
  const compare: Cell = { kind: 'link', text: 'Compare', href: `console/assessments/${before}/${id}` };
  return { kind: 'list', cells: [revise, compare] };
}

/** Two revisions side by side. Their contents are looked at, which the audit log notes. */
export const comparedScreen: Screen = {
  path: '/assessments/:before/:after',
  name: 'assessments',
  async show(look) {
    const { before = '', after = '' } = look.params;
    const pathOf = (id: string): string => `/v1/attestations/${encodeURIComponent(id)}?payload=1`;
    const [one, other] = [await look.ask(pathOf(before)), await look.ask(pathOf(after))];
    const [old, fresh] = [objectAt(one, 'payload'), objectAt(other, 'payload')];
    const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])].sort();
    const section: Section = {
      kind: 'table',
      title: 'What each of them says',
      about: 'That you looked at their contents stands in the audit log.',
      json: pathOf(after),
      member: 'payload',
      columns: columns({ name: 'What', before: 'Before', after: 'After', changed: 'Changed' }),
      rows: names.map((name) => [
        { kind: 'text', text: name },
        wordsCell(memberOf(old, name)),
        wordsCell(memberOf(fresh, name)),
        JSON.stringify(old[name]) === JSON.stringify(fresh[name])
          ? { kind: 'none' }
          : { kind: 'state', tone: 'wait', text: 'changed' },
      ]),
      empty: { text: 'Their contents are not to be read here.', curl: null },
      next: null,
    };
    return { title: 'Two revisions of an assessment', sections: [section] };
  },
};

/** Contents are somebody's words: a number among them is none of the API's. */
function wordsCell(value: Parameters<typeof cellOf>[1]): Cell {
  return typeof value === 'number' ? { kind: 'text', text: String(value) } : cellOf('', value);
}

/** Systems that were registered, and the sources that no registration names. */
export const systemsScreen: Screen = {
  path: '/systems',
  name: 'systems',
  show: (look) => ({
    title: 'AI systems',
    sections: [
      systemsOf(look),
      sourcesOf(look),
      {
        kind: 'links',
        title: 'Register one',
        links: [{ text: 'Register a system, or record what has changed of one', href: 'console/forms/system' }],
      },
      {
        kind: 'links',
        title: 'What else is on record about them',
        links: Object.entries(REGISTERS).map(([list, text]) => ({ text, href: `console/registers/${list}` })),
      },
    ],
  }),
};

/** One row a system: its last revision, with what is signed of it, and when its sources last recorded. */
async function systemsOf(look: Look): Promise<TableSection> {
  const newest = await lastRecords(look);
  return tableOf(look, {
    title: 'The register',
    about:
      'Each by its last revision. Purpose and description are content: that you read them stands in the audit log. A ' +
      'source leads to its continuity and its models.',
    path: '/v1/systems?current=true',
    here: 'console/systems',
    columns: columns({
      'facts.systemRef': 'System',
      'facts.role': 'Role',
      'facts.riskClass': 'Risk class, as asserted',
      'facts.systemStatus': 'State',
      'facts.owner': 'Owner, as a pseudonym',
      'facts.sources': 'Sources',
      lastRecord: 'Last record of theirs',
      submittedAt: 'Registered',
      attestationId: 'Record',
    }),
    cells: {
      'facts.sources': (item) => ({ kind: 'list', cells: sourcesIn(item).map(sourceCell) }),
      lastRecord: (item) => lastOf(sourcesIn(item), newest),
    },
    ways: (item) => ({ kind: 'list', cells: systemWays(item) }),
    empty: {
      text: 'No system is registered.',
      curl: `curl -X POST "$NODE/v1/system" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"systemRef":"credit-scoring","role":"provider","intendedPurpose":"scores applications for credit"}'`,
    },
  });
}

function sourcesIn(item: JsonObject): readonly string[] {
  const named = memberOf(item, 'facts.sources');
  return named !== undefined && isJsonArray(named) ? named.map(String) : [];
}

function systemWays(item: JsonObject): readonly Cell[] {
  const id = encodeURIComponent(textOf(item, 'attestationId'));
  return [
    { kind: 'link', text: 'Purpose', href: `console/records/${id}?payload=1` },
    formLink('Record a revision', 'system', {
      systemRef: textOf(item, 'facts.systemRef'),
      role: textOf(item, 'facts.role'),
      sourceId: textOf(item, 'sourceId'),
      supersedes: textOf(item, 'systemId'),
    }),
  ];
}

/** When each source last recorded, of the first hundred; of none, for a key that may not list them. */
async function lastRecords(look: Look): Promise<ReadonlyMap<string, string>> {
  try {
    const items = itemsOf(await look.ask('/v1/sources?limit=100'), 'items');
    return new Map(items.map((item) => [textOf(item, 'sourceId'), textOf(item, 'lastSubmittedAt')]));
  } catch (error) {
    if (error instanceof ApiRefusal) return new Map();
    throw error;
  }
}

function lastOf(sources: readonly string[], newest: ReadonlyMap<string, string>): Cell {
  const at =
    sources
      .flatMap((source) => newest.get(source) ?? [])
      .toSorted()
      .at(-1) ?? '';
  return at === '' ? { kind: 'none' } : { kind: 'moment', at };
}

/** Which sources a system of the register names. */
async function sourcesOf(look: Look): Promise<TableSection> {
  const systems = itemsOf(await look.ask('/v1/systems?current=true&limit=100'), 'items');
  const owners = new Map(
    systems.flatMap((item) => sourcesIn(item).map((source) => [source, textOf(item, 'facts.systemRef')] as const)),
  );
  return tableOf(look, {
    title: 'Sources that record',
    about: 'A system records under one source or several. Continuity says whether anything of a source is missing.',
    path: '/v1/sources',
    here: 'console/systems',
    columns: columns({
      sourceId: 'Source',
      system: 'System that names it',
      records: 'Records',
      firstSubmittedAt: 'First',
      lastSubmittedAt: 'Last',
      lastAttestationId: 'Last record',
      lastRecordKind: 'Kind of the last',
    }),
    cells: {
      sourceId: (item) => sourceCell(textOf(item, 'sourceId')),
      system: (item) => ownerCell(owners.get(textOf(item, 'sourceId'))),
    },
    empty: { text: 'Nothing was recorded yet.', curl: null },
  });
}

function sourceCell(text: string): Cell {
  return { kind: 'link', text, href: `console/sources/${encodeURIComponent(text)}` };
}

function ownerCell(system: string | undefined): Cell {
  return system === undefined
    ? { kind: 'state', tone: 'wait', text: 'not registered' }
    : { kind: 'state', tone: 'good', text: system };
}

/** Lists of records of governance that have no screen of their own. */
const REGISTERS: Readonly<Record<string, string>> = {
  documents: 'Documents',
  notifications: 'Notifications',
  notices: 'Notices',
  requests: 'Requests of people',
  evaluations: 'Evaluations',
  assignments: 'Who oversees',
  datasets: 'Data sets',
  suppliers: 'Suppliers',
  conformities: 'Conformity assessments',
};

/** One of these lists, with what is signed of each record. */
export const registerScreen: Screen = {
  path: '/registers/:list',
  name: 'systems',
  show(look) {
    const { list = '' } = look.params;
    const title = Object.hasOwn(REGISTERS, list) ? (REGISTERS[list] ?? '') : 'No such list';
    const here = `console/registers/${encodeURIComponent(list)}`;
    return {
      title,
      sections: [
        filterOf(look, here, { sourceId: 'Source', systemRef: 'System', current: ['Last revisions alone', ['true']] }),
        tableOf(look, {
          title,
          path: withQuery(`/v1/${encodeURIComponent(list)}`, narrowed(look, ['sourceId', 'systemRef', 'current'])),
          here,
          columns: columns({
            attestationId: 'Record',
            sourceId: 'Source',
            facts: 'What is signed of it',
            submittedAt: 'Recorded',
            supersededBy: 'Revised by',
          }),
          empty: { text: 'None is on record.', curl: null },
        }),
        { kind: 'links', title: 'Record one', links: formsOf(list) },
      ],
    };
  },
};

function formsOf(list: string) {
  const form = list === 'conformities' ? 'conformity' : list.replace(/s$/, '');
  return [{ text: 'A new record', href: `console/forms/${encodeURIComponent(form)}` }];
}
