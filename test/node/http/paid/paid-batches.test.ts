import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fsck } from '../../../../node/fsck/fsck.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { paymentDraftTable, paymentOpenTable } from '../../../../node/payments/payment-tables.ts';
import { readGroup, readRecord } from '../../../../node/records/record-reader.ts';
import { decodeBase64url } from '../../../../protocol/bytes.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { commitText } from '../../../../protocol/payload/commitment.ts';
import { priceOf, SERVICES } from '../../../../protocol/payments/prices.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { payingFetch } from '../../../fixtures/chain-payer.ts';
import { paymentHeader } from '../../../fixtures/payment-header.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { HttpAnswer } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';

const chain = await TestChain.start({ isDurable: true });
const network = await TestNetwork.start({
  ledger: 'local',
  config: { payments: chain.config(), batchIntervalMs: 200, logLevel: 'info' },
});
const node = network.node();

type Service = 'tiered-attest-batch' | 'tiered-attest-batch-xl';
const BATCH: Service = 'tiered-attest-batch';
const XL: Service = 'tiered-attest-batch-xl';
const MANY = 300;
const ANCHOR_MS = 20_000;
const VERIFIED_TOGETHER = 16;

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

async function header(service: Service): Promise<string> {
  return paymentHeader(await chain.wallet(), chain.payTo, service, node.baseUrl + SERVICES[service].path);
}

function post(service: Service, body: JsonValue, payment: string): Promise<HttpAnswer> {
  return node.post(SERVICES[service].path, body, { key: null, headers: { 'payment-signature': payment } });
}

/** What the payee has more after some work. */
async function earned(work: () => Promise<void>): Promise<bigint> {
  const before = await chain.balanceOf(chain.payTo);
  await work();
  return (await chain.balanceOf(chain.payTo)) - before;
}

function recordsOf(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, i) => ({
    recordId: `r-${i}`,
    data: { input: { i }, output: { ok: true } },
  }));
}

function resultsOf(body: JsonObject): JsonObject[] {
  return Array.isArray(body.results) ? body.results.filter(isJsonObject) : [];
}

test('the stock client buys a batch: one group, one price, and every record verifies by itself once anchored', async () => {
  const [first, ...others] = recordsOf(MANY);
  const records: readonly JsonObject[] = [{ ...first, agentId: 'batcher' }, ...others];
  let body: JsonObject = {};
  const gain = await earned(async () => {
    const answer = await payingFetch(await chain.wallet())(node.baseUrl + SERVICES[BATCH].path, {
      method: 'POST',
      body: JSON.stringify({ agentId: 'batcher', records }),
      headers: { 'content-type': 'application/json' },
    });
    const value: unknown = await answer.json();
    assert.is(answer.status, 200, JSON.stringify(value).slice(0, 300));
    body = isJsonObject(value) ? value : {};
  });
  assert.is(gain, BigInt(priceOf(BATCH)));
  const results = resultsOf(body);
  assert.equal([body.count, body.warnings, results.length], [MANY, [], MANY]);
  assert.equal(
    results.map(({ index, recordId: name }) => [index, name]),
    records.map(({ recordId: name }, i) => [i, name]),
  );
  const stored = await readRecord(node.context.store, recordId(String(results[0]?.attestationId)));
  assert.ok(stored);
  const signed = await readGroup(node.context.store, stored.record.node, stored.record.seq);
  assert.equal([signed?.group.size, signed?.group.root], [MANY, String(body.merkleRoot)]);
  for (const [i, { payloadHash, salt }] of results.entries()) {
    const payload = canonicalize({ agentId: 'batcher', ...records[i] });
    const hash = commitText(nativeSuite, 'meridian/payload/1', decodeBase64url(String(salt)), payload);
    assert.is(payloadHash, hash);
  }
  const isVerified = async (id: JsonValue): Promise<boolean> =>
    (await node.get(`/v1/verify/${String(id)}`)).body.verified === true;
  await until('it is anchored', () => isVerified(results.at(-1)?.attestationId ?? ''), ANCHOR_MS);
  const ids = results.map(({ attestationId }) => attestationId ?? '');
  for (let at = 0; at < ids.length; at += VERIFIED_TOGETHER) {
    const verified = await Promise.all(ids.slice(at, at + VERIFIED_TOGETHER).map(isVerified));
    assert.ok(verified.every(Boolean), `of ${at} and the next`);
  }
});

