import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { linkedTable } from '../../../../node/records/link-tables.ts';
import { requireFormat } from '../../../../node/store/format.ts';
import { Store } from '../../../../node/store/store.ts';
import { makeEarlier } from '../../../fixtures/earlier-store.ts';
import { seedOf } from '../../../fixtures/payload-keys.ts';
import { filesHolding } from '../../../fixtures/store-files.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';

const WHY = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office' };

test('a node of the release before is started: payloads are read, what was erased stays so, and erasing leaves no bytes of a key', async () => {
  await using network = await TestNetwork.start();
  const node = network.node();
  const erase = async (id: string) => {
    const { status, text } = await node.post('/v1/erasures', { ...WHY, attestationIds: [id] });
    assert.is(status, 200, text);
  };
  const stateOf = async (id: string) => (await node.get(`/v1/verify/${id}`)).body.payloadState;
  const ids = await Promise.all(Array.from({ length: 6 }, (_, n) => node.attest({ n })));
  const [gone = '', later = '', ...kept] = ids;
  await erase(gone);
  await node.seal();
  const seed = await seedOf(node.context.store, later);
  assert.ok(seed);
  await node.stop();
  const directory = join(node.config.home, 'store');
  {
    await using store = await Store.open(directory);
    await makeEarlier(store);
  }
  await node.start();
  assert.is(await requireFormat(node.context.store), 'current');
  assert.equal(await Promise.all(ids.map(stateOf)), ['erased', ...Array<string>(5).fill('available')]);
  assert.ok((await filesHolding(directory, seed)).length > 0);
  await erase(later);
  assert.equal(await filesHolding(directory, seed), []);
  assert.equal(await Promise.all([gone, later, ...kept].map(stateOf)), [
    'erased',
    'erased',
    ...kept.map(() => 'available'),
  ]);
  const added = await node.attest({ n: 'after' });
  assert.is(await stateOf(added), 'available');
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(
    report.findings.filter(({ severity }) => severity !== 'note'),
    [],
  );
});

test('who reviewed a decision is found by a node whose store has no row that others link to it, once it has started', async () => {
  await using network = await TestNetwork.start();
  const node = network.node();
  const id = await node.attest({});
  const review = {
    sourceId: 'triage',
    originalAttestationId: id,
    reviewerId: 'Grace Hopper',
    reviewOutcome: 'stopped',
  };
  const { status, text } = await node.post('/v1/human-override', review);
  assert.is(status, 200, text);
  await node.seal();
  const overrides = async () => (await node.get(`/v1/verify/${id}`)).body.links;
  const before = await overrides();
  assert.is(Object(before).overrides, 1);
  await node.stop();
  const place = join(node.config.home, 'store');
  const linked = async () => {
    await using store = await Store.open(place);
    return (await Array.fromAsync(linkedTable.under(store, []))).length;
  };
  assert.is(await linked(), 1);
  {
    await using store = await Store.open(place);
    await makeEarlier(store, 4);
  }
  const { report } = await fsck(node.config.home);
  assert.equal(
    report.findings.filter(({ severity }) => severity !== 'note').map(({ severity, table }) => [severity, table]),
    [['warning', 'format']],
  );
  assert.is(await linked(), 0);
  await node.start();
  assert.is(await requireFormat(node.context.store), 'current');
  assert.equal(await overrides(), before);
  await node.stop();
  assert.is(await linked(), 1);
});

test.run();
