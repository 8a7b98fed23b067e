import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packTable } from '../../../../node/packs/pack-tables.ts';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { HttpAnswer } from '../../../fixtures/test-node.ts';
import { requireProblem } from '../problem-shape.ts';

const network = await TestNetwork.start();
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

async function made(path: string, terms: JsonObject): Promise<MadeKey> {
  const { apiKey, key } = (await node.post(path, terms)).body;
  return { key: String(apiKey), id: String(Object(key).id) };
}

/** Id of a pack that a key asks for, which nobody has asked for before. */
async function asked({ key }: MadeKey, sourceId: string): Promise<string> {
  await node.attest({ case: 1 }, { sourceId });
  const question = { sources: [sourceId], from: '2026-01-01', to: '2026-01-02' };
  const { status, body, text } = await node.post('/v1/evidence-packs', question, { key });
  assert.is(status, 200, text);
  return String(body.packId);
}

const end = (id: string, { key }: MadeKey): Promise<HttpAnswer> =>
  node.send('DELETE', `/v1/evidence-packs/${id}`, undefined, { key });

test('a key that rotations put in the place of the one that had a pack made deletes it, and not the other way round', async () => {
  const first = await made('/v1/keys', { preset: 'auditor' });
  const second = await made(`/v1/keys/${first.id}/rotate`, {});
  const third = await made(`/v1/keys/${second.id}/rotate`, {});
  const other = await made('/v1/keys', { preset: 'auditor' });
  const [before, later] = [await asked(first, 'one'), await asked(third, 'two')];
  requireProblem(await end(later, first), 'scope-forbidden', 'of the key in its place');
  requireProblem(await end(before, other), 'scope-forbidden', 'another key');
  assert.is((await end(before, third)).status, 200);
});

test('a pack of which who had it made was not kept is deleted by a key that governs alone', async () => {
  const auditor = await made('/v1/keys', { preset: 'auditor' });
  const id = await asked(auditor, 'three');
  const { store } = node.context;
  const row = await packTable.get(store, 'acc_eu_unmetered', id);
  if (row === undefined) throw new Error('no row');
  const { askedBy: _askedBy, ...before } = row;
  await store.write([packTable.put([before.question.account, before.id], before)]);
  requireProblem(await end(id, auditor), 'scope-forbidden', 'of nobody known');
  assert.is((await end(id, await made('/v1/keys', { preset: 'compliance' }))).status, 200);
});

test.run();
