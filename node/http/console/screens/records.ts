import { RECORD_KINDS, RISK_LEVELS } from '../../../../protocol/statement/vocabulary.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import type { Section } from '../../../pages/console-page.ts';
import { objectAt } from '../cells.ts';
import {
  columns,
  factsFrom,
  filterOf,
  formLink,
  type Look,
  narrowed,
  type Screen,
  tableOf,
  withQuery,
} from '../screen.ts';

const FILTERS = ['sourceId', 'kind', 'from', 'to', 'modelId', 'riskLevel', 'agentId', 'sessionId'];
const ATTEST = `curl -X POST "$NODE/v1/tiered-attest" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"sourceId":"loan-model","data":{"decision":"approve"}}'`;

export const recordsScreen: Screen = {
  path: '/records',
  name: 'records',
  show(look) {
    const filters = narrowed(look, FILTERS);
    const path = withQuery('/v1/attestations', filters);
    const exported = (format: string): string => withQuery('/v1/attestations/export', { ...filters, format }).slice(1);
    return {
      title: 'Records',
      sections: [
        filterOf(look, 'console/records', {
          sourceId: 'Source',
          kind: ['Kind', RECORD_KINDS],
          from: 'From (time or day)',
          to: 'Before (time or day)',
          modelId: 'Model',
          riskLevel: ['Risk level', RISK_LEVELS],
          agentId: 'Agent',
          sessionId: 'Session',
        }),
        tableOf(look, {
          title: 'Records',
          path,
          here: 'console/records',
          columns: columns({
            attestationId: 'Record',
            recordKind: 'Kind',
            sourceId: 'Source',
            sourceSeq: 'Place in the source',
            submittedAt: 'Recorded',
            status: 'On the ledger',
            eventType: 'Event',
            modelId: 'Model',
            riskLevel: 'Risk level',
            payloadState: 'Content',
          }),
          empty: { text: 'No record is here, or none on this page.', curl: ATTEST },
        }),
        {
          kind: 'links',
          title: 'Take them with you',
          links: [
            { text: 'These records as JSON lines', href: exported('jsonl') },
            { text: 'These records as CSV', href: exported('csv') },
            { text: 'A pack of evidence of a period', href: 'console/forms/evidence-pack' },
          ],
        },
      ],
    };
  },
};

/** One record: its proof, what it is linked with, its content for whoever asks for it. */
export const recordScreen: Screen = {
  path: '/records/:id',
  name: 'records',
  async show(look) {
    const { id = '' } = look.params;
    const json = withQuery(`/v1/attestations/${encodeURIComponent(id)}`, { payload: look.query.get('payload') });
    const record = await look.ask(json);
    return {
      title: `Record ${id}`,
      sections: [
        factsFrom(record, 'The record', json, {
          attestationId: 'Record',
          recordKind: 'Kind',
          node: 'Signed by node',
          sourceId: 'Source',
          sourceSeq: 'Place in the source',
          submittedAt: 'Recorded',
          status: 'On the ledger',
          payloadState: 'Content',
        }),
        proofOf(look, id),
        claimsOf(record),
        linksOf(record),
        contentOf(record, id),
        waysOf(record, id),
      ],
    };
  },
};

async function proofOf(look: Look, id: string): Promise<Section> {
  const json = `/v1/verify/${encodeURIComponent(id)}`;
  return factsFrom(await look.ask(json), 'Its proof, as this node finds it', json, {
    verified: 'Every check holds',
    sigValid: 'The signature is valid',
    securityLevel: 'Signature scheme',
    word: 'In one word',
    confirmedAt: 'On the ledger since',
    problems: 'What does not hold',
  });
}

function claimsOf(record: JsonObject): Section {
  const claims = objectAt(record, 'claims');
  const titles = Object.fromEntries(Object.keys(claims).map((name) => [`claims.${name}`, name]));
  return factsFrom(record, 'What is signed of it', null, titles);
}

function linksOf(record: JsonObject): Section {
  const links = objectAt(record, 'links');
  const titles = Object.fromEntries(Object.keys(links).map((name) => [`links.${name}`, name]));
  if (Object.keys(titles).length > 0) return factsFrom(record, 'What it is linked with', null, titles);
  return {
    kind: 'text',
    title: 'What it is linked with',
    tone: 'none',
    paragraphs: ['It names no other record.'],
    copy: null,
  };
}

function contentOf(record: JsonObject, id: string): Section {
  const payload = record.payload ?? null;
  if (payload !== null) {
    return {
      kind: 'text',
      title: 'Its content',
      tone: 'none',
      paragraphs: ['That you looked at it stands in the audit log.'],
      copy: JSON.stringify(payload, null, 2),
    };
  }
  if (record.payloadState === 'erased') {
    const paragraphs = ['It was erased: what was recorded can still be proven, and not be read any more.'];
    return { kind: 'text', title: 'Its content', tone: 'none', paragraphs, copy: null };
  }
  const links = [{ text: 'Show its content (the audit log notes it)', href: `console/records/${id}?payload=1` }];
  return { kind: 'links', title: 'Its content', links };
}

function waysOf(record: JsonObject, id: string): Section {
  const sourceId = String(record.sourceId ?? '');
  const ways = [
    formLink('Record a review of it', 'human-override', { sourceId, originalAttestationId: id }),
    formLink('Report an incident about it', 'incident', { sourceId, relatedAttestationIds: id }),
    formLink('Erase its content', 'erasure', { attestationIds: id }),
  ];
  return {
    kind: 'links',
    title: 'What you can do',
    links: [
      ...ways.flatMap((way) => (way.kind === 'link' ? [{ text: way.text, href: way.href }] : [])),
      { text: 'Its public page', href: `v/${id}` },
      { text: 'Its bundle', href: `v1/bundles/${id}` },
    ],
  };
}

/** Sessions of use of AI systems. */
export const sessionsScreen: Screen = {
  path: '/sessions',
  name: 'sessions',
  show: (look) => ({
    title: 'Sessions of use',
    sections: [
      filterOf(look, 'console/sessions', { sourceId: 'Source', from: 'From', to: 'Before' }),
      tableOf(look, {
        title: 'Sessions',
        path: withQuery('/v1/sessions', narrowed(look, ['sourceId', 'from', 'to'])),
        here: 'console/sessions',
        columns: columns({
          sessionId: 'Session',
          sourceId: 'Source',
          submittedAt: 'Began',
          endedAt: 'Ended',
          recordedDecisionCount: 'Decisions within it',
        }),
        cells: { sessionId: (item) => sessionCell(item) },
        ways: (item) =>
          item.endedAt === null
            ? formLink('End it', 'session-end', { sessionId: String(item.sessionId), sourceId: String(item.sourceId) })
            : { kind: 'none' },
        empty: {
          text: 'No session was begun.',
          curl: `curl -X POST "$NODE/v1/session/start" -H "x-api-key: $KEY" -H "content-type: application/json" \\
  -d '{"sourceId":"loan-model"}'`,
        },
      }),
      { kind: 'links', title: 'Record one', links: [{ text: 'Begin a session', href: 'console/forms/session-start' }] },
    ],
  }),
};

function sessionCell({ sessionId }: JsonObject) {
  const text = String(sessionId);
  return { kind: 'code', text, href: withQuery('console/records', { sessionId: text }) } as const;
}
