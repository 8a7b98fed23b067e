import { createServer } from 'node:http';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Check } from 'typebox/value';
import { MirrorClient } from '../../../../node/anchoring/ledger/mirror-client.ts';
import { Auditor } from '../../../../node/services/audits/auditor.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { readNodeKeys } from '../../../../node/keys/node-keys.ts';
import { joinTexts, splitTexts } from '../../../../node/records/record-lines.ts';
import { bodyTable } from '../../../../node/records/record-tables.ts';
import { readRecord } from '../../../../node/records/record-reader.ts';
import { sourceKey } from '../../../../node/records/sources/sources.ts';
import { sourceIndex } from '../../../../node/records/sources/source-index.ts';
import type { Evidence } from '../../../../node/verification/evidence.ts';
import { makeRecord } from '../../../../protocol/chain/record.ts';
import { type Audit, MANDATORY_CHECKS, VerifyAuditShape } from '../../../../protocol/api/verify-audit.ts';
import { decodeBase64url } from '../../../../protocol/bytes.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { nodeId, type RecordId, recordId } from '../../../../protocol/ids.ts';
import { isJsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { revocationStatement } from '../../../../protocol/log/revocation.ts';
import { commit } from '../../../../protocol/payload/commitment.ts';
import { priceOf } from '../../../../protocol/payments/prices.ts';
import { type SignedStatement, signStatement } from '../../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { TestChain } from '../../../fixtures/chain.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import type { TestNode } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { LyingMirror, truth } from '../../../fixtures/lying-mirror.ts';
import { type Bought, Buyer } from './buyer.ts';

const PATH = '/v1/x402/verify-audit';
const PRICE = BigInt(priceOf('verify-audit'));
const NONE = 0n;

const chain = await TestChain.start();
const network = await TestNetwork.start({ nodes: ['eu', 'us'], ledger: 'local', config: { payments: chain.config() } });
const [eu, us] = [network.node('eu'), network.node('us')];
const liar = await LyingMirror.before(network.ledger.local?.mirrorUrl ?? '');
const buyer = new Buyer(chain, await chain.wallet());
const ids = await anchored();

test.after(async () => {
  await liar[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await chain[Symbol.asyncDispose]();
});
test.after.each(() => {
  liar.lie = truth;
  network.ledger.local?.ledger.faults.set({ mirrorDown: false });
});

/** Three records of one source of eu, in batches of their own, that both nodes know to be on the ledger. */
async function anchored(): Promise<readonly [RecordId, RecordId, RecordId]> {
  const made: RecordId[] = [];
  for (const output of [1, 2, 3]) {
    made.push(recordId(await eu.attest({ output })));
    await eu.seal();
  }
  for (const node of [eu, us]) {
    await until('all are confirmed', async () => (await statuses(node, made)).every(isConfirmed));
  }
  const [first, second, third] = made;
  if (first === undefined || second === undefined || third === undefined) throw new Error('unreachable');
  return [first, second, third];
}

function statuses(node: TestNode, of: readonly string[]): Promise<readonly unknown[]> {
  return Promise.all(of.map(async (id) => (await node.get(`/v1/verify/${id}`)).body.status));
}

function isConfirmed(status: unknown): boolean {
  return status === 'confirmed';
}

function buy(node: TestNode, attestationId: JsonValue): Promise<Bought> {
  return buyer.post(node.baseUrl + PATH, { attestationId });
}

/** Mandatory checks that came to this. */
function named(checks: JsonValue | undefined, result: string): readonly unknown[] {
  return (Array.isArray(checks) ? checks : [])
    .filter(isJsonObject)
    .filter((check) => check.mandatory === true && check.result === result)
    .map(({ name }) => name);
}

/** An auditor of a node that reads the ledger through mirrors of the test's choice. */
function auditorOf(
  { context }: TestNode,
  mirrors: readonly string[],
  more: { readonly others?: boolean; readonly auditMs?: number } = {},
): Auditor {
  const { keys, config, governance } = context;
  return new Auditor({
    ...context,
    ...governance,
    self: nodeId(config.id),
    mirror: new MirrorClient(mirrors, { timeoutMs: 60_000 }),
    auditMs: more.auditMs ?? 7_000,
    members: () => (more.others === false ? [] : keys.rosters.current.members),
    random: () => 0,
  });
}

async function audit(auditor: Auditor, id: RecordId): Promise<Audit> {
  const found = await auditor.find(id);
  if (found === undefined) throw new Error(`${id} is not there`);
  return auditor.audit(id, found);
}

test('a record that stands passes, at its own node and at another, for exactly the price', async () => {
  for (const node of [eu, us]) {
    const { status, body, gain } = await buy(node, ids[1]);
    assert.is(status, 200, JSON.stringify(body));
    assert.ok(Check(VerifyAuditShape, body));
    assert.equal([body.verdict, named(body.checks, 'pass'), gain], ['pass', [...MANDATORY_CHECKS], PRICE]);
    assert.equal(body.warnings, []);
    assert.equal([body.auditorNode, body.attestationId, body.subject.status], [node.config.id, ids[1], 'confirmed']);
    const other = body.checks.find(({ name }) => name === 'other-node');
    assert.is(other?.detail, `the same by ${node === eu ? 'us' : 'eu'}`);
  }
});

test('the audit is on record, names no account, and its payer can show what was attested', async () => {
  const { body } = await buy(us, ids[0]);
  const { success: _success, salt, warnings: _warnings, attestation, payment: _payment, ...told } = body;
  const { attestationId, payloadHash } = Object(attestation);
  const { record } = (await readRecord(us.context.store, recordId(String(attestationId)))) ?? {};
  const { verdict, auditedAt } = told;
  assert.equal(
    [record?.kind, record?.claims, record?.links],
    ['audit', { channel: 'tiered', verdict, observedAt: auditedAt }, {}],
  );
  assert.is(commit(nativeSuite, 'meridian/payload/1', decodeBase64url(String(salt)), told), payloadHash);
  assert.not.ok(/unmetered|"test"/.test(JSON.stringify(told)));
});

test('what is no id, and what nobody knows, is refused and not charged', async () => {
  for (const [id, status, code] of [
    ['nonsense', 400, 'invalid-field'],
    [5, 400, 'invalid-field'],
    ['att_eu_01KAJ5M0E8Q2V7XN4T9RCB6WDZ', 404, 'attestation-not-found'],
    ['att_zz_01KAJ5M0E8Q2V7XN4T9RCB6WDZ', 404, 'attestation-not-found'],
    [String(ids[1]).replace('att', 'inc'), 404, 'attestation-not-found'],
  ] as const) {
    const bought = await buy(us, id);
    assert.equal([bought.status, bought.body.code, bought.gain], [status, code, NONE]);
  }
});

test('what cannot be settled now is inconclusive: not charged and not recorded', async () => {
  const records = us.context.intake.recorded;
  const pending = await eu.attest({ output: 'pending' });
  const waiting = await buy(eu, pending);
  network.ledger.local?.ledger.faults.set({ mirrorDown: true });
  const down = await buy(us, ids[1]);
  for (const { status, body, gain } of [waiting, down]) {
    assert.equal([status, body.verdict, body.charged, gain], [200, 'inconclusive', false, NONE]);
    assert.equal([body.attestation, body.payment], [undefined, undefined]);
    assert.ok(Array.isArray(body.warnings));
    assert.ok(Check(VerifyAuditShape, body));
  }
  assert.equal(named(down.body.checks, 'skipped'), ['ledger-message', 'consensus-time']);
  assert.equal(named(down.body.checks, 'fail'), []);
  assert.is(us.context.intake.recorded, records);
});

test('a mirror that tells another message, or one that does not link, fails; mirrors that contradict each other leave it open', async () => {
  const auditor = auditorOf(us, [liar.url]);
  const lies: ((message: string, hash: string) => Partial<{ message: string; running_hash: string }>)[] = [
    (message) => ({ message: Buffer.from(message, 'base64').toString('base64').replace(/^./, 'f') }),
    (_message, hash) => ({ running_hash: hash.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) }),
  ];
  for (const lie of lies) {
    liar.lie = (messages) =>
      messages.map((message, i) =>
        i === messages.length - 1 ? { ...message, ...lie(message.message, message.running_hash) } : message,
      );
    const { verdict, checks } = await audit(auditor, ids[1]);
    assert.equal([verdict, named(checks, 'fail')], ['fail', ['ledger-message']]);
    const both = await audit(auditorOf(us, [liar.url, network.ledger.local?.mirrorUrl ?? '']), ids[1]);
    assert.equal([both.verdict, named(both.checks, 'fail')], ['inconclusive', []]);
  }
  liar.lie = (messages) => messages.slice(0, -1);
  const withheld = await audit(auditor, ids[1]);
  assert.equal([withheld.verdict, named(withheld.checks, 'fail')], ['inconclusive', []]);
  liar.lie = truth;
  assert.is((await audit(auditor, ids[0])).verdict, 'pass');
});

test('without another node, and with mirrors that hang, an audit is inconclusive, and soon', async () => {
  const alone = await audit(auditorOf(us, [liar.url], { others: false }), ids[1]);
  assert.equal([alone.verdict, named(alone.checks, 'skipped')], ['inconclusive', ['other-node']]);
  const hanging = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  const address = hanging.address();
  const started = performance.now();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const slow = await audit(auditorOf(us, [url], { auditMs: 300 }), ids[1]);
  assert.is(slow.verdict, 'inconclusive');
  assert.ok(performance.now() - started < 20_000);
  hanging.closeAllConnections();
  hanging.close();
});

test('a record next to it that is missing or another fails, of an own record and of another node', async () => {
  const { store } = eu.context;
  const { record } = (await readRecord(store, ids[0])) ?? {};
  if (record === undefined) throw new Error('unreachable');
  const place = [record.account, sourceKey(record.sourceId), record.sourceSeq] as const;
  const row = await sourceIndex.get(store, ...place);
  if (row === undefined) throw new Error('unreachable');
  await store.write([sourceIndex.del(...place)]);
  const own = await audit(auditorOf(eu, [liar.url]), ids[1]);
  await store.write([sourceIndex.put(place, row)]);
  assert.equal([own.verdict, named(own.checks, 'fail')], ['fail', ['source-sequence']]);

  const other = us.context.store;
  const [first = '', body = ''] = (await bodyTable.last(other, [record.node], record.seq)) ?? [];
  const records = splitTexts(body);
  const at = record.seq - Number(first);
  const forged = { ...record, payloadHash: hashText(nativeSuite, 'another payload') };
  const moved = { ...record, sourceSeq: 2, sourcePrev: record.payloadHash };
  for (const { texts } of [makeRecord(nativeSuite, forged), makeRecord(nativeSuite, moved)]) {
    await other.write([bodyTable.put([record.node, Number(first)], joinTexts(records.with(at, texts)))]);
    const { verdict, checks } = await audit(auditorOf(us, [liar.url]), ids[1]);
    assert.equal([verdict, named(checks, 'fail')], ['fail', ['source-sequence']]);
  }
  await other.write([bodyTable.put([record.node, Number(first)], body)]);
  assert.is((await audit(auditorOf(us, [liar.url]), ids[1])).verdict, 'pass');
});

test('a record that says it was made after consensus fails, and one long before is pointed out', async () => {
  const auditor = auditorOf(us, [liar.url]);
  const found = await auditor.find(ids[1]);
  if (found === undefined || found === 'damaged') throw new Error('unreachable');
  const at = (shift: number): Evidence => {
    const submittedAt = timestampOf(Date.parse(found.record.submittedAt) + shift);
    return { ...found, record: { ...found.record, submittedAt } };
  };
  const timeOf = async (shift: number) =>
    (await auditor.audit(ids[1], at(shift))).checks.find(({ name }) => name === 'consensus-time');
  const [late, early] = [await timeOf(3_600_000), await timeOf(-25 * 3_600_000)];
  assert.is(late?.result, 'fail');
  assert.equal([early?.result, early?.detail.slice(0, 8)], ['pass', 'warning:']);
});

test('another node that says otherwise fails the audit, and one that is gone leaves it open', async () => {
  const mine = await us.attest({ output: 'of us' });
  await us.seal();
  await until('it is confirmed', async () => (await statuses(us, [mine])).every(isConfirmed));
  await until('eu has it', async () => (await statuses(eu, [mine])).every(isConfirmed));
  const { text } = await eu.get(`/v1/verify/${mine}`, { key: null });
  await eu.stop();
  const gone = await buy(us, mine);
  assert.equal(
    [gone.body.verdict, named(gone.body.checks, 'skipped'), gone.gain],
    ['inconclusive', ['other-node'], NONE],
  );
  let told = text.replace('"verified":true', '"verified":false');
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(told);
  });
  server.listen(eu.config.http.port, '127.0.0.1');
  await once(server, 'listening');
  const lied = await buy(us, mine);
  assert.equal([lied.body.verdict, named(lied.body.checks, 'fail'), lied.gain], ['fail', ['other-node'], PRICE]);
  told = 'x'.repeat(1 << 20);
  assert.is((await buy(us, mine)).body.verdict, 'inconclusive');
  told = text;
  assert.is((await buy(us, mine)).body.verdict, 'pass');
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  await eu.start();
});

