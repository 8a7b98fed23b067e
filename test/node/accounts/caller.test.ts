import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Caller, covers, hasPeriod, mayName, whoActsBy } from '../../../node/accounts/caller.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';

const KEY = { id: 'key_eu_1', scopes: [], sources: ['triage'] };
const moment = fc.integer({ min: 0, max: 20 });
const bound = fc.option(moment, { nil: null });
const stamp = (at: number | null) => (at === null ? null : timestampOf(at));

test('a period holds the moments from its first to its last, and is without bound where it has none', () => {
  fc.assert(
    fc.property(bound, bound, moment, (from, to, at) => {
      const key = { ...KEY, from: stamp(from), to: stamp(to) };
      assert.is(covers(key, timestampOf(at)), (from ?? 0) <= at && at <= (to ?? 20));
      assert.is(hasPeriod(key), from !== null || to !== null);
    }),
  );
  assert.equal([hasPeriod(KEY), covers(KEY, timestampOf(0))], [false, true]);
});

test('a record is named by its own account alone, with a key of its source and its period', () => {
  const record = { account: 'acc_eu_ada', sourceId: 'triage', submittedAt: timestampOf(5) };
  const caller: Caller = {
    account: { id: 'acc_eu_ada', tier: 'standard' },
    key: { ...KEY, from: timestampOf(5), to: timestampOf(5) },
  };
  assert.ok(mayName(caller, record));
  const others = [
    { account: 'acc_eu_bob' },
    { sourceId: 'credit' },
    { submittedAt: timestampOf(4) },
    { submittedAt: timestampOf(6) },
  ];
  for (const other of others) assert.not(mayName(caller, { ...record, ...other }), JSON.stringify(other));
});

test('whoever signed in by mail is one person by whatever key, and no name of a key makes anybody somebody', () => {
  const holder = 'owner' as const;
  assert.is(whoActsBy({ ...KEY, id: 'key_eu_2', holder }), whoActsBy({ ...KEY, id: 'key_eu_3', holder }));
  const named = { ...KEY, name: holder };
  assert.is(whoActsBy(named), KEY.id);
});

test.run();
