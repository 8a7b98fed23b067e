import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Known } from '../../../protocol/verdict/known.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { bundleOf, rosterEntries } from '../../fixtures/federation-log-bundle.ts';
import { at, verdictOf, wordOf } from './judged.ts';

function threeOf<Item>(items: readonly Item[]): readonly [Item, Item, Item] {
  return [at(items, 0), at(items, 1), at(items, 2)];
}

/** Three rosters of five members each: us eu ca sg jp, then za for jp, then br for sg. A record is under each. */
async function threeRosters() {
  const log = await FederationLog.create({ quorum: 2 });
  const records = [await log.record('eu')];
  for (const [added, removed] of [
    ['za', 'jp'],
    ['br', 'sg'],
  ] as const) {
    await log.admit(added);
    log.addRoster({ members: log.membersWith([added], [removed]) });
    records.push(await log.record('eu'));
  }
  return { log, records };
}

test('any roster of the chain may be the pin, and the verdict names it', async () => {
  const { log, records } = await threeRosters();
  for (const [i, record] of records.entries()) {
    const bundle = await bundleOf(log, record, 0, { witnesses: ['us', 'eu', 'ca', 'sg', 'za', 'br'] });
    for (const { roster, hash } of log.rosters) {
      const verdict = verdictOf(log, bundle, { pin: hash });
      assert.is(verdict.word, 'verified');
      assert.equal(verdict.pinned, { version: roster.version, hash });
      assert.is(verdict.restsOn?.version, Math.max(i + 1, roster.version));
    }
  }
});

test('by a pin, what was before it needs the majority of the pin', async () => {
  const { log, records } = await threeRosters();
  const bundle = await bundleOf(log, at(records, 2), 0, { witnesses: ['us', 'ca', 'za', 'br'] });
  assert.is(wordOf(log, bundle, { pin: log.roster(3).hash }), 'verified');
  const two = await bundleOf(log, at(records, 2), 0, { witnesses: ['za', 'br'] });
  assert.is(wordOf(log, two, { pin: log.roster(3).hash }), 'roster-without-majority');
});

test('a pinned genesis trusts every majority that was in force; of the first roster there is none here', async () => {
  const { log, records } = await threeRosters();
  const bundle = await bundleOf(log, at(records, 2), 0, { witnesses: ['us', 'eu', 'za', 'br'] });
  assert.is(wordOf(log, bundle), 'roster-without-majority');
  assert.is(wordOf(log, bundle, { pin: log.roster(2).hash }), 'verified');
});

test('a pin newer than the bundle needs a roster file, whose last is the pin', async () => {
  const { log, records } = await threeRosters();
  const bundle = await bundleOf(log, at(records), 0, { witnesses: ['us', 'ca', 'sg'], rosters: 1 });
  const rosters = rosterEntries(log, []);
  assert.is(wordOf(log, bundle, { pin: log.roster(3).hash }), 'pin-does-not-join');
  const verdict = verdictOf(log, bundle, { rosters });
  assert.is(verdict.word, 'verified');
  assert.equal([verdict.pinned?.version, verdict.restsOn?.version], [3, 3]);
  const old = await bundleOf(log, at(records), 0, { witnesses: ['us', 'sg', 'jp'], rosters: 1 });
  assert.is(wordOf(log, old), 'verified');
  assert.is(wordOf(log, old, { rosters }), 'too-few-checkpoints');
  assert.is(wordOf(log, old, { rosters, pin: log.genesis }), 'verified');
});

test('a bundle that says otherwise than a roster file is contradicted', async () => {
  const { log, records } = await threeRosters();
  const bundle = await bundleOf(log, at(records));
  const rival = await FederationLog.create({ quorum: 2 });
  await rival.record('eu');
  rival.addRoster({ name: 'another' });
  const replaced = await bundleOf(rival, await rival.record('eu'));
  const known: Known = { rosters: rosterEntries(log, []) };
  assert.is(wordOf(log, bundle, known), 'verified');
  assert.is(wordOf(log, replaced, known), 'contradicted');
  const [genesis, second, third] = threeOf(bundle.rosters);
  const { decision } = second;
  if (decision === null) throw new Error('no decision');
  const moved = { ...decision, text: decision.text.replace('"sequence":"20"', '"sequence":"21"') };
  assert.not.equal(moved.text, decision.text);
  const rosters = [genesis, { ...second, decision: moved }, third];
  assert.is(wordOf(log, { ...bundle, rosters }, known), 'contradicted');
});

test('a bundle that has another text for a known roster is contradicted, whatever its decision', async () => {
  const { log, records } = await threeRosters();
  const bundle = await bundleOf(log, at(records));
  const [genesis, second, third] = threeOf(bundle.rosters);
  const rosters = [genesis, { ...second, text: third.text }, third];
  assert.is(wordOf(log, { ...bundle, rosters }, { rosters: rosterEntries(log, []) }), 'contradicted');
});

test('a roster file of another federation, or that does not join, verifies nothing', async () => {
  const { log, records } = await threeRosters();
  const bundle = await bundleOf(log, at(records));
  const stranger = await FederationLog.create({ seed: 'stranger' });
  assert.is(wordOf(log, bundle, { rosters: rosterEntries(stranger, []) }), 'pin-does-not-join');
  const [genesis, , third] = threeOf(rosterEntries(log, []));
  assert.not(verdictOf(log, bundle, { rosters: [genesis, third] }).verified);
});

test.run();
