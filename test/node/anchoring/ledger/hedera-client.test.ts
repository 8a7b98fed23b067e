import { PrivateKey } from '@hashgraph/sdk';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HederaClient } from '../../../../node/anchoring/ledger/hedera-client.ts';
import { entity, LedgerProcess } from './ledger-process.ts';
import { conform, type ConformanceSubject } from './ledger-client-conformance.ts';

const test = suite('a ledger client over the SDK');

const stack = new AsyncDisposableStack();
const ledger = stack.use(await LedgerProcess.start());
const submitKey = PrivateKey.generateED25519();
const topicId = await ledger.createTopic(submitKey);
const keyed = { submitKey: submitKey.toStringRaw() };
const config = ledger.config(topicId, keyed);

const subject: ConformanceSubject = {
  client: stack.use(new HederaClient(config)),
  poor: stack.use(new HederaClient({ ...ledger.poorConfig(topicId), ...keyed })),
  impostor: stack.use(new HederaClient({ ...config, operatorKey: PrivateKey.generateED25519().toStringRaw() })),
  unauthorised: stack.use(new HederaClient(ledger.config(topicId))),
  unreachable: stack.use(new HederaClient({ ...config, nodes: { '127.0.0.1:9': entity('0.0.3') } })),
  countOf: async (message) => (await ledger.messageCounts(topicId)).get(message) ?? 0,
};
conform(test, () => subject);

test('takes keys as a seed, as DER of Ed25519 and as DER of ECDSA, and no other text', async () => {
  const der = stack.use(new HederaClient({ ...config, submitKey: submitKey.toStringDer() }));
  const prepared = await der.prepare('signed with a DER key');
  assert.is(await der.submit(prepared), 'accepted');
  const upper = stack.use(new HederaClient({ ...config, submitKey: submitKey.toStringRaw().toUpperCase() }));
  assert.is(await upper.submit(await upper.prepare('signed with a seed in upper case')), 'accepted');
  const ecdsa = PrivateKey.generateECDSA();
  const open = await ledger.createTopic(ecdsa);
  const other = stack.use(new HederaClient({ ...config, topicId: open, submitKey: ecdsa.toStringDer().toUpperCase() }));
  assert.is(await other.submit(await other.prepare('signed with ECDSA')), 'accepted');
  for (const bad of ['', '0x00', 'zz', '00'.repeat(31)]) {
    const client = stack.use(new HederaClient({ ...config, operatorKey: bad }));
    const outcome = await client.prepare('never').then(
      () => 'prepared',
      () => 'refused',
    );
    assert.is(outcome, 'refused', bad);
  }
});

test('a validity that the ledger refuses, or longer than a start counts on, is refused at once', () => {
  for (const validSeconds of [14, 121, Number.NaN]) {
    assert.throws(() => new HederaClient({ ...config, validSeconds }), RangeError);
  }
});

test.after(() => stack.disposeAsync());
test.run();
