import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FsckResult } from '../../../node/fsck/fsck.ts';
import { fc } from '../../fixtures/properties.ts';
import { type Damage, del, fsckAfter, problemsOf, put, testDamages } from './damaged-home.ts';
import { scratchDirectory, writeHome } from './home.ts';
import { copyTo, drop, edit, flip, FIRST, move, resign, swap } from './mutations.ts';

const LOG_TABLES = [
  'log-entry',
  'log-tile',
  'log-batch',
  'log-state',
  'log-roster',
  'checkpoint',
  'false-checkpoint',
  'replaced-checkpoint',
] as const;
const RUNS = 25;
const MOST_MS = 15_000;

const ZERO = '0000000000000000';
const digit = (text: string): string => (text === '0' ? '1' : '0');

const DAMAGES: readonly Damage[] = [
  { what: 'an entry is dropped', mutate: drop('log-entry/', 3), found: ['log-entry', /entry 3 should stand here/] },
  { what: 'the first entry is dropped', mutate: drop('log-entry/', 0), found: ['log-entry', /entry 0 should/] },
  {
    what: 'the last entry is dropped',
    mutate: drop('log-entry/', -1),
    found: ['log-state', /says \d+ decisions, where/],
  },
  { what: 'two entries are swapped', mutate: swap('log-entry/', 0, 1), found: ['log-entry', /holds entry 1/] },
  {
    what: 'an entry too many',
    mutate: copyTo('log-entry/', -1, 'log-entry/0000000000000999'),
    found: ['log-entry', /should stand here/],
  },
  {
    what: 'an entry is not canonical',
    mutate: edit('log-entry/', 1, (text) => text.replace('{"', '{ "')),
    found: ['log-entry', /canonical/],
  },
  {
    what: 'an entry names another running hash',
    mutate: edit('log-entry/', 1, (text) => text.replace(/sha384:(.)/, (_, c: string) => `sha384:${digit(c)}`)),
    found: ['log-entry', /another running hash/],
  },
  {
    what: 'an entry is dated otherwise than its running hash covers',
    mutate: edit('log-entry/', 1, (text) => text.replace(/\d","index"/, (c) => `${digit(c.charAt(0))}","index"`)),
    found: ['log-entry', /another running hash/],
  },
  {
    what: 'an entry that comes right after another follows from another running hash',
    mutate: flip('log-entry/', 1, 7),
    found: ['log-entry', /does not follow from the entry before it/],
  },
  {
    what: 'an entry after messages that decided nothing follows from another running hash',
    mutate: flip('log-entry/', -1, 7),
    found: ['log-entry', /another running hash/],
  },
  {
    what: 'an entry was paid by a stranger',
    mutate: edit('log-entry/', 2, (text) => text.replace(/"payer":"[^"]*"/, '"payer":"0.0.666"')),
    found: ['log-entry', /no member's account/],
  },
  {
    what: 'an entry is of another topic',
    mutate: edit('log-entry/', 2, (text) => text.replace(/"topicId":"[^"]*"/, '"topicId":"0.0.7"')),
    found: ['log-entry', /another ledger topic/],
  },
  {
    what: 'an entry decides another number',
    mutate: edit('log-entry/', 9, (text) => text.replace(/\\"batch\\":\d+/, '\\"batch\\":99')),
    found: ['log-entry', /decides batch ca\/99, where \d+ is the next/],
  },
  {
    what: 'an entry names another envelope',
    mutate: edit('log-entry/', 9, (text) =>
      text.replace(/envelope\\":\\"sha256:./, (c) => c.slice(0, -1) + digit(c.slice(-1))),
    ),
    found: ['log-tile', /does not hold the leaf of entry 9/],
  },
  {
    what: 'a bit of a full tile is flipped',
    mutate: flip('log-tile/', 0, 40),
    found: ['log-tile', /leaf of entry 1$/],
  },
  {
    what: 'a bit of the last tile is flipped',
    mutate: flip('log-tile/', 1, 0),
    found: ['log-tile', /leaf of entry 256$/],
  },
  {
    what: 'a bit of an upper tile is flipped',
    mutate: flip('log-tile/', -1, 3),
    found: ['log-tile', /root of the tile below, 0/],
  },
  { what: 'a tile is dropped', mutate: drop('log-tile/', 1), found: ['log-tile', /is missing/] },
  {
    what: 'a tile is shorter than its entries',
    mutate: async (rows) => {
      const [key, value] = await rows.at('log-tile/', 1);
      return [put(key, value.subarray(32))];
    },
    found: ['log-tile', /does not hold the leaf/],
  },
  {
    what: 'a tile too many',
    mutate: copyTo('log-tile/', 0, `log-tile/${ZERO}/0000000000000002`),
    found: ['log-tile', /belongs to no entry/],
  },
  {
    what: 'a tile under a name that no tile has',
    mutate: copyTo('log-tile/', 0, 'log-tile/0/1'),
    found: ['log-tile', /belongs to no entry/],
  },
  {
    what: 'a batch leads to another entry',
    mutate: edit('log-batch/', 0, (n) => String(Number(n) + 1)),
    found: ['log-batch', /holds \d+, not/],
  },
  { what: 'a decided batch is dropped', mutate: drop('log-batch/', -1), found: ['log-batch', /is missing/] },
  {
    what: 'a batch that nothing decided',
    mutate: copyTo('log-batch/', 0, `log-batch/sg/${FIRST}`),
    found: ['log-batch', /belongs to no decision/],
  },
  { what: 'the state is dropped', mutate: drop('log-state/', 0), found: ['log-state', /is missing/] },
  {
    what: 'a second state',
    mutate: copyTo('log-state/', 0, 'log-state/other'),
    found: ['log-state', /belongs to nothing/],
  },
  {
    what: 'the state has another size',
    mutate: edit('log-state/', 0, (s) => s.replace(/"size":\d+/, '"size":7')),
    found: ['log-state', /says 7 decisions/],
  },
  {
    what: 'the state is not canonical',
    mutate: edit('log-state/', 0, (s) => `${s} `),
    found: ['log-state', /does not read/],
  },
  {
    what: 'the state has another last batch',
    mutate: edit('log-state/', 0, (s) => s.replace(/"batch":260/, '"batch":261')),
    found: ['log-state', /its members are not what/],
  },
  {
    what: 'the state has no revocation',
    mutate: edit('log-state/', 0, (s) => s.replace(/"revoked":\{.*?\]\}\}/, '"revoked":{}')),
    found: ['log-state', /its revoked are not what/],
  },
  {
    what: 'the state puts a roster in force at another entry',
    mutate: edit('log-state/', 0, (s) => s.replace(/"index":(\d+)\}\],"runningHash"/, '"index":5}],"runningHash"')),
    found: ['log-state', /its rosters are not what/],
  },
  {
    what: 'the state has read less than its entries',
    mutate: edit('log-state/', 0, (s) => s.replace(/"sequence":\d+/, '"sequence":3')),
    found: ['log-state', /before the last that decided/],
  },
  {
    what: 'the state has another running hash',
    mutate: edit('log-state/', 0, (s) => s.replace(/sha384:(.)/, (_, c: string) => `sha384:${digit(c)}`)),
    found: ['log-state', /another running hash/],
  },
  {
    what: 'the state is of another federation',
    mutate: edit('log-state/', 0, (s) =>
      s.replace(/"federation":"sha256:(.)/, (c) => c.slice(0, -1) + digit(c.slice(-1))),
    ),
    found: ['log-state', /of another federation/],
  },
  {
    what: 'the text of a roster in force is dropped',
    mutate: async (rows) =>
      (await rows.under('log-roster/'))
        .filter(([, value]) => Buffer.from(value).includes('"second"'))
        .map(([key]) => del(key)),
    found: ['log-roster', /is missing/],
  },
  {
    what: 'the text of a replaced roster that has checkpoints is no roster',
    mutate: async (rows) =>
      (await rows.under('log-roster/'))
        .filter(([, value]) => Buffer.from(value).includes('"version":1}'))
        .map(([key]) => put(key, 'text')),
    found: ['log-roster', /canonical|roster/],
  },
  { what: 'two roster texts are swapped', mutate: swap('log-roster/', 0, 1), found: ['log-roster', /not the hash/] },
  {
    what: 'a roster text is no roster',
    mutate: async () => [put(`log-roster/sha256:${'0'.repeat(64)}`, 'text')],
    found: ['log-roster', /canonical|roster/],
  },
  {
    what: 'the signature of a checkpoint is changed',
    mutate: edit('checkpoint/', 0, resign),
    found: ['checkpoint', /signature/],
  },
  {
    what: 'two checkpoints are swapped',
    mutate: swap('checkpoint/', 0, 1),
    found: ['checkpoint', /holds a checkpoint of/],
  },
  {
    what: 'a false checkpoint stands among those that count',
    mutate: move('false-checkpoint/', 0, (key) => key.replace('false-', '')),
    found: ['checkpoint', /has another root/],
  },
  {
    what: 'a checkpoint that agrees stands among the false ones',
    mutate: move('checkpoint/', 0, (key) => `false-${key}`),
    found: ['false-checkpoint', /is not false/],
  },
  {
    what: 'more checkpoints of a member stand there than are kept',
    mutate: async (rows) => {
      const [key, value] = await rows.at('checkpoint/', 0);
      return ['a', 'b'].map((more) => put(key + more, value));
    },
    found: ['checkpoint', /is one more than the 2/],
  },
  {
    what: 'a checkpoint covers more than the log',
    mutate: async (rows) => (await rows.under('log-entry/')).slice(-2).map(([key]) => del(key)),
    found: ['checkpoint', /which are not here/],
  },
  {
    what: 'the signature of a false checkpoint is changed',
    mutate: edit('false-checkpoint/', 0, resign),
    found: ['false-checkpoint', /signature/],
  },
  {
    what: 'the signature of a checkpoint for a replaced roster is changed',
    mutate: edit('replaced-checkpoint/', 0, resign),
    found: ['replaced-checkpoint', /signature/],
  },
  {
    what: 'a checkpoint for a replaced roster stands under the one in force',
    mutate: copyTo('replaced-checkpoint/', 0, `replaced-checkpoint/${ZERO.slice(0, -1)}2/eu`),
    found: ['replaced-checkpoint', /does not cover the decision that replaced roster 2/],
  },
  {
    what: 'a checkpoint for a replaced roster does not cover the decision that replaced it',
    mutate: async (rows) => {
      const [, value] = await rows.at('checkpoint/us/', 0);
      return [put(`replaced-checkpoint/${ZERO.slice(0, -1)}1/us`, value)];
    },
    found: ['replaced-checkpoint', /does not cover the decision that replaced roster 1/],
  },
  {
    what: 'a rival of a batch that was not decided',
    mutate: edit('log-rival/', 0, (s) => s.replace(/\\"batch\\":5/, '\\"batch\\":999')),
    found: ['log-rival', /was not decided/],
  },
  {
    what: 'a rival under another number',
    mutate: move('log-rival/', 0, (key) => `${key.slice(0, -1)}6`),
    found: ['log-rival', /names batch ca\/5/],
  },
  {
    what: 'a rival that a stranger paid for',
    mutate: edit('log-rival/', 0, (s) => s.replace(/"payer":"[^"]*"/, '"payer":"0.0.666"')),
    found: ['log-rival', /no account of ca/],
  },
  {
    what: 'a rival from before its decision',
    mutate: edit('log-rival/', 0, (s) => s.replace(/"sequence":"\d+"/, '"sequence":"1"')),
    found: ['log-rival', /before the decision/],
  },
  {
    what: 'a spend row of nothing',
    mutate: copyTo('spend/', 0, 'spend/other'),
    found: ['spend', /belongs to nothing/],
  },
];

const scratch = await scratchDirectory();
const home = join(scratch.path, 'eu');

test.before(() => writeHome(home, 3));
test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

test('the log of a home is proven: each decision, tile, roster and checkpoint', async () => {
  const result = await fsckAfter(home, async (rows) => {
    for (const table of LOG_TABLES) assert.ok((await rows.under(`${table}/`)).length > 0, `no row in ${table}`);
    return [put('spend/topic-info', (await rows.at('spend/', 0))[1])];
  });
  assert.equal(result.report.findings, []);
  const { decisions, logTiles, logRosters, rivals, ...counts } = result.report.counts;
  const { checkpoints, falseCheckpoints, replacedCheckpoints } = counts;
  assert.ok(decisions > 256);
  assert.equal({ logTiles, logRosters, rivals }, { logTiles: 3, logRosters: 3, rivals: 1 });
  assert.equal(
    { checkpoints, falseCheckpoints, replacedCheckpoints },
    { checkpoints: 2, falseCheckpoints: 1, replacedCheckpoints: 1 },
  );
});

testDamages(home, DAMAGES);

test('a flipped bit anywhere in a row of the log is found', async () => {
  const place = fc.record({
    table: fc.constantFrom(...LOG_TABLES),
    row: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    bit: fc.nat(7),
  });
  let checking: Promise<FsckResult> | undefined;
  const property = fc.asyncProperty(place, async ({ table, row, at, bit }) => {
    let where = '';
    checking = fsckAfter(home, async (rows) => {
      const all = await rows.under(`${table}/`);
      const [key, value] = await rows.at(`${table}/`, Math.floor(row * all.length));
      const offset = Math.floor(at * value.length);
      where = `bit ${bit} of byte ${offset} of ${key}`;
      return [put(key, withFlip(value, offset, bit))];
    });
    assert.ok(problemsOf(await checking).length > 0, `${where} escaped`);
  });
  await fc.assert(property, { numRuns: RUNS, interruptAfterTimeLimit: MOST_MS, endOnFailure: true });
  // The time limit leaves the last one under way.
  await checking;
});

function withFlip(value: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = Uint8Array.from(value);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

test.run();
