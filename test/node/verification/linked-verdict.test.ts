import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { groupTable } from '../../../node/records/record-tables.ts';
import { CLASS_BOUNDS } from '../../../node/accounts/limits/route-weights.ts';
import { envelopeTable, tileTable } from '../../../node/records/batch-tables.ts';
import { BusyError } from '../../../node/concurrency/semaphore.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import type { Ledger } from '../../trust/ledger.ts';
import { recordAt } from '../../fixtures/federation-log-batch.ts';
import {
  countingSuite,
  incidentAbout,
  keepBatch,
  type LinkedOptions,
  type LinkedStore,
  openLinkedStore,
  ORIGIN,
  overrideOf,
  startVerifier,
} from '../../fixtures/linked-store.ts';

const OTHERS = ['us', 'ca', 'sg'];

/** Of each batch the receipt and the envelope, and the certificate of the one key that signed them. */
const signaturesOf = ({ batches }: LinkedStore) => 2 * batches.length + 1;

function testWith(name: string, options: LinkedOptions, run: (store: LinkedStore) => Promise<void>): void {
  test(name, async () => {
    await using store = await openLinkedStore(options);
    await run(store);
  });
}

async function wordOf({ verifier }: ReturnType<typeof startVerifier>, { subject }: LinkedStore) {
  const found = await verifier.verifyRecord(subject);
  if (found === undefined) throw new Error('the record is there');
  const { verdict, links } = found;
  return { word: verdict.word, overrides: links.overrides, incidents: links.incidents };
}

const checkpointsOf = async ({ ledger: { log }, node }: LinkedStore, members: readonly string[]) => {
  for (const member of members) await node.count(await log.checkpoint(member));
};

testWith('64 linked records are checked once, and their trees built once', { groupSize: 40 }, async (store) => {
  const counting = countingSuite();
  const started = startVerifier(store, { suite: counting.suite });
  const first = await wordOf(started, store);
  assert.equal(first, { word: 'verified', overrides: 32, incidents: 32 });
  assert.is(counting.signatures(), signaturesOf(store));
  // A batch is one group here, so that both trees are one: of 40 leaves, 39 inner nodes, in the group and in the tile.
  assert.is(started.nodes(), 2 * 39 * store.batches.length);
  const reads = started.reads();
  assert.equal(await wordOf(started, store), first);
  assert.is(counting.signatures(), signaturesOf(store));
  assert.is(started.nodes(), 2 * 39 * store.batches.length);
  // The record itself is read again, and what links to it is looked for: of the linked ones nothing is read.
  assert.ok(started.reads() - reads < 12, `${started.reads() - reads} reads`);
});

testWith(
  'of a batch that many linked records are in everything is read, checked and built once',
  { together: 16 },
  async (store) => {
    const counting = countingSuite();
    const started = startVerifier(store, { suite: counting.suite });
    assert.equal(await wordOf(started, store), { word: 'verified', overrides: 32, incidents: 32 });
    assert.is(store.batches.length, 5);
    assert.is(counting.signatures(), signaturesOf(store));
    // Two trees of 16 leaves a batch; that of the subject has one leaf, and nothing to hash.
    assert.is(started.nodes(), 2 * 15 * 4);
    // Where the batch of a record before stood, its envelope is looked at first.
    assert.ok(started.rows('envelope') < 2 * store.batches.length, `${started.rows('envelope')} envelopes`);
    assert.is(started.rows('tile'), store.batches.length);
    assert.is(started.ranges('batch-first'), store.batches.length);
  },
);

testWith(
  'a linked record whose batch is damaged is missed, and the others of other batches are not',
  { overrides: 4, incidents: 0, together: 2 },
  async (store) => {
    const { node, batches } = store;
    const [, damaged] = batches;
    if (damaged === undefined) throw new Error('there are two');
    const { node: origin, batch } = damaged.envelope;
    await node.store.write([{ type: 'del', key: tileTable.key(origin, batch, 0, 0) }]);
    const found = await startVerifier(store).verifier.verifyRecord(store.subject);
    assert.equal([found?.links.overrides, found?.links.truncated], [2, true]);
    await node.store.write([{ type: 'del', key: envelopeTable.key(origin, batch) }]);
    // What is in no batch is held to be unsealed: its group's signature speaks for it.
    const unsealed = await startVerifier(store).verifier.verifyRecord(store.subject);
    assert.equal([unsealed?.links.overrides, unsealed?.links.truncated], [4, false]);
  },
);

testWith('what was checked as it arrived is not checked again after a start', {}, async (store) => {
  const counting = countingSuite();
  for (const { node } of [store, store]) {
    assert.is((await wordOf(startVerifier({ node }, counting), store)).word, 'verified');
  }
  assert.is(counting.signatures(), signaturesOf(store));
});

testWith('identical questions at the same time are one verdict', { overrides: 2, incidents: 0 }, async (store) => {
  const started = startVerifier(store);
  await started.verifier.verifyRecord(store.subject);
  const before = started.reads();
  await started.verifier.verifyRecord(store.subject);
  const ofOne = started.reads() - before;
  const many = await Promise.all(Array.from({ length: 200 }, () => started.verifier.verifyRecord(store.subject)));
  assert.is(started.reads() - before, 2 * ofOne);
  assert.is(new Set(many).size, 1);
});

