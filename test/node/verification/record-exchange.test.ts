import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { MemberProtocol } from '../../../node/accounts/limits/route-weights.ts';
import { payloadAnswer, recordRequest } from '../../../node/federation/page-forms.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Serve, Transport } from '../../../node/transport/contract.ts';
import { TransportError } from '../../../node/transport/errors.ts';
import { RecordExchange, type RecordExchangeOptions } from '../../../node/verification/record-exchange.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { makeRecord, openRecord, type WholeTexts } from '../../../protocol/chain/record.ts';
import type { Decision } from '../../../protocol/log/decision.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { fastFederation, MemberFixture, silent, temporaryHome } from '../federation/member-fixture.ts';

type Answer = Uint8Array | undefined;

/** `us` asks `eu`, whose answers the test writes. */
async function asking(
  run: (rig: {
    readonly exchange: RecordExchange;
    readonly batch: TestBatch;
    readonly own: MemberFixture;
    answer: Answer;
    decision: Decision | undefined;
  }) => Promise<void>,
): Promise<void> {
  const federation = await fastFederation(['eu', 'us']);
  await using home = await temporaryHome();
  await using own = await MemberFixture.open(home.path, federation, 'us');
  const batch = await federation.sealBatch('eu', [{}, {}]);
  const transport: RecordExchangeOptions['transport'] = {
    serve: () => {},
    async *request() {
      if (rig.answer === undefined) throw new TransportError('unreachable', 'eu is not connected');
      yield rig.answer;
    },
  };
  const exchange = new RecordExchange({
    ...own,
    self: own.node,
    keys: own.keys,
    chains: own.chains,
    transport,
    evidence: async () => undefined,
    payload: async () => 'unknown',
    statement: async () => undefined,
    onUnnamed: () => {},
    decisionOf: async () => rig.decision,
    log: silent,
  });
  const rig = { exchange, batch, own, answer: undefined as Answer, decision: undefined as Decision | undefined };
  await run(rig);
}

function idOf(batch: TestBatch) {
  const [first] = batch.records;
  if (first === undefined) throw new Error('no record');
  return first.record.id;
}

/** The decision of a batch, as the log of a member has it. */
function decisionOf({ anchor }: TestBatch): Decision {
  const { network, topicId, sequence, consensusTimestamp, payer, message, runningHash } = anchor;
  const place = { network, topicId, sequence, consensusTimestamp, payer, message, runningHash };
  return { v: 1, type: 'decision', index: 0, ...place };
}

function textsOf({ record: { head, body } }: Bundle): WholeTexts {
  if (body === null) throw new Error('no body');
  return { head, body };
}

function answerOf(bundle: Bundle): Uint8Array {
  return utf8(JSON.stringify(bundle));
}

test('no decision counts but that of this node’s own log', async () => {
  await asking(async (rig) => {
    rig.answer = answerOf(rig.batch.bundleFor(0));
    const unread = await rig.exchange.askEvidence(idOf(rig.batch));
    assert.is(unread?.decision, null);
    assert.is(unread?.batch?.envelope.batch, 1);
    rig.decision = decisionOf(rig.batch);
    assert.equal((await rig.exchange.askEvidence(idOf(rig.batch)))?.decision, rig.decision);
    const { anchor } = rig.batch;
    const message = anchor.message.replace(rig.batch.hash, `sha256:${'0'.repeat(64)}`);
    rig.decision = { ...decisionOf(rig.batch), message };
    assert.is((await rig.exchange.askEvidence(idOf(rig.batch)))?.decision, null, 'one that names a rival is none');
  });
});

test('checkpoints, revocations and rosters of the answer are not what it is judged by', async () => {
  await asking(async (rig) => {
    rig.answer = answerOf(rig.batch.bundleFor(0));
    const found = await rig.exchange.askEvidence(idOf(rig.batch));
    assert.equal(Object.keys(found?.proof ?? {}).toSorted(), ['batch', 'receipt', 'record']);
  });
});

test('a batch that is held here, and without the record, is no evidence for it', async () => {
  await asking(async (rig) => {
    rig.answer = answerOf(rig.batch.bundleFor(0));
    rig.own.chains.advance(rig.batch);
    assert.is(await rig.exchange.askEvidence(idOf(rig.batch)), undefined);
  });
});

