import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Revocation } from '../../../protocol/log/revocation.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { FederationLog, type LoggedRevocation } from '../../fixtures/federation-log.ts';
import { bundleOf, revocationProofs, sizesOf, viewOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { codesOf, verdictOf, wordOf } from './judged.ts';

const WITNESSES = ['us', 'ca', 'sg', 'jp'];
const DAY_MS = 24 * 60 * 60_000;

/** A log with a record of eu, and then a revocation of eu’s key; eu and `others` have new keys since. */
async function afterRevoked(terms: (log: FederationLog) => Partial<Revocation>) {
  const log = await FederationLog.create();
  const record = await log.record('eu');
  log.tick(DAY_MS);
  const revoked = await log.revoke('eu', terms(log));
  await log.rotateKey('eu');
  return { log, record, revoked };
}

test('what a rotated key signed stands', async () => {
  const { log, record } = await afterRevoked(() => ({}));
  assert.is(wordOf(log, await bundleOf(log, record, 0, { witnesses: WITNESSES })), 'verified');
});

test('what was decided before a key was compromised stands; what was not falls', async () => {
  for (const [since, word] of [
    [1, 'verified'],
    [0, 'not-signed'],
    [-DAY_MS, 'not-signed'],
  ] as const) {
    const log = await FederationLog.create();
    const sealed = await log.record('eu');
    const decided = log.now;
    await log.revoke('eu', { reason: 'compromised', compromisedSince: timestampOf(decided + since) });
    const verdict = verdictOf(log, await bundleOf(log, sealed, 0, { witnesses: WITNESSES }));
    assert.is(verdict.word, word, `${since} ms after the decision`);
    if (word === 'verified') continue;
    assert.equal(codesOf(verdict), ['key-compromised']);
    assert.not(verdict.checks.sigValid);
    assert.is(verdict.ledger, null);
  }
});

test('what is not decided falls with its compromised key, and not with its rotated one', async () => {
  for (const [reason, word] of [
    ['compromised', 'not-signed'],
    ['rotated', 'no-decision-yet'],
  ] as const) {
    const log = await FederationLog.create();
    const sealed = await log.seal('eu');
    const compromisedSince = reason === 'rotated' ? null : log.tick(DAY_MS);
    await log.revoke('eu', { reason, compromisedSince });
    assert.is(wordOf(log, await bundleOf(log, sealed, 0, { witnesses: WITNESSES })), word);
  }
});

test('a revocation reaches no further back than the roster in force there lets it', async () => {
  for (const [age, word] of [
    [30, 'verified'],
    [10, 'not-signed'],
  ] as const) {
    const log = await FederationLog.create({ reach: 20 * 24 * 60 * 60 });
    const sealed = await log.record('eu');
    log.tick(age * DAY_MS);
    await log.revoke('eu', { reason: 'compromised', compromisedSince: timestampOf(Date.UTC(2020, 0, 1)) });
    assert.is(wordOf(log, await bundleOf(log, sealed, 0, { witnesses: WITNESSES })), word, `${age} days`);
  }
});

test('a later roster does not change how far an earlier revocation reaches', async () => {
  const log = await FederationLog.create({ reach: 20 * 24 * 60 * 60 });
  const sealed = await log.record('eu');
  log.tick(30 * DAY_MS);
  await log.revoke('eu', { reason: 'compromised', compromisedSince: timestampOf(Date.UTC(2020, 0, 1)) });
  log.addRoster({ revocationReach: 90 * 24 * 60 * 60 });
  assert.is(wordOf(log, await bundleOf(log, sealed, 0, { witnesses: WITNESSES })), 'verified');
});

test('checkpoints by a rotated key count up to the revocation’s place, by a compromised one never', async () => {
  for (const [reason, ahead, word] of [
    ['rotated', 0, 'verified'],
    ['rotated', 1, 'stale'],
    ['compromised', 0, 'stale'],
  ] as const) {
    const log = await FederationLog.create();
    const record = await log.record('eu');
    const key = newestKey(log.member('sg'));
    const compromisedSince = reason === 'rotated' ? null : log.tick();
    const { index } = await log.revoke('sg', { reason, compromisedSince });
    await log.record('us');
    const sg = await log.checkpoint('sg', { size: index + ahead }, key);
    const checkpoints = [await log.checkpoint('us'), await log.checkpoint('ca'), sg];
    const silent = await Promise.all(['eu', 'jp'].map((node) => log.checkpoint(node, { vouched: {} })));
    const bundle = await bundleOf(log, record, 0, { checkpoints: [...checkpoints, ...silent] });
    assert.is(wordOf(log, bundle), word, `${reason}, size ${index} + ${ahead}`);
  }
});

test('a new key of a revoked witness covers all that came before', async () => {
  const log = await FederationLog.create();
  const record = await log.record('eu');
  await log.revoke('sg', { reason: 'compromised', compromisedSince: log.tick() });
  await log.rotateKey('sg');
  assert.is(wordOf(log, await bundleOf(log, record, 0, { witnesses: ['us', 'ca', 'sg'] })), 'verified');
});

test('of several revocations of a key all apply', async () => {
  const log = await FederationLog.create();
  const record = await log.record('eu');
  const since = log.tick(-1000);
  await log.revoke('eu');
  const { index } = await log.revoke('eu', { reason: 'compromised', compromisedSince: since });
  const bundle = await bundleOf(log, record, 0, { witnesses: WITNESSES });
  assert.is(index, 2);
  assert.is(wordOf(log, bundle), 'not-signed');
  assert.is(wordOf(log, { ...bundle, revocations: bundle.revocations.slice(0, 1) }), 'verified');
});

test('a revocation concerns that key of that node alone', async () => {
  const log = await FederationLog.create();
  const record = await log.record('eu');
  const { keyId } = newestKey(log.member('eu')).signer;
  await log.revoke('us', { keyId, reason: 'compromised', compromisedSince: timestampOf(Date.UTC(2025, 0, 1)) });
  assert.is(wordOf(log, await bundleOf(log, record, 0, { witnesses: WITNESSES })), 'verified');
});

test('a revocation that its node did not sign, or that is not whole, is passed over', async () => {
  const compromisedSince = timestampOf(Date.UTC(2025, 0, 1));
  for (const [terms, by] of [
    [{ reason: 'compromised', compromisedSince }, 'us'],
    [{ reason: 'rotated', compromisedSince }, 'eu'],
    [{ reason: 'compromised', compromisedSince: null }, 'eu'],
  ] as const) {
    const log = await FederationLog.create();
    const record = await log.record('eu');
    await log.revoke('eu', terms, log.member(by));
    assert.is(wordOf(log, await bundleOf(log, record, 0, { witnesses: WITNESSES })), 'verified');
  }
});

test('a revocation that was not decided, or by too few, is passed over', async () => {
  const { log, record, revoked } = await afterRevoked((made) => ({
    reason: 'compromised',
    compromisedSince: timestampOf(made.now - 2 * DAY_MS),
  }));
  const before = await Promise.all(['us', 'ca', 'sg'].map((node) => log.checkpoint(node, { size: 1 })));
  const after = await Promise.all(['us', 'ca', 'sg'].map((node) => log.checkpoint(node)));
  const on = async (...covering: number[]) => {
    const checkpoints = [...before, ...covering.flatMap((i) => after.slice(i, i + 1))];
    return wordOf(log, await bundleOf(log, record, 0, { checkpoints }));
  };
  assert.is(await on(), 'verified');
  assert.is(await on(0, 1), 'verified');
  assert.is(await on(0, 1, 2), 'not-signed');
  const { signature } = before[0] ?? { signature: revoked.signed.signature };
  const forged = after.map(({ text }) => ({ text, signature }));
  assert.is(wordOf(log, await bundleOf(log, record, 0, { checkpoints: [...before, ...forged] })), 'verified');
  const bundle = await bundleOf(log, record, 0, { checkpoints: after });
  const text = bundle.decision?.text ?? '';
  const [proof] = revocationProofs(log, [revoked], [log.size]);
  if (proof === undefined) throw new Error('no revocation');
  assert.is(wordOf(log, { ...bundle, revocations: [{ ...proof, decision: { ...proof.decision, text } }] }), 'verified');
});

test('a revocation that was signed and never decided does not ride on the decision of another of its key', async () => {
  const { log, record } = await afterRevoked(() => ({}));
  const otherLog = await FederationLog.create();
  const compromisedSince = timestampOf(log.now - 2 * DAY_MS);
  const signed = await otherLog.revoke('eu', { reason: 'compromised', compromisedSince });
  const bundle = await bundleOf(log, record, 0, { witnesses: ['us', 'ca', 'sg'] });
  const revocations = bundle.revocations.map(({ decision }) => Object.assign({}, signed.signed, { decision }));
  assert.is(otherLog.genesis, log.genesis);
  assert.is(wordOf(log, { ...bundle, revocations }), 'verified');
});

test('whoever they are, the members of a quorum show a revocation: its own node counts too', async () => {
  const { log, record } = await afterRevoked((made) => ({
    reason: 'compromised',
    compromisedSince: timestampOf(made.now - 2 * DAY_MS),
  }));
  const before = await Promise.all(['us', 'ca', 'sg'].map((node) => log.checkpoint(node, { size: 1 })));
  const after = await Promise.all(['us', 'ca', 'eu'].map((node) => log.checkpoint(node)));
  assert.is(wordOf(log, await bundleOf(log, record, 0, { checkpoints: [...before, ...after] })), 'not-signed');
});

test('rosters and revocations are judged as if no key were revoked, and then all apply at once', async () => {
  const log = await FederationLog.create();
  const record = await log.record('eu');
  const keys = new Map(['us', 'ca', 'sg', 'jp'].map((node) => [node, newestKey(log.member(node))]));
  for (const node of ['us', 'ca', 'sg']) {
    await log.revoke(node, { reason: 'compromised', compromisedSince: log.tick() });
  }
  const old = await Promise.all([...keys].map(([node, key]) => log.checkpoint(node, {}, key)));
  assert.is(wordOf(log, await bundleOf(log, record, 0, { checkpoints: old })), 'stale');
  for (const node of ['us', 'ca', 'sg']) await log.rotateKey(node);
  const fresh = await Promise.all([...keys.keys()].map((node) => log.checkpoint(node)));
  assert.is(wordOf(log, await bundleOf(log, record, 0, { checkpoints: [...old, ...fresh] })), 'verified');
});

test('revocations that the verifier brings contradict a bundle that leaves them out', async () => {
  const { log, record, revoked } = await afterRevoked((made) => ({
    reason: 'compromised',
    compromisedSince: timestampOf(made.now - 2 * DAY_MS),
  }));
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => log.checkpoint(node, { size: 1 })));
  const bundle = await bundleOf(log, record, 0, { checkpoints, revocations: [] });
  assert.is(wordOf(log, bundle), 'verified');
  const revocations = await fileOf(log, revoked);
  const verdict = verdictOf(log, bundle, { pin: log.genesis, revocations });
  assert.is(verdict.word, 'contradicted');
  assert.not(verdict.checks.sigValid);
  assert.not(verdict.evidence?.complianceStatus.article12_1);
  const known = verdictOf(log, bundle, { log: viewOf(log) });
  assert.is(known.word, 'contradicted');
  const undecided = { ...revocations, checkpoints: revocations.checkpoints.slice(0, 2) };
  assert.is(wordOf(log, bundle, { pin: log.genesis, revocations: undecided }), 'verified');
});

