import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import type { SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { bundleOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { at, codesOf, verdictOf, wordOf } from './judged.ts';

const log = await FederationLog.create();
const earlier = await log.record('us');
const sealed = await log.record('eu');
const usAndCa = [await log.checkpoint('us'), await log.checkpoint('ca')];

/** The word where us and ca say that the batch was decided, and `third` is what else there is. Three are needed. */
async function wordWith(...third: readonly SignedCheckpoint[]) {
  return wordOf(log, await bundleOf(log, sealed, 0, { checkpoints: [...third, ...usAndCa] }));
}

test('three members other than the origin make a quorum of three, in whatever order they come', async () => {
  assert.is(await wordWith(await log.checkpoint('sg')), 'verified');
  assert.is(await wordWith(), 'too-few-checkpoints');
});

test('the origin does not witness its own', async () => {
  assert.is(await wordWith(await log.checkpoint('eu')), 'too-few-checkpoints');
});

test('a member counts once, whatever it signs', async () => {
  const key = await log.rotateKey('ca');
  const again = [await log.checkpoint('ca', {}, key), await log.checkpoint('us', { vouched: { eu: 1 } })];
  assert.is(await wordWith(...again), 'too-few-checkpoints');
});

test('a checkpoint of a size that ends before the decision does not cover it', async () => {
  const size = log.indexOf(sealed) ?? 0;
  assert.is(size, 1);
  assert.is(await wordWith(await log.checkpoint('sg', { size, vouched: { eu: 1 } })), 'too-few-checkpoints');
  assert.is(await wordWith(await log.checkpoint('sg', { size: size + 1 })), 'verified');
});

test('a checkpoint of another root, federation or form is passed over', async () => {
  const { root } = JSON.parse((await log.checkpoint('sg', { size: 1 })).text);
  const rival = await FederationLog.create({ quorum: 2 });
  assert.is(await wordWith(await log.checkpoint('sg', { root })), 'too-few-checkpoints');
  assert.is(await wordWith(await log.checkpoint('sg', { federation: rival.genesis })), 'too-few-checkpoints');
  const spaced = await log.checkpoint('sg');
  assert.is(await wordWith({ ...spaced, text: ` ${spaced.text}` }), 'too-few-checkpoints');
});

test('a checkpoint is signed by its member’s certified key', async () => {
  const bySomebody = { signer: nativeSigner(seedOf('somebody')), signed: newestKey(log.member('sg')).signed };
  assert.is(await wordWith(await log.checkpoint('sg', {}, bySomebody)), 'too-few-checkpoints');
  assert.is(await wordWith(await log.checkpoint('sg', {}, newestKey(log.member('jp')))), 'too-few-checkpoints');
  const good = await log.checkpoint('sg');
  const bad = { ...good, signature: at(usAndCa).signature };
  assert.is(await wordWith(bad), 'too-few-checkpoints');
  assert.is(await wordWith(bad, good), 'verified');
});

test('a key that another member certified in its name is not its own', async () => {
  const signer = nativeSigner(seedOf('thief'));
  const { signed } = await certifyKey(nodeId('sg'), log.member('jp').identity, signer, {
    validFrom: timestampOf(log.now),
    seqFrom: 1,
  });
  const checkpoints = [...usAndCa, await log.checkpoint('sg', {}, { signer, signed })];
  const keys = [...log.certificates, signed];
  assert.is(wordOf(log, await bundleOf(log, sealed, 0, { checkpoints, keys })), 'too-few-checkpoints');
});

test('a certificate of any first record covers a checkpoint, which is about no record', async () => {
  const key = await log.rotateKey('sg', 10_000);
  assert.is(await wordWith(await log.checkpoint('sg', {}, key)), 'verified');
});

test('who covers the decision and does not vouch for the batch makes it on the ledger and not witnessed', async () => {
  for (const vouched of [{}, { us: 5 }]) {
    const silent = await log.checkpoint('sg', { vouched });
    const verdict = verdictOf(log, await bundleOf(log, sealed, 0, { checkpoints: [silent, ...usAndCa] }));
    assert.is(verdict.word, 'too-few-checkpoints');
    assert.ok(verdict.facts.onLedger);
    assert.not(verdict.facts.witnessed);
    assert.is(verdict.status, 'anchored');
    assert.equal(codesOf(verdict), ['too-few-vouch']);
  }
});

test('vouched is this batch or a later one of its node', async () => {
  const made = await FederationLog.create();
  const first = await made.record('eu');
  const second = await made.record('eu');
  for (const [batch, eu, word] of [
    [first, 1, 'verified'],
    [first, 9, 'verified'],
    [second, 1, 'too-few-checkpoints'],
    [second, 2, 'verified'],
  ] as const) {
    const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => made.checkpoint(node, { vouched: { eu } })));
    assert.is(wordOf(made, await bundleOf(made, batch, 0, { checkpoints })), word);
  }
});

