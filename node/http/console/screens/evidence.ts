import type { JsonObject } from '../../../../protocol/json/value.ts';
import type { Cell, Section, StripSection } from '../../../pages/console-page.ts';
import { itemsOf, objectAt } from '../cells.ts';
import {
  columns,
  factsFrom,
  factsOf,
  filterOf,
  formLink,
  type Look,
  narrowed,
  type Screen,
  tableOf,
  textOf,
  withQuery,
} from '../screen.ts';

/** Whether anything of a source is missing. */
export const sourceScreen: Screen = {
  path: '/sources/:id',
  name: 'systems',
  async show(look) {
    const { id = '' } = look.params;
    const json = `/v1/sources/${encodeURIComponent(id)}/continuity`;
    const answer = await look.ask(json);
    return {
      title: `Source ${id}`,
      sections: [
        factsFrom(answer, 'Continuity', json, {
          firstSeq: 'First record',
          lastSeq: 'Last record',
          'checked.from': 'Checked from',
          'checked.to': 'Checked to',
          ranges: 'There',
          forks: 'Forks',
        }),
        ...stripOf(answer, json),
        modelsOf(look, id),
        {
          kind: 'links',
          title: 'Of this source',
          links: [
            { text: 'Its records', href: withQuery('console/records', { sourceId: id }) },
            { text: 'How long they are kept', href: withQuery('console/retention', { sourceId: id }) },
            { text: 'A pack of evidence', href: withQuery('console/forms/evidence-pack', { sources: id }) },
          ],
        },
      ],
    };
  },
};

/** With what the decisions of a source were made, over time. */
function modelsOf(look: Look, id: string): Promise<Section> {
  return tableOf(look, {
    title: 'Models, over time',
    about: 'As its records name them: of all, or of 200 that are evenly spread.',
    path: `/v1/sources/${encodeURIComponent(id)}/models`,
    here: `console/sources/${encodeURIComponent(id)}`,
    columns: columns({
      modelId: 'Model',
      modelVersion: 'Version',
      firstSeq: 'From record',
      lastSeq: 'To record',
      firstSubmittedAt: 'Since',
      lastSubmittedAt: 'Until',
    }),
    ways: (item) => ({
      kind: 'link',
      text: 'Its records',
      href: withQuery('console/records', { sourceId: id, modelId: textOf(item, 'modelId') }),
    }),
    empty: { text: 'No record that was looked at names a model.', curl: null },
  });
}

/** What was checked of a source, and what of it is missing; nothing where it has no record. */
function stripOf(answer: JsonObject, json: string): readonly StripSection[] {
  const checked = objectAt(answer, 'checked');
  if (checked.from === undefined) return [];
  const gaps = itemsOf(answer, 'gaps').map(({ from, to, reason }) => {
    return { from: Number(from), to: Number(to), reason: String(reason) };
  });
  const [first, last] = [Number(checked.from), Number(checked.to)];
  return [{ kind: 'strip', title: 'What is missing', json, member: 'gaps', first, last, gaps }];
}

/** How long the records of a source are kept, and what holds them. */
export const retentionScreen: Screen = {
  path: '/retention',
  name: 'retention',
  show(look) {
    const sourceId = look.query.get('sourceId') ?? '';
    return {
      title: 'Retention and holds',
      sections: [
        filterOf(look, 'console/retention', { sourceId: 'Source' }),
        ...(sourceId === '' ? [chooseSource(look, 'console/retention')] : locksOf(look, sourceId)),
        {
          kind: 'links',
          title: 'What you can do',
          links: [
            { text: 'Lock records, or hold them', href: withQuery('console/forms/retention-lock', { sourceId }) },
            { text: 'Erase contents', href: 'console/forms/erasure' },
          ],
        },
      ],
    };
  },
};

function locksOf(look: Look, sourceId: string): readonly Promise<Section>[] {
  const path = withQuery('/v1/retention', { sourceId });
  const here = withQuery('console/retention', { sourceId });
  return [
    tableOf(look, {
      title: 'Kept until',
      path,
      member: 'effective',
      here,
      columns: columns({
        recordKind: 'Kind',
        effectiveUntil: 'Until',
        retentionPeriodDays: 'Days',
        legalHold: 'On hold',
      }),
      empty: { text: 'Nothing keeps them.', curl: null },
    }),
    tableOf(look, {
      title: 'Locks and holds',
      path,
      member: 'locks',
      here,
      columns: columns({
        lockId: 'Lock',
        node: 'At',
        scope: 'Of',
        retentionPeriodDays: 'Days',
        lockedAt: 'Since',
        expiresAt: 'Until',
        legalHold: 'Legal hold',
        releaseAttestationId: 'Released by',
      }),
      ways: (item) =>
        item.legalHold === 'active'
          ? formLink('Release the hold (a second person)', 'hold-release', { lockId: textOf(item, 'lockId') })
          : { kind: 'none' },
      empty: { text: 'No lock is on record.', curl: null },
    }),
  ];
}

/** The sources of the account, as ways to a screen that asks for one. */
async function chooseSource(look: Look, to: string): Promise<Section> {
  const sources = itemsOf(await look.ask('/v1/sources'), 'items').map((item) => textOf(item, 'sourceId'));
  const links = sources.map((sourceId) => ({ text: sourceId, href: withQuery(to, { sourceId }) }));
  return links.length > 0
    ? { kind: 'links', title: 'Choose a source', links }
    : { kind: 'text', title: 'Choose a source', tone: 'none', paragraphs: ['Nothing was recorded yet.'], copy: null };
}

