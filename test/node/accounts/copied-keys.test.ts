import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { copyStore } from '../../../node/fsck/backup/copy-store.ts';
import { restoreCommand } from '../../../scripts/restore/command.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';

const NEVER = new AbortController().signal;
const EU = nodeId('eu');
const WORD = 'THE API KEYS ARE THOSE OF A COPY OF THE STORE';

test('the operator of a restored copy is told that keys which were revoked since are in force again', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local' });
  const node = network.node('eu');
  const { home } = node.config;
  const status = async () => {
    const lines: string[] = [];
    const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
    assert.is(await restoreCommand(['--status', '--home', home], terminal, NEVER), 0, lines.join('\n'));
    return lines.join('\n');
  };
  const told = () => node.log.filter((line) => line.includes(WORD)).map((line) => Number(JSON.parse(line).keys));
  const { body } = await node.post('/v1/keys', { name: 'leaked', scopes: ['attest:write'] });
  const key = String(body.apiKey);
  const before = (await node.context.accounts.keys.list('acc_eu_unmetered')).length;
  const folder = await mkdtemp(join(tmpdir(), 'meridian-copy-'));
  const copy = join(folder, 'store');
  await copyStore(node.context.store, copy, EU, Date.now, NEVER);
  const id = String(Object(body.key).id);
  const revoke = () => node.post(`/v1/keys/${id}/revoke`, {});
  const attest = () => node.post('/v1/attest', { sourceId: 'test', data: {} }, { key });
  assert.is((await revoke()).status, 200);
  assert.is((await attest()).status, 401);
  await node.stop();
  assert.equal(told(), []);
  await rm(join(home, 'store'), { recursive: true });
  await cp(copy, join(home, 'store'), { recursive: true });
  await rm(folder, { recursive: true });
  await node.start();

  assert.is((await attest()).status, 200, 'what the operator is told of');
  const [keys = 0, ...more] = told();
  assert.equal(more, []);
  assert.ok(keys >= before, `${keys} keys`);
  assert.match(await status(), `${keys} API keys in force are as old as the last copy`);
  assert.is((await revoke()).status, 200);
  assert.match(await status(), `${keys - 1} API keys in force`);
  await node.stop();
  await node.start();
  assert.is(told().length, 1, 'a store that is the node’s own again says nothing');
});

test.run();
