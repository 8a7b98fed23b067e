import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { askedPack } from '../../fixtures/made-pack.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';
import { type Damage, fsckAfter, testDamages } from './damaged-home.ts';
import { drop, edit, move, otherDigit } from './mutations.ts';

const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 200 } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const from = new Date(Date.now() - 60_000).toISOString();
const id = await node.attest({ case: 1 }, { sourceId: 'loans' });
const to = new Date(Date.now() + 1_000).toISOString();
for (const kinds of [['decision'], ['incident']]) {
  const { state, attestationId } = await askedPack(node, { sources: ['loans'], from, to, kinds });
  assert.is(state, 'ready', id);
  await until('its record to be confirmed', async () => {
    await node.seal();
    return (await node.get(`/v1/status/${String(attestationId)}`)).body.status === 'confirmed';
  });
}
await node.send('PUT', '/v1/evidence-packs/lifetime', JSON.stringify({ days: 7 }));
await node.stop();

const DAMAGES: readonly Damage[] = [
  {
    what: 'a pack answers another question',
    mutate: edit('pack/', 0, (text) => text.replace('"sources":["loans"]', '"sources":["others"]')),
    found: ['pack', /is not the answer to its question/],
  },
  {
    what: 'a pack names another manifest than its record does',
    mutate: edit('pack/', 0, (text) => text.replace(/("manifestHash":"sha256:)./, otherDigit)),
    found: ['pack', /has no record that names its manifest/],
  },
  {
    what: 'a pack stands under another account',
    mutate: move('pack/', 0, (key) => key.replace('unmetered', 'developer')),
    found: ['pack', /is of another account/],
  },
  {
    what: 'a pack is dropped, and its question leads nowhere',
    mutate: drop('pack/', 0),
    found: ['pack-question', /leads to a pack that is not there/],
  },
  {
    what: 'what is kept for a pack is of none',
    mutate: move('pack-federation/', 0, (key) => key.replace(/.$/, (last) => (last === 'Z' ? 'Y' : 'Z'))),
    found: ['pack-federation', /is of no pack/],
  },
  {
    what: 'a lifetime is no number',
    mutate: edit('pack-lifetime/', 0, () => 'long'),
    found: ['pack-lifetime', /does not read/],
  },
];

test('the store is whole', async () => {
  assert.equal((await fsckAfter(node.config.home, async () => [])).report.findings, []);
});

testDamages(node.config.home, DAMAGES);

test.run();
