import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { ownNameTable, startTable, startToldTable } from '../../../node/log/start-tables.ts';
import { hashText } from '../../../protocol/hash.ts';
import { type Damage, fsckAfter, problemsOf, put, testDamages } from './damaged-home.ts';
import { scratchDirectory, US, writeHome } from './home.ts';
import { edit, move } from './mutations.ts';

const DAMAGES: readonly Damage[] = [
  {
    what: 'a statement on its way names nothing that is here',
    mutate: edit('statement-outbox/', 0, (s) => s.replaceAll(/sha256:..../g, 'sha256:0000')),
    found: ['statement-outbox', /not in the store/],
  },
  {
    what: 'a statement on its way stands under another key',
    mutate: move('statement-outbox/', 0, (key) => `${key.slice(0, -1)}x`),
    found: ['statement-outbox', /another key/],
  },
  {
    what: 'a statement on its way has the message of another type',
    mutate: edit('statement-outbox/', 0, (s) => s.replace('\\"type\\":\\"roster', '\\"type\\":\\"revocation')),
    found: ['statement-outbox', /message is not that of the statement/],
  },
  {
    what: 'a confirmed statement has the message of another node',
    mutate: edit('statement-outbox-closed/', 0, (s) => s.replace('\\"node\\":\\"ca', '\\"node\\":\\"us')),
    found: ['statement-outbox-closed', /message is not that of the statement/],
  },
  {
    what: 'a confirmed statement is queued again',
    mutate: async (r) => {
      const [key, value] = await r.at('statement-outbox-closed/', 0);
      return [put(key.replace('-closed', ''), value)];
    },
    found: ['statement-outbox', /at once/],
  },
  {
    what: 'a restored copy went on to a batch that is missing',
    mutate: edit('restoration/', 0, (s) => s.replace('"end":{"batch":1', '"end":{"batch":99')),
    found: ['restoration', /batch 99, which is missing/],
  },
  {
    what: 'a copy held more than the store does',
    mutate: edit('restoration/', 0, (s) => s.replace('"held":{"batch":1', '"held":{"batch":99')),
    found: ['restoration', /the copy held batch 99, the store ends at 1/],
  },
  {
    what: 'a restored copy made its chain shorter',
    mutate: edit('restoration/', 0, (s) => s.replace('"end":{"batch":1', '"end":{"batch":0')),
    found: ['restoration', /became shorter/],
  },
  {
    what: 'a restoration is of another node',
    mutate: move('restoration/', 0, (key) => key.replace('/eu/', '/us/')),
    found: ['restoration', /of another node/],
  },
  {
    what: 'more batches were taken back than the store holds',
    mutate: async () => [startTable.put(['taken-back'], 99)],
    found: [startTable.name, /batch 99 was taken back, the store ends at 1/],
  },
  {
    what: 'a mark of the start that there is not',
    mutate: async () => [startTable.put(['begun'], 1)],
    found: [startTable.name, /no key of this table/],
  },
  {
    what: 'what a node gave since its start ends before it begins',
    mutate: async () => [startToldTable.put([US], { batch: 1, since: { first: 5, last: 4 } })],
    found: [startToldTable.name, /ends before it begins/],
  },
  {
    what: 'an own name of no batch',
    mutate: async () => [ownNameTable.put([0], hashText(nativeSuite, 'a key'))],
    found: [ownNameTable.name, /no key of this table/],
  },
  {
    what: 'a restoration stands under another time',
    mutate: move('restoration/', 0, (key) => `${key.slice(0, -1)}x`),
    found: ['restoration', /no key of this table/],
  },
];

const scratch = await scratchDirectory();
const home = join(scratch.path, 'eu');

test.before(() => writeHome(home, 1));
test.after(async () => {
  await scratch[Symbol.asyncDispose]();
});

test('a home of which nothing was changed is whole, a roster that was published and lost to another included', async () => {
  const result = await fsckAfter(home, async () => []);
  assert.equal(problemsOf(result), []);
  const { counts } = result.report;
  assert.equal([counts.statementsOpen, counts.statementsConfirmed], [2, 1]);
});

testDamages(home, DAMAGES);

test.run();