test('a key that was compromised before consensus fails: charged, and on record as a fail', async () => {
  const { identity, signer } = await readNodeKeys(eu.config.home);
  const { node } = (await readRecord(us.context.store, ids[0]))?.record ?? {};
  if (node === undefined) throw new Error('unreachable');
  const issuedAt = timestampOf(Date.now());
  const revocation = { v: 2, type: 'revocation', node, keyId: signer.keyId, reason: 'compromised', issuedAt } as const;
  const late = await signStatement(revocationStatement, { ...revocation, compromisedSince: issuedAt }, identity);
  await decideRevocation(late);
  const standing = await audit(auditorOf(us, [liar.url]), ids[1]);
  assert.equal(named(standing.checks, 'fail'), []);
  const compromisedSince = timestampOf(Date.now() - 3_600_000);
  const early = await signStatement(revocationStatement, { ...revocation, compromisedSince }, identity);
  await decideRevocation(early);
  const { body, gain } = await buy(us, ids[1]);
  const failing = named(body.checks, 'fail');
  assert.equal([body.verdict, gain], ['fail', PRICE]);
  assert.ok(failing.includes('signing-keys') && failing.includes('record-proof'));
  const { record } =
    (await readRecord(us.context.store, recordId(String(Object(body.attestation).attestationId)))) ?? {};
  assert.is(record?.claims.verdict, 'fail');
});

/** Has both members name a revocation, so that the log decides it. */
async function decideRevocation(signed: SignedStatement): Promise<void> {
  const statement = hashText(nativeSuite, signed.statement);
  for (const { context } of [eu, us]) {
    await context.keys.learnRevocation(signed);
  }
  await until('it is decided', () => {
    const { revoked } = us.context.federationLog.state;
    return Object.values(revoked).some((keys) =>
      Object.values(keys)
        .flat()
        .some((each) => each.statement === statement),
    );
  });
}

test.run();
