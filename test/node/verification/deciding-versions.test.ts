import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DecidingVersions } from '../../../node/verification/deciding-versions.ts';
import { type RecordId, recordId } from '../../../protocol/ids.ts';

/** Versions at every tenth place of a log, and how often one was looked for. */
function everyTenth(count: number) {
  const looked: (number | null)[] = [];
  const newestBefore = async (_account: string, place: number | null) => {
    looked.push(place);
    const last = Math.min(count - 1, Math.ceil((place ?? Infinity) / 10) - 1);
    return last < 0 ? undefined : { id: idOf(last), index: 10 * last };
  };
  return { newestBefore, looked };
}

function idOf(version: number): RecordId {
  return recordId(`att_eu_01${String(version).padStart(24, '0')}`);
}

test('records that one version decides of cost one search', async () => {
  const { newestBefore, looked } = everyTenth(3);
  const found = await DecidingVersions.find({ newestBefore }, 'acc_eu_demo', [null, 28, 25, 21, 19, 12]);
  assert.equal(looked, [null, 19]);
  assert.equal(
    found.versions.map(({ index }) => index),
    [20, 10],
  );
  for (const place of [null, 28, 21, 19, 12]) assert.ok(found.covers(place), String(place));
  assert.not(found.covers(20), 'before it another version may decide');
});

test('where there is no version before a record, that is known; one that is not at hand decides of nothing', async () => {
  const { newestBefore } = everyTenth(1);
  const found = await DecidingVersions.find({ newestBefore }, 'acc_eu_demo', [7, 0]);
  assert.ok(found.covers(0) && found.covers(7));
  const without = new Set([idOf(0)]);
  assert.equal([found.covers(7, without), found.covers(0, without)], [false, true]);
});

test('of more versions than one answer may rest on, those of the first places are found', async () => {
  const { newestBefore, looked } = everyTenth(40);
  const places = Array.from({ length: 40 }, (_, i) => 395 - 10 * i);
  const found = await DecidingVersions.find({ newestBefore }, 'acc_eu_demo', places);
  assert.is(looked.length, 16);
  assert.equal(
    places.filter((place) => found.covers(place)),
    places.slice(0, 16),
  );
});

test.run();