/** The frameworks whose clauses records can evidence. */
export const frameworksScreen: Screen = {
  path: '/frameworks',
  name: 'frameworks',
  show: (look) => ({
    title: 'Frameworks',
    sections: [
      factsOf(look, 'The catalogue', '/v1/frameworks', {
        catalogueVersion: 'Version',
        asOf: 'As of',
        disclaimer: 'What it says',
      }),
      tableOf(look, {
        title: 'Frameworks',
        path: '/v1/frameworks',
        member: 'frameworks',
        here: 'console/frameworks',
        columns: columns({ id: 'Framework', title: 'Title', authority: 'Of', clauses: 'Clauses' }),
        cells: {
          id: (item) => ({ kind: 'link', text: textOf(item, 'id'), href: `console/frameworks/${textOf(item, 'id')}` }),
        },
        empty: { text: 'The catalogue is empty.', curl: null },
      }),
    ],
  }),
};

/** One framework against the records of a source: clause by clause what is on record. */
export const frameworkScreen: Screen = {
  path: '/frameworks/:id',
  name: 'frameworks',
  show(look) {
    const { id = '' } = look.params;
    const here = `console/frameworks/${encodeURIComponent(id)}`;
    const sourceId = look.query.get('sourceId') ?? '';
    const filter = filterOf(look, here, {
      sourceId: 'Source',
      systemRef: 'System',
      from: 'From (day)',
      to: 'Before (day)',
      includeTest: ['Test records too', ['true']],
    });
    const report = sourceId === '' ? [chooseSource(look, here)] : reportOf(look, id, here);
    return { title: `Framework ${id}`, sections: [filter, ...report] };
  },
};

function reportOf(look: Look, framework: string, here: string): readonly Promise<Section>[] {
  const filters = narrowed(look, ['sourceId', 'systemRef', 'from', 'to', 'includeTest']);
  const path = withQuery('/v1/reports/gap', { framework, ...filters });
  const sourceId = filters.sourceId ?? '';
  return [
    factsOf(look, 'The report', path, {
      disclaimer: 'What it says',
      catalogueVersion: 'Catalogue',
      ruleSet: 'Rules',
      from: 'From',
      to: 'To',
      records: 'Records looked at',
      'excluded.test': 'Test records left out',
      'excluded.staging': 'Staging records left out',
      truncated: 'Cut off',
    }),
    tableOf(look, {
      title: 'Clauses',
      path,
      member: 'clauses',
      here,
      columns: columns({
        clause: 'Clause',
        requirement: 'What it asks for',
        evidenceStatus: 'On record',
        recordedNeeds: 'Needs recorded',
        requiredNeeds: 'Needs in all',
        missing: 'Missing',
        sampleIds: 'Some of the records',
        appliesFrom: 'Applies from',
      }),
      cells: {
        evidenceStatus: (item) => statusOf(item),
        clause: (item) => ({ kind: 'text', text: textOf(item, 'clause') }),
      },
      ways: (item) => recordsFor(item, sourceId),
      empty: { text: 'It has no clauses.', curl: null },
    }),
  ];
}

function statusOf(item: JsonObject): Cell {
  const text = textOf(item, 'evidenceStatus') || textOf(item, 'status');
  const tone = text === 'recorded' || text === 'present' ? 'good' : text === 'partial' ? 'wait' : 'none';
  return { kind: 'state', tone, text };
}

/** The records of the first kind that counts for a clause. */
function recordsFor(item: JsonObject, sourceId: string): Cell {
  const kinds = Object.keys(objectAt(item, 'counts')).filter((kind) => /^[a-z_]+$/.test(kind));
  const links = kinds.map((kind): Cell => {
    return { kind: 'link', text: kind, href: withQuery('console/records', { sourceId, kind }) };
  });
  return links.length === 0 ? { kind: 'none' } : { kind: 'list', cells: links };
}

/** Packs of evidence: what was asked for, how far it is, and its file. */
export const packsScreen: Screen = {
  path: '/packs',
  name: 'packs',
  show: (look) => ({
    title: 'Evidence packs',
    sections: [
      tableOf(look, {
        title: 'Packs',
        path: '/v1/evidence-packs',
        member: 'packs',
        here: 'console/packs',
        columns: columns({
          packId: 'Pack',
          state: 'State',
          'progress.done': 'Done',
          'progress.total': 'Of',
          sources: 'Sources',
          systems: 'Systems',
          from: 'From',
          to: 'Before',
          asOf: 'As of',
          bytes: 'Bytes',
          attestationId: 'Record of its manifest',
          expiresAt: 'Kept until',
        }),
        ways: (item) => packWays(item),
        empty: {
          text: 'No pack was asked for.',
          curl: `curl -X POST "$NODE/v1/evidence-packs" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"sources":["loan-model"],"from":"2026-01-01","to":"2026-04-01"}'`,
        },
      }),
      { kind: 'links', title: 'Ask for one', links: [{ text: 'A new pack', href: 'console/forms/evidence-pack' }] },
    ],
  }),
};

function packWays(item: JsonObject): Cell {
  const id = textOf(item, 'packId');
  const remove = formLink('Delete it', 'pack-delete', { id });
  const file: Cell = { kind: 'link', text: 'Download', href: `v1/evidence-packs/${id}/file` };
  return item.state === 'ready' ? { kind: 'list', cells: [file, remove] } : remove;
}
