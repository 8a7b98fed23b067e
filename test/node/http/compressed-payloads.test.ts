import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../node/fsck/fsck.ts';
import { payloadTable, readPayload } from '../../../node/records/payload/payload-tables.ts';
import { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { readNodeKeys } from '../../../node/keys/node-keys.ts';
import { readRecord } from '../../../node/records/record-reader.ts';
import { splitFrames } from '../../../node/store/frames.ts';
import { recordId } from '../../../protocol/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../protocol/json/value.ts';
import { parseBundle } from '../../../protocol/verdict/parse.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { accountOf, API_KEYS } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const network = await TestNetwork.start({ ledger: 'local', config: { batchIntervalMs: 100 } });
const node = network.node();
test.after(() => network[Symbol.asyncDispose]());

const TEXT = 'The applicant has a stable income and no open claims. '.repeat(30);
const data = (n: number): JsonObject => ({ input: { n }, output: { text: TEXT } });
/** Bytes that such a payload takes at least where it is not compressed. */
const PLAIN_BYTES = TEXT.length;

function setCompression(on: boolean): Promise<unknown> {
  return node.context.accounts.setCompression(accountOf('unmetered'), on);
}

/** Bytes of the ciphertext of a record's payload, which must open to what the record commits to. */
async function storedBytes(id: string): Promise<number> {
  const { store } = node.context;
  const { seq = 0 } = (await readRecord(store, recordId(id)))?.record ?? {};
  const [first = '', row] = (await payloadTable.last(store, [], seq)) ?? [];
  assert.ok(row);
  const { body } = await node.get(`/v1/verify/${id}`);
  assert.is(body.payloadState, 'available');
  const checks = isJsonObject(body.cryptoVerification) ? body.cryptoVerification.checks : undefined;
  assert.is(isJsonObject(checks) ? checks.payloadHashMatch : undefined, true);
  return splitFrames(row)[seq - Number(first)]?.length ?? 0;
}

async function attest(n: number): Promise<string> {
  const { body, text } = await node.post('/v1/tiered-attest', { sourceId: 'triage', data: data(n) });
  assert.is(body.success, true, text);
  return String(body.attestationId);
}

test('payloads take a fraction of the room from when the account asks for it, and only its own', async () => {
  const before = await attest(1);
  await setCompression(true);
  const after = await attest(2);
  const { body } = await node.post(
    '/v1/tiered-attest',
    { sourceId: 'triage', data: data(3) },
    { key: API_KEYS.enterprise },
  );
  const others = String(body.attestationId);
  await setCompression(false);
  const again = await attest(4);
  for (const id of [before, others, again]) assert.ok((await storedBytes(id)) > PLAIN_BYTES);
  assert.ok((await storedBytes(after)) * 4 < PLAIN_BYTES);
});

test('in batches, in records of governance and under idempotency keys too', async () => {
  await setCompression(true);
  const items = [5, 6].map((n) => ({ sourceId: 'triage', data: data(n) }));
  const batch = await node.post('/v1/tiered-attest-batch', items);
  assert.is(batch.status, 200, batch.text);
  const { results = [] } = batch.body;
  assert.ok(isJsonArray(results));
  const ids = results.map((result) => String(isJsonObject(result) ? result.attestationId : ''));
  assert.is(ids.length, 2);
  const risk = { sourceId: 'triage', risksIdentified: [TEXT], mitigations: [], residualRisk: 'low', assessedBy: 'ada' };
  ids.push(String((await node.post('/v1/risk-assessment', risk)).body.attestationId));
  const headers = { 'idempotency-key': 'one' };
  const keyed = await node.post('/v1/attest', { sourceId: 'triage', data: data(7) }, { headers });
  const replay = await node.post('/v1/attest', { sourceId: 'triage', data: data(7) }, { headers });
  assert.is(replay.text, keyed.text);
  ids.push(String(keyed.body.attestationId));
  for (const id of ids) assert.ok((await storedBytes(id)) * 4 < PLAIN_BYTES, id);
});

test('a bundle discloses them, an erasure ends them, and fsck opens them', async () => {
  await setCompression(true);
  const [kept, erased] = [await attest(8), await attest(9)];
  await node.seal();
  await until('it is confirmed', async () => (await node.get(`/v1/status/${kept}`)).body.status === 'confirmed');
  const { text } = await node.get(`/v1/bundles/${kept}?disclosure=1`);
  assert.match(JSON.stringify(parseBundle(JSON.parse(text)).disclosure), /stable income/);
  const why = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office', attestationIds: [erased] };
  assert.is((await node.post('/v1/erasures', why)).status, 200);
  assert.is((await node.get(`/v1/verify/${erased}`)).body.payloadState, 'erased');
  const { seq = 0 } = (await readRecord(node.context.store, recordId(erased)))?.record ?? {};
  const cipher = new PayloadCipher((await readNodeKeys(node.config.home)).payloadKey);
  assert.is(await readPayload(node.context.store, cipher, recordId(erased), seq), 'erased');
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(
    report.findings.filter(({ severity }) => severity === 'problem'),
    [],
  );
  assert.ok(report.counts.payloadsOpened > 0);
});

test.run();