test('a bad batch names its field, makes no record and costs nothing; the payment stays good', async () => {
  const { recorded } = node.context.intake;
  const payment = await header(BATCH);
  const good: JsonObject = { data: {} };
  const batch = (...records: JsonValue[]): JsonObject => ({ agentId: 'a', records });
  const bad: [body: JsonValue, code: string, field: string | undefined][] = [
    [{ agentId: 'a' }, 'missing-field', 'records'],
    [{ records: [good] }, 'missing-field', 'agentId'],
    [batch(), 'invalid-field', 'records'],
    [{ agentId: 'a', records: {} }, 'invalid-field', 'records'],
    [{ ...batch(good), sourceId: 's' }, 'invalid-field', 'sourceId'],
    [batch(...recordsOf(1001)), 'invalid-field', 'records'],
    [batch(good, { data: 'x' }), 'invalid-field', 'records[1].data'],
    [batch(good, {}), 'missing-field', 'records[1].data'],
    [batch(good, 7), 'invalid-field', 'records[1]'],
    [batch({ ...good, recordId: 'x' }, good, { ...good, recordId: 'x' }), 'invalid-field', 'records[2].recordId'],
    [batch({ ...good, recordId: 'x'.repeat(129) }), 'invalid-field', 'records[0].recordId'],
    [batch({ ...good, agentId: 'a' }, { ...good, agentId: 'b' }), 'invalid-field', 'records[1].agentId'],
    [batch(good, { ...good, model_ref: { model_id: 1 } }), 'model-binding-invalid', 'records[1].model_ref.model_id'],
    [batch(good, { data: { x: 'y'.repeat(70_000) } }), 'payload-too-large', 'records[1]'],
    [batch({ ...good, more: 'x'.repeat(20_000) }), 'payload-too-large', 'records[0].more'],
    ['{"agentId":"a","records":[{"data":{}},{"data":{"a":1,"a":2}}]}', 'invalid-json', undefined],
    ['{"agentId":"a","records":[{"data":{}},{"data":{"a":9007199254740993}}]}', 'invalid-json', undefined],
    ['{"agentId":"a","records":[{"data":{}},]}', 'invalid-json', undefined],
    [`{"agentId":"a","records":[{"data":{}}],"records":[{"data":{}}]}`, 'invalid-json', undefined],
  ];
  const gain = await earned(async () => {
    for (const [body, code, field] of bad) {
      const answer = await post(BATCH, body, payment);
      const [error] = Array.isArray(answer.body.errors) ? answer.body.errors : [];
      const named = isJsonObject(error) ? error.field : undefined;
      assert.equal([answer.body.code, named], [code, field], answer.text.slice(0, 400));
    }
  });
  assert.equal([gain, node.context.intake.recorded], [0n, recorded]);
  assert.is((await post(BATCH, batch(good), payment)).status, 200);
});

test('5,000 records are all there, in one group, and the same payment is answered the same', async () => {
  const body = { agentId: 'xl', records: recordsOf(5_000) };
  const payment = await header(XL);
  const { recorded } = node.context.intake;
  const gain = await earned(async () => {
    const first = await post(XL, body, payment);
    assert.is(first.status, 200, first.text.slice(0, 300));
    const results = resultsOf(first.body);
    assert.is(new Set(results.map(({ attestationId }) => attestationId)).size, 5_000);
    assert.is((await post(XL, body, payment)).text, first.text);
  });
  assert.is(gain, BigInt(priceOf(XL)));
  assert.is(node.context.intake.recorded, recorded + 5_000);
});

test('a batch whose settlement was cut off is prepared and in no group; once paid it is made as it was prepared, for one charge', async () => {
  const body = { agentId: 'cut', records: recordsOf(MANY) };
  const payment = await header(BATCH);
  const { intake, store } = node.context;
  const { recorded } = intake;
  const prepareAll = intake.prepareAll.bind(intake);
  intake.prepareAll = async (drafts) => {
    const prepared = await prepareAll(drafts);
    await chain.stop();
    return prepared;
  };
  const gain = await earned(async () => {
    assert.is((await post(BATCH, body, payment)).status, 503);
    assert.is((await Array.fromAsync(paymentDraftTable.under(store, []))).length, MANY);
    assert.is(intake.recorded, recorded);
    await node.stop();
    await chain.resume();
    await node.start();
    let answer: HttpAnswer | undefined;
    const isAnswered = async (): Promise<boolean> => {
      answer = await post(BATCH, body, payment);
      return answer.status === 200;
    };
    await until('payments are taken again', isAnswered, 30_000);
    assert.is(resultsOf(answer?.body ?? {}).length, MANY);
    assert.is((await post(BATCH, body, payment)).text, answer?.text);
  });
  assert.is(gain, BigInt(priceOf(BATCH)));
  assert.is(node.context.intake.recorded, recorded + MANY);
  assert.equal(await Array.fromAsync(paymentDraftTable.under(node.context.store, [])), []);
});

test('a wallet with the price of one batch, and a batch four times at once: one is sold, and recorded', async () => {
  const wallet = await chain.wallet('0.135');
  const url = node.baseUrl + SERVICES[XL].path;
  const headers = await Promise.all([1, 2, 3, 4].map(() => paymentHeader(wallet, chain.payTo, XL, url)));
  const { recorded } = node.context.intake;
  const body = { agentId: 'thief', records: recordsOf(50) };
  const gain = await earned(async () => {
    const answers = await Promise.all(headers.map((payment) => post(XL, body, payment)));
    assert.equal(answers.map(({ status }) => status).sort(), [200, 429, 429, 429]);
    for (const payment of headers) await post(XL, body, payment);
  });
  assert.equal([gain, node.context.intake.recorded], [BigInt(priceOf(XL)), recorded + 50]);
});

test('a wallet that is emptied while its batch is prepared leaves no record, and nothing that was prepared', async () => {
  const wallet = await chain.wallet('0.135');
  const payment = await paymentHeader(wallet, chain.payTo, XL, node.baseUrl + SERVICES[XL].path);
  const { intake, store } = node.context;
  const { recorded } = intake;
  const prepareAll = intake.prepareAll.bind(intake);
  intake.prepareAll = async (drafts) => {
    const prepared = await prepareAll(drafts);
    await chain.empty(wallet);
    return prepared;
  };
  const gain = await earned(async () => {
    const answer = await post(XL, { agentId: 'thief', records: recordsOf(50) }, payment);
    assert.equal([answer.status, answer.body.code], [402, 'payment-settlement-failed']);
  });
  Reflect.deleteProperty(intake, 'prepareAll');
  assert.equal([gain, intake.recorded], [0n, recorded]);
  assert.equal(await Array.fromAsync(paymentDraftTable.under(store, [])), []);
  assert.equal(await Array.fromAsync(paymentOpenTable.under(store, [])), []);
});

test('the store of the node is whole', async () => {
  await node.stop();
  const { report } = await fsck(node.config.home);
  assert.equal(report.findings, []);
});

test.run();
