import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { decodeBase64url } from '../../../../protocol/bytes.ts';
import { commit } from '../../../../protocol/payload/commitment.ts';
import { priceOf } from '../../../../protocol/payments/prices.ts';
import { FACTS } from '../../../../protocol/statement/vocabulary.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { recordId } from '../../../../protocol/ids.ts';
import { FACT_VALUE_SHAPES } from '../../../../protocol/api/fact-values.ts';
import { AllFactsShape, FactShape, FactsMenuShape } from '../../../../protocol/api/facts.ts';
import { Check } from 'typebox/value';
import { TestChain } from '../../../fixtures/chain.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { until } from '../../../fixtures/until.ts';
import { type Bought, Buyer } from './buyer.ts';

const PATH = '/v1/x402/hedera-facts';
const chain = await TestChain.start();
const network = await TestNetwork.start({ ledger: 'local', config: { payments: chain.config() } });
const node = network.node();
const { local } = network.ledger;
const buyer = new Buyer(chain, await chain.wallet());

test.after(async () => {
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});

const buy = (path: string): Promise<Bought> => buyer.get(node.baseUrl + path);

function member(value: unknown, ...path: readonly string[]): JsonObject {
  const found = path.reduce<unknown>((at, name) => Object(at)[name], value);
  assert.type(found, 'object', path.join('.'));
  return Object(found);
}

async function topicSequence(): Promise<number> {
  const { topicId } = network.ledger;
  return Number(local?.ledger.state.topics.get(BigInt(topicId.split('.')[2] ?? ''))?.sequence ?? -1n);
}

test('the menu is free, and names the ledger, every fact and its price', async () => {
  const { status, body } = await node.get(PATH, { key: null });
  assert.is(status, 200);
  assert.ok(Check(FactsMenuShape, body));
  assert.equal([body.network, body.bundle], ['meridian-local', { path: `${PATH}/all`, priceUsd: '0.003' }]);
  assert.equal(
    body.facts.map(({ fact, path, priceUsd }) => [fact, path, priceUsd]),
    FACTS.map((fact) => [fact, `${PATH}/${fact}`, '0.001']),
  );
});

test('an unknown fact is named before any price; a mirror that is down costs nothing, for one fact as for all', async () => {
  const unknown = await node.get(`${PATH}/weather`, { key: null });
  assert.equal([unknown.status, unknown.body.code], [404, 'fact-not-found']);
  assert.is((await node.get(`${PATH}/nodes`, { key: null })).status, 402);
  local?.ledger.faults.set({ mirrorDown: true });
  const records = node.context.intake.recorded;
  // What else `all` was reading has failed as well by the time that the second call is answered.
  for (const path of ['all', 'nodes']) {
    const { status, body, gain } = await buy(`${PATH}/${path}`);
    assert.equal([status, body.code, gain], [503, 'dependency-unavailable', 0n], path);
  }
  assert.is(node.context.intake.recorded, records);
  local?.ledger.faults.set({ mirrorDown: false });
  assert.is((await buy(`${PATH}/nodes`)).status, 200);
});

test('all facts are live figures of the ledger, each on record by itself, for one price', async () => {
  for (const output of [1, 2]) {
    await node.attest({ output });
    await node.seal();
  }
  await until('both batches are on the ledger', async () => (await topicSequence()) === 2);
  const { transactions: before = 0 } = local?.ledger.state.head ?? {};
  const { status, body, gain } = await buy(`${PATH}/all`);
  assert.equal([status, gain], [200, BigInt(priceOf('hedera-facts-all'))]);
  assert.ok(Check(AllFactsShape, body));
  const { facts, attestationIds, attestation } = body;
  for (const fact of FACTS) {
    const told = facts[fact];
    assert.ok(Check(FACT_VALUE_SHAPES[fact], told.value), fact);
    assert.equal([told.network, told.attestationId], ['meridian-local', attestationIds[fact]]);
    const { record } = (await readRecord(node.context.store, told.attestationId)) ?? {};
    const { observedAt, rawHash } = told;
    assert.equal([record?.kind, record?.claims], ['fact', { channel: 'tiered', fact, observedAt, rawHash }]);
  }
  assert.is(attestation.attestationId, attestationIds['exchange-rate']);
  assert.is(new Set(Object.values(attestationIds)).size, FACTS.length);

  const value = (fact: keyof typeof facts) => member(facts, fact, 'value');
  assert.is(value('exchange-rate').usdPerHbar, 0.2);
  assert.equal(
    member(value('gas-fees')).fees,
    ['ContractCall', 'ContractCreate', 'EthereumTransaction'].map((transactionType) => ({
      transactionType,
      gasTinybars: 42,
    })),
  );
  const { totalTinybars } = value('supply');
  assert.is(
    totalTinybars,
    String([...(local?.ledger.state.accounts.values() ?? [])].reduce((sum, { balance }) => sum + balance, 0n)),
  );
  assert.equal([value('nodes').count, local?.nodes.length], [3, 3]);
  // All that this young ledger has seen: the topic, its first two messages, and what questions to consensus nodes cost.
  const throughput = value('throughput');
  const [transactionCount, tps] = [Number(throughput.transactionCount), Number(throughput.tps)];
  const { transactions: after = 0 } = local?.ledger.state.head ?? {};
  assert.ok(
    before >= 3 && transactionCount >= before && transactionCount <= after,
    `${before} ${transactionCount} ${after}`,
  );
  assert.ok(Math.abs(tps - transactionCount / 60) < 0.01, `${tps} a second`);
  const { sequenceNumber, topicId } = value('topic-state');
  assert.equal([sequenceNumber, topicId], [2, network.ledger.topicId]);
});

test('one fact costs its price; a second reading within its age is the same observation under a record of its own', async () => {
  const first = await buy(`${PATH}/supply`);
  const second = await buy(`${PATH}/supply`);
  for (const { status, body, gain } of [first, second]) {
    assert.equal([status, gain], [200, BigInt(priceOf('hedera-fact'))]);
    assert.ok(Check(FactShape, body));
  }
  assert.is(first.body.observedAt, second.body.observedAt);
  const ids = [first, second].map(({ body }) => member(body, 'attestation').attestationId);
  assert.is.not(ids[0], ids[1]);
});

test('whoever has the answer can show what was attested', async () => {
  const { body } = await buy(`${PATH}/topic-state`);
  const { success: _success, salt, attestation, payment: _payment, ...snapshot } = body;
  const { payloadHash, attestationId } = isJsonObject(attestation ?? null) ? Object(attestation) : {};
  assert.is(commit(nativeSuite, 'meridian/payload/1', decodeBase64url(String(salt)), snapshot), payloadHash);
  const verified = await node.get(`/v1/verify/${String(attestationId)}`, { key: null });
  assert.equal([verified.status, verified.body.recordKind], [200, 'fact']);
  assert.is((await readRecord(node.context.store, recordId(String(attestationId))))?.record.payloadHash, payloadHash);
});

test.run();
