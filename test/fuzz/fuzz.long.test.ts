import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SEED } from '../runner/seed.ts';
import { attack } from './attack.ts';
import { print, verdict } from './verdict.ts';
import { startFuzzTarget } from './fuzz-target.ts';

const REQUESTS = 10_000;

test(`${REQUESTS} hostile requests are refused as described, at no cost to anyone else (seed ${SEED})`, async () => {
  await using victim = await startFuzzTarget();
  const report = await attack(victim.node, { requests: REQUESTS, seed: SEED, keys: victim.keys });
  print(report);
  assert.equal(verdict(report, victim.node), []);
});

test.run();