testWith(
  'of many questions at once some are refused at once, and those that wait are answered',
  { overrides: 1, incidents: 0, groupSize: 300 },
  async (store) => {
    const { verifier } = startVerifier(store);
    const ids = store.batches.flatMap(({ records }) => records.map(({ id }) => id));
    const { places, waiting } = CLASS_BOUNDS.verdict;
    const outcomes = await Promise.all(
      ids.map((id) =>
        verifier.verifyRecord(id).then(
          (found) => found?.verdict.word,
          (error: unknown) => (error instanceof BusyError ? 'busy' : String(error)),
        ),
      ),
    );
    const counted = Map.groupBy(outcomes, (outcome) => outcome);
    assert.equal(new Set(counted.keys()), new Set(['verified', 'busy']));
    assert.is(counted.get('verified')?.length, places + waiting);
    assert.is((await verifier.verifyRecord(store.subject))?.verdict.word, 'verified');
  },
);

testWith(
  'a revocation fells what was remembered as holding, of the linked ones and of the record',
  { overrides: 3, incidents: 1 },
  async (store) => {
    const { ledger, node, batches } = store;
    const started = startVerifier(store);
    assert.equal(await wordOf(started, store), { word: 'verified', overrides: 3, incidents: 1 });
    // Since the second override: the record and the first one were decided before.
    const compromisedSince = batches[2]?.envelope.sealedAt ?? null;
    await revoke(ledger, compromisedSince);
    await node.readOn();
    await checkpointsOf(store, OTHERS);
    assert.equal(await wordOf(started, store), { word: 'verified', overrides: 1, incidents: 0 });
    const earlier = batches[0]?.envelope.from ?? null;
    await revoke(ledger, earlier);
    await node.readOn();
    await checkpointsOf(store, OTHERS);
    assert.equal(await wordOf(started, store), { word: 'contradicted', overrides: 0, incidents: 0 });
  },
);

testWith(
  'a checkpoint that counts, and a roster that asks for fewer, are seen at once',
  { overrides: 1, incidents: 0, witnesses: ['us'] },
  async (store) => {
    const { ledger, node } = store;
    const { log } = ledger;
    const started = startVerifier(store);
    assert.is((await wordOf(started, store)).word, 'too-few-checkpoints');
    await checkpointsOf(store, ['ca']);
    assert.is((await wordOf(started, store)).word, 'too-few-checkpoints');
    const draft = ledger.draftRoster({ quorum: 2 });
    ledger.enforce(draft, ...OTHERS);
    await node.readOn();
    await checkpointsOf(store, ['us', 'ca']);
    const found = await started.verifier.verifyRecord(store.subject);
    assert.is(found?.verdict.word, 'verified');
    assert.equal(found?.verdict.restsOn, { version: 2, hash: log.roster(2).hash });
  },
);

testWith('a linked record that comes later is seen at once', { overrides: 1, incidents: 0 }, async (store) => {
  const { ledger, node, subject } = store;
  const started = startVerifier(store);
  assert.is((await wordOf(started, store)).overrides, 1);
  for (const draft of [overrideOf(subject, 'another'), incidentAbout(subject)]) {
    const sealed = await ledger.record(ORIGIN, [draft]);
    await keepBatch(node.store, sealed);
  }
  await node.readOn();
  assert.equal(await wordOf(started, store), { word: 'verified', overrides: 2, incidents: 1 });
});

testWith('a payload that is erased, or damaged, is seen at once', { overrides: 1, incidents: 0 }, async (store) => {
  const [sealed] = store.batches;
  if (sealed === undefined) throw new Error('there is a batch');
  const { salt, payload } = recordAt(sealed, 0);
  let answer: { readonly salt: Uint8Array; readonly text: string } | 'erased' = { salt, text: JSON.stringify(payload) };
  const { verifier } = startVerifier(store, { payload: async () => answer });
  assert.is((await verifier.verifyRecord(store.subject))?.verdict.facts.payload, 'disclosed');
  answer = 'erased';
  assert.is((await verifier.verifyRecord(store.subject))?.verdict.facts.payload, 'erased');
  answer = { salt, text: '{"data":{"input":{"amount":1}}}' };
  assert.is((await verifier.verifyRecord(store.subject))?.verdict.word, 'payload-damaged');
});

testWith(
  'what does not hold is read anew each time: a receipt that is mended holds again',
  { overrides: 2, incidents: 0 },
  async (store) => {
    const { node, batches } = store;
    const [, first, second] = batches;
    if (first === undefined || second === undefined) throw new Error('there are two');
    const started = startVerifier(store);
    const place = [nodeId(ORIGIN), first.envelope.first] as const;
    const damaged = { ...first.signedGroup, signature: second.signedGroup.signature };
    await node.store.write([groupTable.put(place, damaged)]);
    assert.is((await wordOf(started, store)).overrides, 1);
    assert.is((await wordOf(started, store)).overrides, 1);
    await node.store.write([groupTable.put(place, first.signedGroup)]);
    assert.is((await wordOf(started, store)).overrides, 2);
  },
);

testWith(
  'the record itself is read anew each time: a byte that changed is seen',
  { overrides: 1, incidents: 0 },
  async (store) => {
    const { node, batches } = store;
    const [subject, other] = batches;
    if (subject === undefined || other === undefined) throw new Error('there are two');
    const started = startVerifier(store);
    assert.is((await wordOf(started, store)).word, 'verified');
    const damaged = { ...subject.signedGroup, signature: other.signedGroup.signature };
    await node.store.write([groupTable.put([nodeId(ORIGIN), subject.envelope.first], damaged)]);
    assert.is((await wordOf(started, store)).word, 'not-signed');
  },
);

async function revoke(ledger: Ledger, compromisedSince: Timestamp | null): Promise<void> {
  ledger.enforce(await ledger.draftRevocation(ORIGIN, { reason: 'compromised', compromisedSince }), ...OTHERS);
}

test.run();
