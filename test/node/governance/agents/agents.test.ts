import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { KeyedLock } from '../../../../node/concurrency/keyed-lock.ts';
import { AgentKeyCipher } from '../../../../node/governance/agents/agent-key-cipher.ts';
import { Agents } from '../../../../node/governance/agents/agents.ts';
import { ServiceKeys } from '../../../../node/governance/agents/service-keys.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { accepted, Registry } from './agent-fixture.ts';

test('what was read of an agent before its records were taken back, or while they are, is not remembered', async () => {
  await using network = await TestNetwork.start({ nodes: ['eu'] });
  const node = network.node('eu');
  const { store, purges } = node.context;
  const registry = new Registry(node);
  await registry.registered({ agentId: 'ended' });
  await registry.registered({ agentId: 'meanwhile' });
  // Another registry over the store: to it records come as those do that are taken back, without its locks.
  const agents = new Agents({
    store,
    node: node.config.id,
    keys: new ServiceKeys(store, new AgentKeyCipher(new Uint8Array(32)), purges),
    locks: new KeyedLock(),
    payload: async () => 'erased',
  });
  const stateOf = async (agentId: string) => (await agents.find(agentId))?.deactivatedAt === null;
  assert.is(await stateOf('ended'), true);
  accepted(await registry.change('ended', 'deactivate', { reason: 'it is not used any more' }));
  assert.is(await stateOf('ended'), true, 'as it was read');
  agents.forget();
  assert.is(await stateOf('ended'), false);

  const { get } = store;
  const gate = Promise.withResolvers<void>();
  store.get = async (key) => {
    const row = await get.call(store, key);
    await gate.promise;
    return row;
  };
  const reading = agents.find('meanwhile');
  await new Promise((resolve) => setImmediate(resolve));
  agents.forget();
  store.get = get;
  gate.resolve();
  assert.is((await reading)?.deactivatedAt, null);
  accepted(await registry.change('meanwhile', 'deactivate', { reason: 'it is not used any more' }));
  assert.is(await stateOf('meanwhile'), false);
});

test.run();
