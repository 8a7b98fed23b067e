import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { coarseFacetText, facetText, NOT_KEPT_APART, readFacet } from '../../../protocol/frameworks/facet.ts';
import { nodeId, recordId } from '../../../protocol/ids.ts';
import type { Claims } from '../../../protocol/chain/claims.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { RECORD_KINDS } from '../../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { RecordChain } from '../../fixtures/federation-record.ts';
import { fc } from '../../fixtures/properties.ts';

const { record } = new RecordChain('facet', nodeId('eu')).append({}, timestampOf(0));
const linked = recordId('att_eu_01JZZZZZZZZZZZZZZZZZZZZZZZ');

function facetOf(change: Partial<Omit<AttestationRecord, 'claims'>> & { readonly claims: Claims }) {
  const facet = readFacet(facetText({ ...record, ...change }));
  assert.ok(facet !== undefined);
  return facet;
}

const shownOf = (change: Parameters<typeof facetOf>[0]) => [...(facetOf(change).shown ?? ['?'])];

test('a decision shows the claims that it has, and not those that are empty', () => {
  const claims: Claims = {
    channel: 'direct',
    modelId: 'm',
    modelVersion: '',
    confidenceScore: 0,
    matched: false,
    referenceDatabase: [{ id: '' }],
    environment: 'test',
  };
  assert.equal(shownOf({ claims }), ['confidenceScore', 'matched', 'modelId']);
  assert.is(facetOf({ claims }).environment, 'test');
  assert.is(facetOf({ claims }).event, 'DECISION');
  assert.equal(shownOf({ claims: { ...claims, referenceDatabase: [{ id: 'list' }] }, links: { session: linked } }), [
    'confidenceScore',
    'matched',
    'modelId',
    'referenceDatabase',
    'sessionId',
  ]);
});

test('a record of governance shows what was given, and a link only where it leads somewhere', () => {
  const claims: Claims = {
    channel: 'direct',
    given: ['originalAttestationId', 'overrideReason', 'reviewOutcome', 'reviewerId', 'sourceId'],
    reviewer: `hmac-sha256:${'0'.repeat(64)}`,
    reviewOutcome: 'stopped',
  };
  const unresolved = shownOf({ kind: 'human_override', claims });
  assert.equal(unresolved, ['overrideReason', 'reviewOutcome', 'reviewOutcome=stopped', 'reviewerId']);
  const resolved = shownOf({ kind: 'human_override', claims, links: { original: linked } });
  assert.equal(resolved, ['originalAttestationId', ...unresolved]);
});

test('a lock shows the longest calendar span that it reaches', () => {
  const shown = (retentionDays: number) =>
    shownOf({ kind: 'retention_lock', claims: { channel: 'direct', retentionDays, scope: ['all'] } });
  assert.equal(shown(1825), ['retentionPeriodDays', 'retentionPeriodDays=1461', 'scope', 'scope=all']);
  assert.equal(shown(1827), ['retentionPeriodDays', 'retentionPeriodDays=1827', 'scope', 'scope=all']);
  assert.equal(shown(36_525), ['retentionPeriodDays', 'retentionPeriodDays=3653', 'scope', 'scope=all']);
});

test('a lock shows its scopes, and an event where a clause knows it', () => {
  const scope = ['documents', 'event:TECH_DOC', 'event:MY_OWN', 'event:MY_OTHER'] as const;
  const claims: Claims = { channel: 'direct', scope: [...scope] };
  const shown = ['scope', 'scope=documents', 'scope=event', 'scope=event:TECH_DOC'];
  assert.equal(shownOf({ kind: 'retention_lock', claims }), shown);
  const words: Claims = { channel: 'direct', scope: ['decisions', 'sessions'] };
  assert.equal(shownOf({ kind: 'retention_lock', claims: words }), ['scope', 'scope=decisions', 'scope=sessions']);
});

test('an assertion names its clause, whatever characters the clause has', () => {
  const claims: Claims = { channel: 'tiered', eventType: 'NOT_APPLICABLE' };
  const named = { framework: 'ISO_42001', clause: '6.1.4 / 8.4|x,y*(a)é' };
  assert.equal(facetOf({ claims: { ...claims, ...named } }).notApplicable, named);
  assert.is(facetOf({ claims }).notApplicable, null);
  const long = { ...claims, framework: 'F', clause: 'c'.repeat(10_000) };
  assert.is(facetOf({ claims: long }).shown, null);
});

test('any record has a facet that reads, in a short key of ASCII without a slash', () => {
  const text = fc.string({ unit: 'binary', maxLength: 200 });
  fc.assert(
    fc.property(
      fc.constantFrom(...RECORD_KINDS),
      fc.record({ eventType: text, framework: text, clause: text, riskLevel: text, given: fc.array(text) }, {}),
      (kind, claims) => {
        const key = facetText({ ...record, kind, claims: { channel: 'tiered', ...claims } });
        return /^[\x20-\x2e\x30-\x7e]*$/.test(key) && key.length < 2000 && readFacet(key) !== undefined;
      },
    ),
  );
});

test('coarse facets are few, and stay what they are', () => {
  const claims: Claims = { channel: 'tiered', environment: 'production', modelId: 'm' };
  const coarse = coarseFacetText(facetText({ ...record, claims: { ...claims, eventType: 'MY_OWN_EVENT' } }));
  assert.is(coarse, `decision|${NOT_KEPT_APART}|production|${NOT_KEPT_APART}`);
  assert.is(coarseFacetText(coarse), coarse);
  assert.is(readFacet(coarse)?.shown, null);
  const known = coarseFacetText(facetText({ ...record, claims: { ...claims, eventType: 'TECH_DOC' } }));
  assert.is(readFacet(known)?.event, 'TECH_DOC');
});

test('texts that are no facet are not read as one', () => {
  for (const text of [
    '',
    'decision',
    'decision|||x',
    'incident|DECISION||',
    'x|||',
    'decision|lower||',
    '|||',
    'incident||moon|',
    'incident||||',
  ]) {
    assert.is(readFacet(text), undefined, text);
  }
});

test.run();
