import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { LogDamagedError } from '../../../node/log/federation-log.ts';
import { rosterTextTable } from '../../../node/log/log-tables.ts';
import { LogKnowledge, logViewOf } from '../../../node/verification/log-knowledge.ts';
import { KeyDirectory } from '../../../protocol/keys/key-directory.ts';
import { checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { openNodeLog } from '../../fixtures/node-log.ts';
import { Ledger } from '../../trust/ledger.ts';

const EU = nodeId('eu');
const MAJORITY = ['us', 'eu', 'ca'] as const;
const NOTHING = { places: [], sizes: [], batches: [] };

const ledger = await Ledger.create();
const { log } = ledger;
const sealed = await ledger.record('eu', [{}, {}]);
ledger.enforce(ledger.draftRoster({ name: 'second' }), ...MAJORITY);
ledger.enforce(await ledger.draftRevocation('us'), ...MAJORITY);
await log.rotateKey('us');
ledger.enforce(ledger.draftRoster({ name: 'third' }), ...MAJORITY);
await ledger.record('ca');
const checkpoints = await Promise.all(['ca', 'sg'].map((node) => log.checkpoint(node)));
const node = await openNodeLog(ledger, checkpoints);
test.after(() => node[Symbol.asyncDispose]());

test('what the log has is answered, and what it has not is left out', async () => {
  const index = log.indexOf(sealed) ?? 0;
  const batches = [1, 2].map((batch) => ({ node: EU, batch }));
  const view = logViewOf(await node.knowledge.ask({ places: [index, 900], sizes: [1, log.size, 900], batches }));
  assert.equal([view.decisionAt(index), view.decisionAt(900)], [log.decisions[index], undefined]);
  assert.equal([1, log.size, 900].map(view.rootAt), [log.rootAt(1), log.rootAt(log.size), undefined]);
  assert.equal(
    batches.map(({ batch }) => view.decidedBatch(EU, batch)),
    [log.decisions[index], undefined],
  );
  assert.is(view.decisionAt(index + 1), undefined, 'nobody asked for it');
  const { federationLog, keys } = node;
  const alone = new LogKnowledge({ federationLog, checkpointStore: { kept: () => [] }, keys });
  const edge = logViewOf(
    await alone.ask({ places: [log.size - 1, log.size], sizes: [log.size, log.size + 1], batches: [] }),
  );
  assert.equal([log.size - 1, log.size].map(edge.decisionAt), [log.decisions[log.size - 1], undefined]);
  assert.equal([log.size, log.size + 1].map(edge.rootAt), [log.rootAt(log.size), undefined]);
});

test('rosters and revocations in force are told, each with its decision, whatever is asked', async () => {
  const { rosters, revocations } = logViewOf(await node.knowledge.ask(NOTHING));
  const decided = ({ index }: { readonly index: number | null }) => (index === null ? null : log.decisions[index]);
  assert.equal(
    rosters,
    log.rosters.map((roster) => ({ text: roster.text, decision: decided(roster) })),
  );
  assert.is(rosters.length, 3);
  assert.equal(
    revocations,
    log.revocations.map((one) => ({ statement: one.signed.statement, decision: decided(one) })),
  );
  assert.is(revocations.length, 1);
});

test('checkpoints that count are told with who certified their keys', async () => {
  const { checkpoints: counted } = logViewOf(await node.knowledge.ask(NOTHING));
  assert.equal(
    counted.map(({ checkpoint, identityKey }) => [checkpoint.node, checkpoint.size, identityKey]),
    ['ca', 'sg'].map((name) => [name, log.size, log.member(name).member.identityKey]),
  );
});

test('of a key whose revocation is in force and not known here it is unclear what stands', async () => {
  const directory = new KeyDirectory(nativeSuite, () => node.keys.rosters);
  for (const signed of node.keys.statements().certificates) directory.addCertificate(signed);
  const { federationLog, checkpointStore } = node;
  const lacking = await new LogKnowledge({ federationLog, checkpointStore, keys: { directory } }).ask(NOTHING);
  const { unclear, revocations } = await node.knowledge.ask(NOTHING);
  assert.equal([unclear, revocations.length, lacking.revocations], [[], 1, []]);
  const [{ revocation: { keyId } } = { revocation: { keyId: null } }] = revocations;
  assert.equal(lacking.unclear, [{ node: 'us', keyId }]);
  if (keyId === null) throw new Error('no revocation');
  const [signed] = checkpoints;
  if (signed === undefined) throw new Error('no checkpoint');
  const checkpoint = { ...checkpointStatement.parse(signed.text), node: nodeId('us'), keyId };
  const ask = (keys: Pick<typeof node.keys, 'directory'>) =>
    new LogKnowledge({ federationLog, checkpointStore: { kept: () => [{ checkpoint, signed }] }, keys }).ask(NOTHING);
  assert.equal(
    (await ask(node.keys)).checkpoints.map((counted) => counted.checkpoint),
    [checkpoint],
  );
  assert.equal((await ask({ directory })).checkpoints, [], 'nothing rests on what may have been taken back');
});

test('it is asked anew what the log says, of each revocation of a key and once another roster is in force', async () => {
  const { federationLog: own, checkpointStore, keys } = node;
  const [known] = (await node.knowledge.ask(NOTHING)).revocations;
  if (known === undefined) throw new Error('no revocation');
  const { keyId } = known.revocation;
  const of = own.state.revoked.us?.[keyId] ?? [];
  const [first] = of;
  if (first === undefined) throw new Error('nothing is revoked');
  const federationLog = {
    state: own.state,
    size: own.size,
    decisionOf: own.decisionOf.bind(own),
    entry: own.entry.bind(own),
    pathAt: own.pathAt.bind(own),
    rootAt: own.rootAt.bind(own),
    rosterText: own.rosterText.bind(own),
  };
  const knowledge = new LogKnowledge({ federationLog, checkpointStore, keys });
  assert.equal([(await knowledge.ask(NOTHING)).rosters.length, (await knowledge.ask(NOTHING)).unclear], [3, []]);
  const other = { ...first, statement: hashText(nativeSuite, 'another revocation') };
  const revoked = { us: { [keyId]: [...of, other] } };
  federationLog.state = { ...own.state, revoked, rosters: own.state.rosters.slice(0, 2) };
  const { rosters, unclear } = await knowledge.ask(NOTHING);
  assert.equal([rosters.length, unclear], [2, [{ node: 'us', keyId }]]);
});

test('a log that misses the text of a roster in force says so, and answers nothing', async () => {
  await using damaged = await openNodeLog(ledger, []);
  const { federationLog, checkpointStore, keys, store } = damaged;
  const second = log.rosters[1]?.text ?? '';
  await store.write([rosterTextTable.del(hashText(nativeSuite, second))]);
  const knowledge = new LogKnowledge({ federationLog, checkpointStore, keys });
  const error: unknown = await knowledge.ask(NOTHING).catch((thrown: unknown) => thrown);
  assert.instance(error, LogDamagedError);
});

test.run();