test('a member that covers by one checkpoint vouches by the same or another that covers', async () => {
  const covering = await log.checkpoint('sg', { vouched: {} });
  assert.is(await wordWith(covering, await log.checkpoint('sg', { vouched: { eu: 3 } })), 'verified');
  const elsewhere = await log.checkpoint('sg', { size: 1, vouched: { eu: 3 } });
  assert.is(await wordWith(covering, elsewhere), 'too-few-checkpoints');
});

test('witnesses of two rosters are not added up', async () => {
  const made = await FederationLog.create({ nodes: ['us', 'eu', 'ca', 'sg'], quorum: 2 });
  for (const node of ['za', 'br']) await made.admit(node);
  const record = await made.record('eu');
  const old = ['us', 'ca', 'sg', 'eu'];
  made.addRoster({ members: made.membersWith(['za', 'br'], ['ca', 'sg']) });
  const sizes = await Promise.all(old.map((node) => made.checkpoint(node, { vouched: {} })));
  const on = async (...vouching: readonly string[]) => {
    const checkpoints = [...sizes, ...(await Promise.all(vouching.map((node) => made.checkpoint(node))))];
    return wordOf(made, await bundleOf(made, record, 0, { checkpoints }));
  };
  assert.is(await on('ca', 'za'), 'too-few-checkpoints');
  assert.is(await on('ca', 'us'), 'verified');
  assert.is(await on('br', 'za'), 'verified');
});

test('a later roster counts by its own quorum', async () => {
  const made = await FederationLog.create({ quorum: 1 });
  const record = await made.record('eu');
  const roster = made.addRoster({ quorum: 4 });
  const of = async (witnesses: readonly string[], pin = made.genesis) =>
    verdictOf(made, await bundleOf(made, record, 0, { witnesses }), { pin });
  const majority = ['us', 'ca', 'sg'];
  assert.equal((await of(majority)).restsOn?.version, 1);
  assert.is((await of(majority)).word, 'verified');
  assert.is((await of(majority, roster.hash)).word, 'too-few-checkpoints');
  const whole = await of([...majority, 'jp'], roster.hash);
  assert.is(whole.word, 'verified');
  assert.equal([whole.restsOn?.version, whole.pinned?.version], [2, 2]);
});

test('a new member vouches for what was decided before it came', async () => {
  const made = await FederationLog.create({ nodes: ['us', 'eu', 'ca'], quorum: 2 });
  const record = await made.record('eu');
  await made.admit('za');
  made.addRoster({ members: made.membersWith(['za']) });
  const silent = await made.checkpoint('us', { vouched: {} });
  const checkpoints = [silent, await made.checkpoint('ca'), await made.checkpoint('za')];
  assert.is(wordOf(made, await bundleOf(made, record, 0, { checkpoints })), 'verified');
});

test('a checkpoint is judged by the identity key of the roster that it is counted within', async () => {
  const made = await FederationLog.create({ quorum: 3 });
  const record = await made.record('eu');
  const identity = nativeSigner(seedOf('another identity of sg'));
  const { member } = made.member('sg');
  const changed = { ...member, identityKey: encodeSignature(identity.publicKey) };
  const members = made.membersWith([]).map((one) => (one.node === 'sg' ? changed : one));
  const newer = made.addRoster({ members });
  const { signer } = newestKey(made.member('sg'));
  const terms = { validFrom: timestampOf(made.now), seqFrom: 1 };
  const { signed } = await certifyKey(nodeId('sg'), identity, signer, terms);
  const on = async (pin: typeof made.genesis, keys = made.certificates) =>
    wordOf(made, await bundleOf(made, record, 0, { witnesses: ['us', 'ca', 'sg'], keys }), { pin });
  assert.is(await on(made.genesis), 'verified');
  assert.is(await on(newer.hash), 'too-few-checkpoints');
  assert.is(await on(newer.hash, [...made.certificates, signed]), 'verified');
});

test('another record of the same log is judged alike', async () => {
  assert.is(wordOf(log, await bundleOf(log, earlier)), 'verified');
});

test.run();