test('evidence that does not hold counts as none', async () => {
  await asking(async (rig) => {
    const id = idOf(rig.batch);
    const bundle = rig.batch.bundleFor(0);
    const another = rig.batch.bundleFor(1);
    const { texts } = makeRecord(nativeSuite, { ...openRecord(nativeSuite, textsOf(another)), id });
    const renamed = { ...bundle, record: texts };
    const { batch } = bundle;
    const forged = { ...bundle, batch: batch && { ...batch, signature: bundle.receipt.signature } };
    const answers = [utf8('{}'), utf8('no JSON'), Uint8Array.of(0xff), answerOf(another), answerOf(forged)];
    for (const answer of [...answers, answerOf({ ...bundle, rosters: [] }), new Uint8Array(0), undefined]) {
      rig.answer = answer;
      assert.is(await rig.exchange.askEvidence(id), undefined);
    }
    // A record that the receipt does not cover is the verifier's to refuse; its id and node are its own.
    rig.answer = answerOf(renamed);
    assert.is((await rig.exchange.askEvidence(id))?.record.seq, 2);
  });
});

test('a payload comes as it is, withheld, erased, or not at all', async () => {
  await asking(async (rig) => {
    const id = idOf(rig.batch);
    assert.is(await rig.exchange.askPayload(id), 'unreachable');
    for (const state of ['withheld', 'erased'] as const) {
      rig.answer = payloadAnswer.encode({ state });
      assert.is(await rig.exchange.askPayload(id), state);
    }
    rig.answer = payloadAnswer.encode({ state: 'unknown' });
    assert.is(await rig.exchange.askPayload(id), 'unreachable');
    const salt = Buffer.alloc(32, 1).toString('base64url');
    rig.answer = payloadAnswer.encode({ state: 'available', salt, text: '{"a":1}' });
    assert.equal(await rig.exchange.askPayload(id), { salt: new Uint8Array(32).fill(1), text: '{"a":1}' });
  });
});

test('a payload that cannot be read counts as unreachable', async () => {
  await asking(async (rig) => {
    const salt = Buffer.alloc(32, 1).toString('base64url');
    const answers = [
      payloadAnswer.encode({ state: 'available', salt: 'AAAA', text: '{}' }),
      payloadAnswer.encode({ state: 'available', salt: '', text: '{}' }),
      payloadAnswer.encode({ state: 'available', salt, text: '{' }),
      payloadAnswer.encode({ state: 'available', salt, text: '"\\ud800"' }),
      payloadAnswer.encode({ state: 'available', salt, text: '['.repeat(100_000) }),
      utf8('{"state":"available"}'),
      utf8('nothing'),
    ];
    for (const answer of answers) {
      rig.answer = answer;
      assert.is(await rig.exchange.askPayload(idOf(rig.batch)), 'unreachable');
    }
  });
});

test('a node answers for its own records alone', async () => {
  const federation = await fastFederation(['eu', 'us']);
  await using home = await temporaryHome();
  await using own = await MemberFixture.open(home.path, federation, 'us');
  const servers = new Map<MemberProtocol, Serve>();
  const asked: string[] = [];
  const transport: Pick<Transport, 'request' | 'serve'> = {
    serve: (protocol, serve) => void servers.set(protocol, serve),
    request: () => {
      throw new Error('nobody is asked');
    },
  };
  const exchange = new RecordExchange({
    self: own.node,
    keys: own.keys,
    chains: own.chains,
    transport,
    evidence: async (id) => void asked.push(id),
    payload: async () => 'withheld',
    statement: async () => undefined,
    onUnnamed: () => {},
    decisionOf: async () => undefined,
    log: silent,
  });
  const batch = await federation.sealBatch('eu', [{}]);
  const { record: mine } = federation.records('us').append({}, federation.tick());
  assert.is(await exchange.askEvidence(mine.id), undefined, 'nor asks itself');
  const request = recordRequest.encode({ id: idOf(batch) });
  const answers = async (protocol: MemberProtocol) =>
    Array.fromAsync(servers.get(protocol)?.(request, 'eu', new AbortController().signal, 1) ?? []);
  assert.equal(await answers('record'), [new Uint8Array(0)]);
  assert.equal(await answers('payload'), [payloadAnswer.encode({ state: 'unknown' })]);
  assert.equal(asked, []);
});

test.run();
