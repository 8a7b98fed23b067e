import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Tier } from '../../../protocol/accounts/tier.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import type { HttpAnswer } from '../../fixtures/node-client.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const [EU, US, SG] = [nodeId('eu'), nodeId('us'), nodeId('sg')];

interface MadeKey {
  readonly account: string;
  readonly apiKey: string;
  readonly keyId: string;
}

/** An account that lives at a node and names others, with a key that may do everything. */
async function makeAccount(home: TestNode, tier: Tier, nodes: readonly NodeId[]): Promise<MadeKey> {
  const { accounts } = home.context;
  const { id: account } = await accounts.create({ tier, nodes });
  return { account, ...(await makeKey(home, account)) };
}

async function makeKey(home: TestNode, account: string): Promise<Pick<MadeKey, 'apiKey' | 'keyId'>> {
  const { apiKey, key } = await home.context.accounts.keys.create(account, { preset: 'admin' }, 'operator');
  return { apiKey, keyId: key.id };
}

function usage(node: TestNode, apiKey: string): Promise<HttpAnswer> {
  return node.get('/v1/usage', { key: apiKey });
}

/** Waits until a key is answered with this status. */
async function answers(node: TestNode, apiKey: string, status: number): Promise<void> {
  await until(`${node.config.id} to answer ${status}`, async () => (await usage(node, apiKey)).status === status);
}

/** Waits until the home has recorded a version that its accounts wait for, and seals it. */

test('a key works at the nodes that its account names, once the version is decided, and at no other', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu', 'us', 'sg'], ledger: 'local' });
  const [eu, us, sg] = [network.node('eu'), network.node('us'), network.node('sg')];
  const shared = await makeAccount(eu, 'enterprise', [EU, US]);
  const alone = await makeAccount(eu, 'enterprise', [EU]);
  await until('the statement', async () => (await eu.context.intake.recorded) > 0);
  await eu.seal();
  await answers(us, shared.apiKey, 200);
  assert.is((await usage(us, shared.apiKey)).body.tier, 'professional');
  assert.is((await usage(eu, shared.apiKey)).body.tier, 'enterprise');
  assert.is((await usage(sg, shared.apiKey)).status, 401);
  assert.is((await usage(us, alone.apiKey)).status, 401);
});

test.run();
void SG;
