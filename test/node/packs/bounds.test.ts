import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PackQuestions } from '../../../node/packs/pack-questions.ts';
import { PackRefusal } from '../../../node/packs/pack-refusal.ts';
import { packTable } from '../../../node/packs/pack-tables.ts';
import { Store } from '../../../node/store/store.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { askedPack } from '../../fixtures/made-pack.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

const EU = nodeId('eu');
const START = Date.UTC(2026, 11, 1);
const MAX_QUESTIONS = 3;

const directory = await mkdtemp(join(tmpdir(), 'meridian-packs-'));
const store = await Store.open(directory);
test.after(async () => {
  await store[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function questionsOf(generator: string): PackQuestions {
  return new PackQuestions({
    self: EU,
    store,
    generator,
    reach: { upTo: async () => [] },
    auditLog: { flush: async () => {} },
    now: () => START,
    maxQuestions: MAX_QUESTIONS,
  });
}

/** Of the account that a test has to itself, as of so many milliseconds after the start. */
function question(account: string, after: number): PackQuestion {
  return {
    account,
    sources: ['loans'],
    systems: null,
    from: timestampOf(START - 1_000),
    to: timestampOf(START),
    asOf: timestampOf(START + after),
    frameworks: null,
    kinds: null,
    disclosure: false,
  };
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'answered',
    (error: unknown) => (error instanceof PackRefusal ? error.code : String(error)),
  );
}

test('past so many questions the oldest whose file is gone is forgotten, and nothing as old is answered anew', async () => {
  const questions = questionsOf('meridian/1');
  const ask = async (after: number) => {
    const fixed = await questions.fix(question('acme', after), [EU], 'key_eu_1');
    await store.write(fixed.operations);
    return fixed.row;
  };
  const rows = [await ask(1), await ask(2), await ask(3)];
  assert.is(await codeOf(ask(4)), 'packs-busy', 'the files of all are there, or will be');
  const [, second] = rows;
  if (second === undefined) throw new Error('no pack');
  await store.write([packTable.put(['acme', second.id], { ...second, state: 'gone' })]);
  await ask(4);
  assert.is(await questions.known(question('acme', 2)), undefined);
  assert.is((await questions.known(question('acme', 1)))?.id, rows[0]?.id);
  assert.is(await codeOf(questions.fix(question('acme', 2), [EU], 'key_eu_1')), 'as-of-unavailable');
});

test('what other software made is not made again; what was never made is made by the software that there is', async () => {
  const { row } = await questionsOf('meridian/1').fix(question('umbrella', 1), [EU], 'key_eu_1');
  const later = questionsOf('meridian/2');
  assert.throws(
    () => later.requireSameMaker(row),
    (error: unknown) => error instanceof PackRefusal,
  );
  const adopted = later.adopted(row);
  assert.is(adopted.generator, 'meridian/2');
  later.requireSameMaker(adopted);
});

test('a pack that would take more room than there is fails, says why, and leaves no file', async () => {
  await using network = await TestNetwork.start({
    ledger: 'local',
    config: { batchIntervalMs: 200, packsQuotaBytes: 10_000 },
  });
  const node = network.node();
  for (let i = 0; i < 10; i++) await node.attest({ case: i }, { sourceId: 'loans' });
  const from = new Date(Date.now() - 60_000).toISOString();
  const to = new Date(Date.now() + 1_000).toISOString();
  const pack = await askedPack(node, { sources: ['loans'], from, to });
  assert.is(pack.state, 'failed');
  assert.match(String(pack.failure), 'no room');
  assert.equal([pack.manifestHash, pack.attestationId, pack.bytes], [null, null, null]);
});

test.run();
