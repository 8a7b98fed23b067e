import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { REG_FRAMEWORKS } from '../../../../protocol/api/regwatch-item.ts';
import { INSTRUMENT_TYPES, JURISDICTION_PATTERN, REG_STATUSES } from '../../../../protocol/api/regwatch-words.ts';
import { RULES } from '../../../../node/services/regulatory-feed/classification-rules.ts';
import { classify } from '../../../../node/services/regulatory-feed/classify.ts';
import type { Entry } from '../../../../node/services/regulatory-feed/entry.ts';
import { terms } from './documents.ts';

function entry(more: Partial<Entry> = {}): Entry {
  const nothing = { summary: '', link: null, citation: null, authority: null, publishedAt: null, effectiveAt: null };
  return { key: 'k', title: 'A title', keyDates: [], signs: [], ...nothing, ...more };
}

test('every rule speaks of frameworks of the catalogue, of jurisdictions, and of the closed words', () => {
  for (const { when, jurisdictions = [], frameworks = [], instrumentType, status } of RULES) {
    for (const id of frameworks) assert.ok(REG_FRAMEWORKS.includes(id), id);
    const labels = [...jurisdictions, ...(when.jurisdictions ?? [])];
    for (const label of labels) assert.match(label, new RegExp(JURISDICTION_PATTERN));
    if (instrumentType !== undefined) assert.ok(INSTRUMENT_TYPES.includes(instrumentType));
    if (status !== undefined) assert.ok(REG_STATUSES.includes(status));
    assert.ok(
      Object.values(when).some((list: readonly string[]) => list.length > 0),
      'a rule without condition',
    );
  }
});

test('every rule can hold', () => {
  for (const rule of RULES) {
    const { signs = [], phrases = [], titlePhrases = [], jurisdictions = [] } = rule.when;
    const made = entry({ title: [titlePhrases[0], phrases[0], 'x'].join(' '), signs });
    const content = classify(made, terms({ jurisdictions }));
    for (const id of rule.frameworks ?? []) assert.ok(content.frameworks.includes(id), `${phrases[0]} gives ${id}`);
    for (const label of rule.jurisdictions ?? []) assert.ok(content.jurisdictions.includes(label));
    if (rule.instrumentType !== undefined) assert.is.not(content.instrumentType, 'unclassified');
    if (rule.status !== undefined) assert.is.not(content.status, 'unclassified');
  }
});

test('phrases are found as whole words alone', () => {
  assert.equal(classify(entry({ title: 'The Chai Act of tea' }), terms({ jurisdictions: ['EU'] })).frameworks, [
    'unclassified',
  ]);
  assert.equal(classify(entry({ title: 'On the AI Act.' }), terms({ jurisdictions: ['EU'] })).frameworks, [
    'EU_AI_ACT',
  ]);
  assert.equal(classify(entry({ title: 'Rule 240.17a-4' }), terms()).frameworks, ['SEC_17A4']);
  assert.equal(classify(entry({ title: 'Rule 17a‑4, amended' }), terms()).frameworks, ['SEC_17A4']);
});

test('"AI Act" names the Union\'s only where the source is of the Union', () => {
  assert.equal(classify(entry({ title: 'AI Act' }), terms({ jurisdictions: ['US'] })).frameworks, ['unclassified']);
});

test('the terms of the source stand where no rule says more', () => {
  const of = terms({ jurisdictions: ['GB'], instrumentType: 'guidance', status: 'in-force' });
  const plain = classify(entry(), of);
  assert.equal([plain.jurisdictions, plain.instrumentType, plain.status], [['GB'], 'guidance', 'in-force']);
  const ruled = classify(entry({ title: 'Consultation on something' }), of);
  assert.equal([ruled.instrumentType, ruled.status], ['consultation', 'proposed']);
});

test.run();