test('a lost quorum is stale, also by a revocation that the verifier brings', async () => {
  const log = await FederationLog.create();
  const record = await log.record('eu');
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => log.checkpoint(node)));
  const bundle = await bundleOf(log, record, 0, { checkpoints });
  const revoked = await log.revoke('sg', { reason: 'compromised', compromisedSince: log.tick() });
  const revocations = await fileOf(log, revoked);
  assert.is(wordOf(log, bundle, { pin: log.genesis, revocations }), 'stale');
  assert.is(wordOf(log, bundle, { log: viewOf(log) }), 'stale');
});

test('that a revoked key’s name decided a batch contradicts what the verifier knows', async () => {
  const log = await FederationLog.create();
  const sealed = await log.seal('eu');
  await log.revoke('eu');
  log.decide(sealed);
  const bundle = await bundleOf(log, sealed, 0, { revocations: [], witnesses: WITNESSES });
  assert.is(wordOf(log, bundle), 'verified', 'whoever made this log let a revoked key decide');
  assert.is(wordOf(log, bundle, { log: viewOf(log) }), 'contradicted');
});

async function fileOf(log: FederationLog, revoked: LoggedRevocation) {
  const checkpoints = await Promise.all(['us', 'ca', 'jp'].map((node) => log.checkpoint(node)));
  return { revocations: revocationProofs(log, [revoked], sizesOf(checkpoints)), checkpoints, keys: log.certificates };
}

test.run();
