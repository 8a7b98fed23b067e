import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sourceKey } from '../../../node/records/sources/sources.ts';
import { sourceIndex } from '../../../node/records/sources/source-index.ts';
import { type Damage, del, put, fsckAfter, testDamages } from './damaged-home.ts';
import { scratchDirectory, writeHome } from './home.ts';
import { FIRST, copyTo, drop, edit, editBody, flip, move, resign, swap } from './mutations.ts';

/** Bytes of a place in a row of keys. */
const PLACE = 33;
const NOTHING = new Uint8Array(0);

const DAMAGES: readonly Damage[] = [
  {
    what: 'the version by which rows of records are made does not read',
    mutate: async () => [put('projection-version/eu', '4x')],
    found: ['projection-version', /does not read/],
  },
  { what: 'a record index row is dropped', mutate: drop('record/att_us', 7), found: ['record', /is missing/] },
  {
    what: 'a record index row points elsewhere',
    mutate: edit('record/att_eu', 7, (seq) => String(Number(seq) + 1)),
    found: ['record', /holds \d+, not/],
  },
  {
    what: 'a record index row of no record is added',
    mutate: async () => [put('record/att_eu_01JZZZZZZZZZZZZZZZZZZZZZZZ', '5')],
    found: ['record', /belongs to no record/],
  },
  {
    what: 'a record row is dropped and a stray one added',
    mutate: async (rows) => [...(await drop('record/att_eu', 3)(rows)), put('record/att_us_nonsense', '5')],
    found: ['record', /belongs to no record/],
  },
  {
    what: 'the head of a record is changed',
    mutate: editBody('body/us', 1, (body) => body.replace('"kind":"decision"', '"kind":"incident"')),
    found: ['group', /its root is not that of its records/],
  },
  {
    what: 'one letter of the body of a record is changed',
    mutate: editBody('body/us', 1, (body) => body.replace('"acc_eu_acme"', '"acc_eu_acmf"')),
    found: ['body', /is not the one that the head names/],
  },
  {
    what: 'the body of the last record of a row is cut off',
    mutate: editBody('body/us', 1, (body) => body.slice(0, body.lastIndexOf('\n'))),
    found: ['body', /is not the one that the head names/],
  },
  {
    what: 'a record is written in another order of members',
    mutate: editBody('body/eu', 0, (body) => body.replace(/^\{("body":"[^"]+"),([^}]+)\}/, '{$2,$1}')),
    found: ['body', /does not read/],
  },
  { what: 'a bit of a compressed body row is flipped', mutate: flip('body/us', 1, 900), found: ['body', /is damaged/] },
  { what: 'the first byte of one is flipped', mutate: flip('body/us', 1, 0), found: ['body', /does not read/] },
  {
    what: 'a compressed body row is cut off',
    mutate: async (r) => {
      const [key, value] = await r.at('body/us', 1);
      return [put(key, value.subarray(0, -1))];
    },
    found: ['body', /is damaged/],
  },
  { what: 'a body row is dropped', mutate: drop('body/eu', 2), found: ['body', /is missing/] },
  { what: 'two body rows are swapped', mutate: swap('body/eu', 1, 2), found: ['body', /of another node or place/] },
  {
    what: 'a body row is no UTF-8',
    mutate: async (r) => [put((await r.at('body/us', 0))[0], Uint8Array.of(0xff))],
    found: ['body', /does not read/],
  },
  {
    what: 'a body row is stray',
    mutate: copyTo('body/eu', 0, 'body/eu/0000000000009999'),
    found: ['body', /belongs to nothing/],
  },
  {
    what: 'a body of no node is added',
    mutate: copyTo('body/eu', 0, `body/EU/${FIRST}`),
    found: ['body', /names no node/],
  },
  { what: 'a group is dropped', mutate: drop('group/us', 1), found: ['group', /should come before/] },
  { what: 'the first group is dropped', mutate: drop('group/eu', 0), found: ['envelope', /cannot be derived/] },
  {
    what: 'the signature of a group is changed',
    mutate: edit('group/eu', 2, resign),
    found: ['group', /signature of the group/],
  },
  {
    what: 'a group of a batch names another key than its envelope',
    mutate: edit('group/us', 1, (group) => group.replace(/sha256:.{8}(?=[0-9a-f]{56}\\",\\"node)/, 'sha256:00000000')),
    found: ['group', /another key than its batch/],
  },
  {
    what: 'a group is stray',
    mutate: copyTo('group/eu', 1, 'group/eu/0000000000000002'),
    found: ['group', /holds the group of record/],
  },
  {
    what: 'a group is that of another node',
    mutate: copyTo('group/eu', 0, `group/us/${FIRST}`),
    found: ['group', /holds the group of record eu/],
  },
  { what: 'an envelope is dropped', mutate: drop('envelope/us', 1), found: ['envelope', /batch 2 should come here/] },
  {
    what: 'the last own envelope is dropped',
    mutate: drop('envelope/eu', -1),
    found: ['batch-first', /belongs to nothing/],
  },
  {
    what: 'the signature of an envelope is changed',
    mutate: edit('envelope/us', 0, resign),
    found: ['envelope', /signature of the envelope/],
  },
  {
    what: 'the root of an envelope is changed',
    mutate: edit('envelope/eu', 0, (s) => s.replace(/root\\":\\"sha256:./, 'root\\":\\"sha256:x')),
    found: ['envelope', /root/],
  },
  { what: 'a batch-first row is dropped', mutate: drop('batch-first/us', 0), found: ['batch-first', /is missing/] },
  {
    what: 'a batch-first row leads elsewhere',
    mutate: edit('batch-first/us', 0, () => '2'),
    found: ['batch-first', /leads to batch 2/],
  },
  {
    what: 'a batch-first row is stray',
    mutate: copyTo('batch-first/us', 0, 'batch-first/us/0000000000000002'),
    found: ['batch-first', /belongs to nothing/],
  },
  { what: 'a tile is dropped', mutate: drop('tile/eu', 1), found: ['tile', /is missing/] },
  { what: 'two tiles are swapped', mutate: swap('tile/us', 0, 1), found: ['tile', /does not hold the hashes/] },
  { what: 'one bit of a tile is changed', mutate: flip('tile/eu', 2, 40), found: ['tile', /does not hold the hashes/] },
  {
    what: 'a tile is stray',
    mutate: copyTo('tile/us', 0, `tile/us/0000000000000099/${FIRST}/${FIRST}`),
    found: ['tile', /belongs to nothing/],
  },
  {
    what: 'the last row of a source is dropped',
    mutate: drop('source-index/acc_eu_acme', -1),
    found: ['source-index', /is missing/],
  },
  {
    what: 'a row of a source is dropped',
    mutate: drop('source-index/acc_eu_acme', 1),
    found: ['source-index', /is missing/],
  },
  {
    what: 'the first row of a source is dropped',
    mutate: drop('source-index/acc_eu_globex', 0),
    found: ['source-index', /is missing/],
  },
  {
    what: 'a row of a source leads elsewhere',
    mutate: edit(
      'source-index/acc_eu_acme',
      1,
      (row) => row.slice(0, 32) + row.slice(32).replace(/^\d+/, (seq) => `${Number(seq) + 1}`),
    ),
    found: ['source-index', /holds \d+, not \d+/],
  },
  {
    what: 'a row of a source is a record short',
    mutate: edit('source-index/acc_eu_acme', 0, (row) => row.slice(0, row.lastIndexOf(' '))),
    found: ['source-index', /another leaf/],
  },
  {
    what: 'a row of a source names a record more',
    mutate: edit('source-index/acc_eu_globex', -1, (row) => `${row} 6`),
    found: ['source-index', /belongs to no record/],
  },
  {
    what: 'a row of a source has another leaf',
    mutate: flip('source-index/acc_eu_acme', 1, 4),
    found: ['source-index', /another leaf/],
  },
  {
    what: 'a row of a source does not read',
    mutate: edit('source-index/acc_eu_acme', 2, (row) => `${row} 1`),
    found: ['source-index', /does not read/],
  },
  {
    what: 'a row stands under another source',
    mutate: move('source-index/acc_eu_globex', 0, (key) => key.replace(/.\//g, 'x/')),
    found: ['source-index', /belongs to no record/],
  },
  {
    what: 'two rows of a source are swapped',
    mutate: swap('source-index/acc_eu_acme', 0, 1),
    found: ['source-index', /holds/],
  },
  {
    what: 'a row of a source is stray',
    mutate: copyTo('source-index/acc_eu_acme', 0, `source-index/acc_eu_acme/x/${FIRST}`),
    found: ['source-index', /belongs to no record/],
  },
  {
    what: 'a row of a source is written a second time from its second record on',
    mutate: async (rows) => {
      const [key, value] = await rows.at('source-index/acc_eu_acme', 0);
      const row = sourceIndex.decode(value);
      const source = key.split('/').at(-2) ?? '';
      return [sourceIndex.put(['acc_eu_acme', source, 2], { ...row, runs: row.runs.slice(1) })];
    },
    found: ['source-index', /lies over the row before/],
  },
  {
    what: 'a row of a source is copied past its end',
    mutate: copyTo('source-index/acc_eu_acme', 0, `source-index/acc_eu_acme/${sourceKey('credit')}/0000000000009999`),
    found: ['source-index', /belongs to no record/],
  },
  { what: 'one bit of a ciphertext is changed', mutate: flip('payload/', 1, -3), found: ['payload', /does not open/] },
  { what: 'a payload row is dropped', mutate: drop('payload/', 1), found: ['payload', /is missing/] },
  {
    what: 'a payload row is cut',
    mutate: async (r) => {
      const [key, value] = await r.at('payload/', 0);
      return [put(key, value.subarray(0, -1))];
    },
    found: ['payload', /does not read/],
  },
  {
    what: 'a payload row is emptied',
    mutate: async (r) => [put((await r.at('payload/', 0))[0], NOTHING)],
    found: ['payload', /is empty/],
  },
  {
    what: 'a payload row is stray',
    mutate: copyTo('payload/', 0, 'payload/0000000000009999'),
    found: ['payload', /belongs to nothing/],
  },
  {
    what: 'the seed of a payload is changed',
    mutate: flip('payload-keys/', 3, 5),
    found: ['payload', /does not open/],
  },
  {
    what: 'the cipher of a seed is none',
    mutate: flip('payload-keys/', 3, 0),
    found: ['payload-keys', /holds no seed/],
  },
  {
    what: 'two seeds are swapped',
    mutate: async (rows) => {
      const [key, value] = (await rows.under('payload-keys/')).findLast(([, { length }]) => length >= 2 * PLACE) ?? [
        '',
        NOTHING,
      ];
      return [
        put(
          key,
          Buffer.concat([value.subarray(PLACE, 2 * PLACE), value.subarray(0, PLACE), value.subarray(2 * PLACE)]),
        ),
      ];
    },
    found: ['payload', /does not open/],
  },
  { what: 'a row of keys is dropped', mutate: drop('payload-keys/', 1), found: ['payload-keys', /is missing/] },
  {
    what: 'a row of keys is cut within a seed',
    mutate: edit('payload-keys/', 0, (row) => row.slice(0, -1)),
    found: ['payload-keys', /does not read: a row of keys has another length/],
  },
  {
    what: 'a row of keys is cut between two seeds',
    mutate: edit('payload-keys/', 0, (row) => row.slice(0, -PLACE)),
    found: ['payload-keys', /is missing|does not read/],
  },
  {
    what: 'a row of keys is emptied',
    mutate: async (r) => [put((await r.at('payload-keys/', 0))[0], NOTHING)],
    found: ['payload-keys', /is empty/],
  },
  {
    what: 'a row of keys has more than its group',
    mutate: edit('payload-keys/', -1, (row) => row + '\0'.repeat(PLACE)),
    found: ['payload-keys', /reaches past its group/],
  },
  {
    what: 'a row of keys is stray',
    mutate: copyTo('payload-keys/', 0, 'payload-keys/eu/0000000000009999'),
    found: ['payload-keys', /belongs to nothing/],
  },
  {
    what: 'a row of keys is of another node',
    mutate: copyTo('payload-keys/', 0, `payload-keys/us/${FIRST}`),
    found: ['payload-keys', /is of another node/],
  },
  {
    what: 'the key of a prepared record that is none is added',
    mutate: async () => [put('payload-key/att_eu_01JZZZZZZZZZZZZZZZZZZZZZZZ', new Uint8Array(33).fill(1))],
    found: ['payload-key', /belongs to no record/],
  },
  {
    what: 'the count of an account and day is changed',
    mutate: edit('usage/', 0, (count) => String(Number(count) - 1)),
    found: ['usage', /does not count \d+ records/],
  },
  {
    what: 'a count of no record is added',
    mutate: async () => [put('usage/acc_eu_acme/2026-05-31', '5')],
    found: ['usage', /belongs to no record/],
  },
  {
    what: 'a count of a facet is changed',
    mutate: edit('tally/', 0, (row) => row.replace(/^\d+/, (count) => String(Number(count) + 1))),
    found: ['tally', /does not count the records of its day/],
  },
  { what: 'a count of a facet is dropped', mutate: drop('tally/', -1), found: ['tally', /is missing/] },
  {
    what: 'a count of a facet of no record is added',
    mutate: copyTo('tally/', 0, 'tally/acc_eu_acme/all/2026-05-31/incident|||'),
    found: ['tally', /belongs to no record/],
  },
  {
    what: 'a count of a facet names other records',
    mutate: edit('tally/', 0, (row) => row.replace(/ .*/, ` ${'att_eu_01JZZZZZZZZZZZZZZZZZZZZZZZ'.repeat(2)}`)),
    found: ['tally', /does not read/],
  },
  {
    what: 'the mark of the tallies is set back',
    mutate: edit('tally-end/eu', 0, (row) => row.replace(/\d+}/, '7}')),
    found: ['tally', /does not count the records of its day/],
  },
  {
    what: 'the mark of the tallies is set forward',
    mutate: edit('tally-end/eu', 0, (row) => row.replace(/\d+}/, '77777}')),
    found: ['tally-end', /counts up to record 77776, and the last one is/],
  },
  {
    what: 'the mark of the tallies is damaged',
    mutate: edit('tally-end/eu', 0, (row) => row.replace('next', 'text')),
    found: ['tally-end', /does not read/],
  },
  {
    what: 'the mark of the usage is set back',
    mutate: edit('usage-end/eu', 0, (row) => row.replace(/\d+}/, '7}')),
    found: ['usage', /does not count \d+ records/],
  },
  {
    what: 'the mark of the usage is set forward',
    mutate: edit('usage-end/eu', 0, (row) => row.replace(/\d+}/, '77777}')),
    found: ['usage-end', /counts up to record 77776, and the last one is/],
  },
  {
    what: 'the mark of the usage is damaged',
    mutate: edit('usage-end/eu', 0, (row) => row.replace('next', 'text')),
    found: ['usage-end', /does not read/],
  },
  {
    what: 'the mark of usage is of another node',
    mutate: copyTo('usage-end/', 0, 'usage-end/us'),
    found: ['usage-end', /no own records/],
  },
];

const scratch = await scratchDirectory();
const home = join(scratch.path, 'eu');

test.before(() => writeHome(home, 3));
test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

test('a home that its own parts wrote is whole', async () => {
  const result = await fsckAfter(home, async () => []);
  assert.equal(result.report.findings, []);
  assert.equal(result.report.notChecked, []);
});

testDamages(home, DAMAGES);

test('harmless: an erased payload, and a group taken back from peers without its payloads', async () => {
  const result = await fsckAfter(home, async (rows) => {
    const keys = await rows.under('payload-keys/');
    const single = (await rows.under('payload/')).at(-1);
    const last = keys.at(-1);
    return single === undefined || last === undefined ? [] : [del(single[0]), del(last[0])];
  });
  assert.equal(result.report.findings, []);
  assert.is(result.report.counts.payloadsErased, 1);
  assert.is(result.report.counts.payloadsAbsent, 1);
});

test.run();
