import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../../node/store/store.ts';
import { seedOf } from '../../fixtures/payload-keys.ts';
import { filesHolding } from '../../fixtures/store-files.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

const FSCK_MODULE = join(import.meta.dirname, '../../../node/fsck/fsck.ts');
/** A check, or a backup of a stopped node, that does not get on with the rows. */
const CHECK = `
  const { StoreView } = await import(process.argv[1]);
  const view = await StoreView.open(process.argv[2]);
  await view.rows();
  console.log('open');
  process.stdin.resume();
`;

async function workFolders(home: string): Promise<string[]> {
  return (await readdir(home)).filter((name) => name.startsWith('fsck-'));
}

test('what a killed check left is gone once the node has started, and what is erased then stands in no file of its home', async () => {
  await using network = await TestNetwork.start();
  const node = network.node();
  const { home } = node.config;
  const id = await node.attest({ passport: 'C01X00T47' });
  const seed = (await seedOf(node.context.store, id))?.subarray(0, -3);
  assert.ok(seed);
  await node.stop();
  const check = spawn(process.execPath, ['--input-type=module', '-e', CHECK, FSCK_MODULE, home], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(check, 'exit');
  try {
    await once(check.stdout, 'data');
    const refusal: unknown = await node.start().catch((error: unknown) => error);
    assert.is(refusal instanceof StoreError && refusal.code, 'locked');
  } finally {
    check.kill('SIGKILL');
    await exit;
  }
  const [left = ''] = await workFolders(home);
  assert.ok((await filesHolding(join(home, left, 'rows'), seed)).length > 0, 'a check at work keeps its folder');

  await node.start();
  assert.equal(await workFolders(home), []);
  const why = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office' };
  const { status, text } = await node.post('/v1/erasures', { ...why, attestationIds: [id] });
  assert.is(status, 200, text);
  assert.equal(await filesHolding(node.context.store.directory, seed), []);
});

test.run();
