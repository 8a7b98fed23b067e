import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Measured } from '../../../scripts/scaling/measured.ts';
import {
  fit,
  messageUsd,
  predictDay,
  predictIdle,
  predictBatch,
  type UnitCosts,
} from '../../../scripts/scaling/model.ts';
import { deviations, shortages } from '../../../scripts/scaling/tables.ts';

const COSTS: UnitCosts = {
  ownRecord: { received: 0, sent: 0, cpu: 700 },
  record: { received: 1_300, sent: 1_300, cpu: 50 },
  ownBatch: { received: 0, sent: 0, cpu: 90_000 },
  batch: { received: 12_000, sent: 12_000, cpu: -50 },
  checkpoint: { received: 9_000, sent: 9_000, cpu: 900 },
  self: { received: 0, sent: 0, cpu: 2_000 },
  peer: { received: 20, sent: 20, cpu: 300 },
  pair: { received: 12, sent: 12, cpu: 0 },
  stored: { record: 1_100, batch: 6_400, own: 1_500 },
};
const PARTS = ['ownRecord', 'record', 'ownBatch', 'batch', 'checkpoint', 'self', 'peer', 'pair'] as const;

/** What a federation would measure whose things cost exactly this. */
function measuredOf(members: number): Measured {
  const records = 200;
  return {
    members,
    records,
    idle: predictIdle(COSTS, members),
    small: { ...predictBatch(COSTS, members, 1), everywhere: 100 },
    large: { ...predictBatch(COSTS, members, records), everywhere: 100 },
    stored: COSTS.stored,
    catchUp: { received: 0, sent: 0, cpu: 0, milliseconds: 0 },
    meshed: 0,
    memory: 0,
  };
}

test('two sizes give back the costs that made them, and with those the measures of a third', () => {
  const found = fit(measuredOf(5), measuredOf(10));
  for (const part of PARTS) {
    for (const q of ['received', 'sent', 'cpu'] as const) {
      assert.ok(Math.abs(found[part][q] - COSTS[part][q]) < 1e-6 * COSTS.batch.received, `${part} ${q}`);
    }
  }
  for (const { what, deviation } of deviations(found, measuredOf(25))) assert.ok(Math.abs(deviation) < 1e-6, what);
});

test('a measure that the model did not foresee shows as a deviation', () => {
  const dear = measuredOf(25);
  const doubled = { ...dear, small: { ...dear.small, received: 2 * dear.small.received } };
  const found = deviations(fit(measuredOf(5), measuredOf(10)), doubled);
  const missed = found.filter(({ deviation }) => Math.abs(deviation) > 0.1);
  assert.equal(
    missed.map(({ what }) => what),
    ['a batch of 1: received'],
  );
});

test('one size is not enough', () => {
  assert.throws(() => fit(measuredOf(5), measuredOf(5)), RangeError);
});

test('a member signs a checkpoint an interval at most, and that grows with the members; batches add none', () => {
  const setting = { members: 100, recordsADay: 10_000_000, interval: 15 };
  const day = predictDay(COSTS, setting);
  assert.is(day.batches, 576_000);
  assert.is(day.checkpoints, 86_400 / 20);
  assert.is(predictDay(COSTS, { ...setting, interval: 60 }).checkpoints, day.checkpoints);
  assert.is(
    predictDay(COSTS, { ...setting, members: 5 }).checkpoints,
    predictDay(COSTS, { ...setting, members: 5 }).batches,
  );
});

test('a day has no more batches than records', () => {
  assert.is(predictDay(COSTS, { members: 100, recordsADay: 1_000, interval: 15 }).batches, 1_000);
});

test('the ledger charges a message, and each byte beyond the first kilobyte', () => {
  assert.is(messageUsd(590), 0.0008);
  assert.ok(Math.abs(messageUsd(1_124) - 0.0018) < 1e-12);
});

test('what breaks first is what is overdrawn the most', () => {
  const day = predictDay(COSTS, { members: 100, recordsADay: 10_000_000, interval: 15 });
  assert.match(shortages(day), /^disk \d/);
  const modest = predictDay(COSTS, { members: 5, recordsADay: 10_000, interval: 60 });
  assert.is(shortages(modest), 'nothing');
});

test.run();
