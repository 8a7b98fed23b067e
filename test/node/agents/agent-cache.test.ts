import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AgentCache, MAX_CACHED_KEYS } from '../../../node/agents/agent-cache.ts';
import { type Agent, agentOf } from '../../../protocol/agents/agent.ts';
import { hashText } from '../../../protocol/hash.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { made } from '../../protocol/evidence/case.ts';

function agentWith(agentId: string, keys: number): Agent {
  const agentPublicKey = encodeSignature(new Uint8Array(8));
  const claims = { agentId, agentKeyId: hashText(nobleSuite, agentId), agentPublicKey, custody: 'self' } as const;
  const agent = agentOf(made({ kind: 'agent_registration', claims }), []);
  const [key] = agent?.keys ?? [];
  if (agent === undefined || key === undefined) throw new Error('no agent');
  return { ...agent, keys: Array.from({ length: keys }, () => key) };
}

test('agents are kept until their keys are too many, and then the newest are', () => {
  const cache = new AgentCache();
  const count = 50;
  const keys = MAX_CACHED_KEYS / 32;
  for (let i = 0; i < count; i++) cache.set(agentWith(`agent-${i}`, keys));
  const kept = Array.from({ length: count }, (_, i) => cache.get(`agent-${i}`) !== undefined);
  assert.equal(
    kept,
    kept.map((_, i) => i >= count - 32),
  );
});

test('an agent that was let go or put in again counts once', () => {
  const cache = new AgentCache();
  for (let i = 0; i < 100; i++) cache.set(agentWith('same', MAX_CACHED_KEYS / 2));
  cache.set(agentWith('other', MAX_CACHED_KEYS / 2));
  assert.ok(cache.get('same') !== undefined && cache.get('other') !== undefined);
  cache.delete('same');
  cache.delete('same');
  cache.set(agentWith('third', MAX_CACHED_KEYS / 2));
  assert.ok(cache.get('other') !== undefined && cache.get('third') !== undefined);
  assert.is(cache.get('same'), undefined);
});

test.run();
