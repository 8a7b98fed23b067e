import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PackReach, type PackReachOptions } from '../../../node/packs/pack-reach.ts';
import { AnchoringView } from '../../../node/verification/attestation/anchoring-view.ts';
import { readEvidence } from '../../../node/verification/evidence.ts';
import { ProofTrees } from '../../../node/verification/proof-trees.ts';
import { RecordJudge } from '../../../node/verification/record-judge.ts';
import { nodeId, type RecordId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { envelopeHash, recordAt } from '../../fixtures/federation-log-batch.ts';
import { keepBatch } from '../../fixtures/linked-store.ts';
import { type NodeLog, openNodeLog } from '../../fixtures/node-log.ts';
import { Ledger } from '../../trust/ledger.ts';

const OWN = nodeId('eu');
const OTHER = nodeId('us');
/** Minutes at which a node dates its records: its clock was ten minutes ahead for two of them. */
const MINUTES = [0, 1, 2, 12, 13, 3, 4, 5, 20];

function reachOf({ store, knowledge, keys, federationLog }: NodeLog, batches: number): PackReach {
  const records = new RecordJudge({ keys, knowledge });
  const trees = new ProofTrees();
  const decisionOf = knowledge.decisionOf.bind(knowledge);
  return new PackReach({
    self: OWN,
    store,
    chains: { head: () => ({ batch: batches, next: batches + 1, hash: null }) },
    federationLog,
    evidence: (id: RecordId) => readEvidence({ store, trees, decisionOf }, id),
    view: new AnchoringView({ self: OWN, outbox: async () => undefined, records }),
  } satisfies PackReachOptions);
}

test('the records of another node up to a moment are found also where its times go back', async () => {
  const ledger = await Ledger.create();
  const at = (minute: number) => timestampOf(ledger.log.now + minute * 60_000);
  const times = MINUTES.map(at);
  const moment = at(6);
  await using node = await openNodeLog(ledger, []);
  for (const time of times) {
    await keepBatch(node.store, await ledger.record('us', [{}], { from: time, submittedAt: time, sealedAt: time }));
  }
  await node.readOn();
  const reach = reachOf(node, MINUTES.length);
  assert.equal(await reach.upTo([OTHER], moment), [{ node: 'us', seq: 8 }]);
});

test('a pack waits for an own batch that is signed again, though its proof does not hold until then', async () => {
  const ledger = await Ledger.create();
  const { log } = ledger;
  const first = await ledger.record('eu', [{}]);
  const since = timestampOf(log.now + 500);
  const pending = await log.seal('eu', [{}]);
  ledger.enforce(
    await ledger.draftRevocation('eu', { reason: 'compromised', compromisedSince: since }),
    'us',
    'ca',
    'sg',
  );
  const members = ['us', 'ca', 'sg', 'jp'];
  await using node = await openNodeLog(ledger, await Promise.all(members.map((member) => log.checkpoint(member))));
  for (const batch of [first, pending]) await keepBatch(node.store, batch);
  const reach = reachOf(node, 2);
  const upTo = [{ node: OWN, seq: 2 }];
  assert.is(await reach.confirmed(upTo), null);

  await log.rotateKey('eu', 2);
  const { from, sealedAt } = pending.envelope;
  const place = { batch: 2, first: 2, prev: envelopeHash(first), from, sealedAt, submittedAt: sealedAt };
  const again = await log.seal('eu', [{}], place);
  assert.is(recordAt(again, 0).id, recordAt(pending, 0).id);
  assert.ok(ledger.name(again));
  await node.readOn();
  await keepBatch(node.store, again);
  for (const member of members) await node.count(await log.checkpoint(member));
  assert.equal(
    (await reach.confirmed(upTo))?.map(({ record }) => record.seq),
    [2],
  );
});

test.run();
