import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  pauseAfterFailure,
  pauseAfterSuccess,
  readRetryAfter,
} from '../../../../node/services/regulatory-feed/source-watch.ts';
import { readSources, SourcesError } from '../../../../node/services/regulatory-feed/sources.ts';

const directory = await mkdtemp(join(tmpdir(), 'meridian-sources-'));
const file = join(directory, 'sources.json');
const SOURCE = { id: 'eur-lex', url: 'https://eur-lex.example/rss', authority: 'European Union' };

test.after(() => rm(directory, { recursive: true }));

async function faultOf(content: unknown): Promise<string> {
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  const fault = await readSources(file).catch((error: unknown) => error);
  assert.instance(fault, SourcesError);
  return String(fault);
}

test('sources are read with what is left out; without a file there are none', async () => {
  assert.equal(await readSources(null), []);
  await writeFile(file, JSON.stringify({ sources: [{ ...SOURCE, intervalMinutes: 15, timeZone: 'Europe/London' }] }));
  const [source] = await readSources(file);
  assert.is(source?.intervalMs, 900_000);
  assert.equal(source?.terms, {
    id: 'eur-lex',
    authority: 'European Union',
    timeZone: 'Europe/London',
    format: 'feed',
    jurisdictions: [],
    frameworks: [],
  });
});

test('the example of sources that comes with the node is one', async () => {
  const example = join(import.meta.dirname, '../../../../node/services/regulatory-feed/sources.example.json');
  assert.ok((await readSources(example)).length > 3);
});

test('a file at fault is refused whole, and the fault is named', async () => {
  assert.match(await faultOf('{'), /REGWATCH_SOURCES/);
  assert.match(await faultOf({ sources: [SOURCE, SOURCE] }), /twice/);
  assert.match(await faultOf({ sources: [{ ...SOURCE, url: 'http://eur-lex.example/' }] }), /https/);
  assert.match(await faultOf({ sources: [{ ...SOURCE, url: 'https://me:secret@x.example/' }] }), /password/);
  assert.not.match(await faultOf({ sources: [{ ...SOURCE, url: 'https://me:secret@x.example/' }] }), /secret/);
  for (const more of [
    { surprise: 1 },
    { intervalMinutes: 1 },
    { frameworks: ['NONE'] },
    { timeZone: 'Mars' },
    { id: 'a/b' },
  ]) {
    assert.match(await faultOf({ sources: [{ ...SOURCE, ...more }] }), /\/sources\/0/);
  }
  assert.match(await faultOf({ sources: [{ ...SOURCE, id: 'operator' }] }), /operator/);
});

test('pauses double up to six hours, and chance only makes them longer', () => {
  assert.equal(
    [1, 2, 5, 9, 1_000].map((failures) => pauseAfterFailure(failures, null, 0) / 60_000),
    [1, 2, 16, 256, 360],
  );
  assert.is(pauseAfterFailure(1, null, 0.5), 75_000);
  assert.is(pauseAfterSuccess(60_000, 0.5), 63_000);
});

test('a wish for a pause is seconds or a date', () => {
  const now = Date.UTC(2026, 10, 21);
  assert.is(readRetryAfter('120', now), 120_000);
  assert.is(readRetryAfter('Sat, 21 Nov 2026 00:10:00 GMT', now), 600_000);
  assert.is(readRetryAfter('Fri, 20 Nov 2026 00:10:00 GMT', now), 0);
  assert.is(readRetryAfter('soon', now), null);
});

test.run();
