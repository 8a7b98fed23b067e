import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Environment } from '../../../node/config/environment.ts';
import { listsConfig } from '../../../node/config/lists-config.ts';
import { LIST_IDS } from '../../../node/screening/lists/list-id.ts';

function refusalOf(environment: Environment): string {
  try {
    listsConfig(environment);
  } catch (error) {
    return String(error);
  }
  throw new Error('it was accepted');
}

function sources(value: unknown): Environment {
  return { LISTS_SOURCES: JSON.stringify(value) };
}

test('without sources nothing is downloaded; the official ones are all there, over TLS', () => {
  assert.is(listsConfig({}), null);
  const config = listsConfig({ LISTS_SOURCES: 'official' });
  assert.equal([...(config?.sources.keys() ?? [])], [...LIST_IDS]);
  for (const files of config?.sources.values() ?? []) {
    for (const url of files.values()) assert.match(url, /^https:/);
  }
  assert.is(config?.intervalMs, 6 * 3_600_000);
});

test('an operator names sources of some lists, and how often they are looked at', () => {
  const url = 'https://lists.example/consolidated.xml';
  const config = listsConfig({
    ...sources({ 'un-sc-consolidated': { 'consolidated.xml': url } }),
    LISTS_UPDATE_HOURS: '1.5',
  });
  assert.is(config?.sources.get('un-sc-consolidated')?.get('consolidated.xml'), url);
  assert.is(config?.sources.size, 1);
  assert.is(config?.intervalMs, 5_400_000);
});

test('what cannot work is refused at the start', () => {
  const un = (url: unknown) => sources({ 'un-sc-consolidated': { 'consolidated.xml': url } });
  assert.match(refusalOf({ LISTS_SOURCES: 'Official' }), '`official` or a JSON object');
  assert.match(refusalOf(sources(['x'])), '`official` or a JSON object');
  assert.match(refusalOf(sources({ other: {} })), 'there is no list "other"');
  assert.match(refusalOf(sources({ 'un-sc-consolidated': 7 })), 'no object');
  assert.match(refusalOf(sources({ 'un-sc-consolidated': {} })), 'consolidated.xml');
  assert.match(refusalOf(sources({ 'us-ofac-sdn': { 'sdn.csv': 'https://a.example/' } })), 'alt.csv');
  for (const url of ['http://lists.example/x', 'ftp://lists.example/x', 'https://a:b@lists.example/', 7, '']) {
    assert.match(refusalOf(un(url)), 'no https URL');
  }
  const stray = { 'consolidated.xml': 'https://a.example/', 'other.xml': 'https://a.example/' };
  assert.match(refusalOf(sources({ 'un-sc-consolidated': stray })), 'no file of it');
  assert.match(refusalOf({ LISTS_UPDATE_HOURS: '6' }), 'needs LISTS_SOURCES');
  assert.match(refusalOf({ LISTS_SOURCES: 'official', LISTS_UPDATE_HOURS: '0' }), 'LISTS_UPDATE_HOURS');
  assert.match(
    refusalOf({ LISTS_SOURCES: 'official', LISTS_UPDATE_HOURS: '169' }),
    'LISTS_UPDATE_HOURS is at most 168',
  );
});

test.run();
