import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { entityId, nodeId } from '../../../protocol/ids.ts';
import type { BatchMessage } from '../../../protocol/log/message.ts';
import { consensusOf, FederationLog, type LogOptions, type Twist } from '../../fixtures/federation-log.ts';
import type { SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { bundleOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { codesOf, verdictOf, withMember, wordOf } from './judged.ts';

const MINUTE_MS = 60_000;

/** The verdict on a batch of eu whose decision stands in the log, and was made as `twist` says. */
async function verdictOnTwisted(twist: (log: FederationLog, sealed: SealedBatch) => Twist, options: LogOptions = {}) {
  const log = await FederationLog.create(options);
  const sealed = await log.seal('eu');
  const index = log.decide(sealed, twist(log, sealed));
  const bundle = await bundleOf(log, sealed);
  const sizes = bundle.checkpoints.map(() => log.size);
  return verdictOf(log, { ...bundle, decision: log.decisionProof(index, sizes) });
}

function saying(change: (message: BatchMessage) => Partial<Record<keyof BatchMessage, unknown>>) {
  return (log: FederationLog, sealed: SealedBatch): Twist => {
    const message = log.messageOf(sealed);
    if (message.type !== 'batch') throw new Error('no batch message');
    const changed = Object.entries(change(message));
    return {
      message: changed.reduce((text, [name, value]) => withMember(text, name, value), JSON.stringify(sorted(message))),
    };
  };
}

function sorted(message: object): object {
  return Object.fromEntries(Object.entries(message).sort(([a], [b]) => (a < b ? -1 : 1)));
}

test('a decision names the federation, node, number, envelope and key of the batch', async () => {
  const hash = hashText(nativeSuite, 'another');
  for (const change of [{ federation: hash }, { node: 'us' }, { batch: 2 }, { envelope: hash }, { keyId: hash }]) {
    const verdict = await verdictOnTwisted(saying(() => change));
    assert.is(verdict.word, 'decision-mismatch', JSON.stringify(change));
    assert.equal(codesOf(verdict), ['decision-mismatch']);
  }
});

test('a decision of another sort of message, or of none, names no batch', async () => {
  for (const message of ['{"a":1}', 'hello']) {
    assert.is((await verdictOnTwisted(() => ({ message }))).word, 'decision-mismatch');
  }
});

test('a decision that is not canonical is none', async () => {
  const log = await FederationLog.create();
  const bundle = await bundleOf(log, await log.record('eu'));
  const { decision } = bundle;
  if (decision === null) throw new Error('no decision');
  const verdict = verdictOf(log, { ...bundle, decision: { ...decision, text: `${decision.text} ` } });
  assert.is(verdict.word, 'decision-mismatch');
  assert.equal(codesOf(verdict), ['decision-malformed']);
});

test('a decision is of the ledger topic of the federation', async () => {
  assert.is((await verdictOnTwisted(() => ({ network: 'mainnet' }))).word, 'decision-mismatch');
  assert.is((await verdictOnTwisted(() => ({ topicId: entityId('0.0.77') }))).word, 'decision-mismatch');
});

test('a stranger’s message decides nothing', async () => {
  const verdict = await verdictOnTwisted(() => ({ payer: entityId('0.0.666') }));
  assert.is(verdict.word, 'decision-mismatch');
  assert.equal(codesOf(verdict), ['decision-impossible']);
});

test('a batch is rescued by a majority of the others, which two members of three are and one of two is not', async () => {
  const byUs = (log: FederationLog): Twist => ({ payer: log.account('us') });
  assert.is((await verdictOnTwisted(byUs, { nodes: ['us', 'eu', 'ca'] })).word, 'verified');
  assert.is((await verdictOnTwisted(byUs, { nodes: ['us', 'eu'] })).word, 'decision-mismatch');
});

test('a federation of one decides by its own account', async () => {
  const log = await FederationLog.create({ nodes: ['eu'] });
  const verdict = verdictOf(log, await bundleOf(log, await log.record('eu')));
  assert.is(verdict.word, 'verified');
  assert.equal(verdict.witnesses, ['eu']);
});

test('a removed member’s last batch is rescued, and by its own account decides nothing', async () => {
  for (const [payer, word] of [
    ['us', 'verified'],
    ['jp', 'decision-mismatch'],
  ] as const) {
    const log = await FederationLog.create();
    const sealed = await log.seal('jp');
    log.addRoster({ members: log.membersWith([], ['jp']) });
    log.decide(sealed, { payer: log.account(payer) });
    assert.is(wordOf(log, await bundleOf(log, sealed)), word);
  }
});

test('a node that no roster up to the decision names has no batch', async () => {
  const log = await FederationLog.create();
  await log.admit('za');
  const sealed = await log.seal('za');
  log.decide(sealed, { payer: log.account('us') });
  log.addRoster({ members: log.membersWith(['za']) });
  const next = await log.seal('za');
  log.decide(next);
  const verdict = verdictOf(log, await bundleOf(log, sealed));
  assert.not(verdict.verified);
  assert.is(verdict.word, 'decision-mismatch');
  assert.is(wordOf(log, await bundleOf(log, next)), 'verified');
});

test('a place in the log is one decision’s alone: that of a roster is no batch’s', async () => {
  const log = await FederationLog.create();
  const sealed = await log.seal('eu');
  const { index } = log.addRoster({ name: 'renamed' });
  const payer = log.account('eu');
  const bundle = await bundleOf(log, sealed);
  for (const [sequence, seconds] of [
    ['11', 60],
    ['9', 3],
  ] as const) {
    const consensusTimestamp = consensusOf(Date.parse(sealed.envelope.sealedAt) + 1000 * seconds - 3000);
    const twist = { index: index ?? 0, payer, sequence, consensusTimestamp };
    const text = log.decisionText(log.messageOf(sealed), twist);
    const verdict = verdictOf(log, { ...bundle, decision: { text, paths: [] } });
    assert.is(verdict.word, 'decision-mismatch');
    assert.equal(codesOf(verdict), ['decision-impossible']);
  }
});

test('the order of the log is the order of the ledger', async () => {
  for (const twist of [{ sequence: '1' }, { consensusTimestamp: consensusOf(Date.UTC(2026, 0, 1) + 9_000) }]) {
    const log = await FederationLog.create();
    log.tick(MINUTE_MS);
    const sealed = await log.seal('eu', [{}], {});
    log.addRoster({ name: 'renamed' });
    log.decide(sealed, twist);
    const verdict = verdictOf(log, await bundleOf(log, sealed));
    assert.is(verdict.word, 'decision-mismatch', JSON.stringify(twist));
    assert.ok(codesOf(verdict).includes('decision-impossible'));
  }
});

test('a name by a key whose revocation is in force decides nothing, rotated or compromised', async () => {
  for (const reason of ['rotated', 'compromised'] as const) {
    const log = await FederationLog.create();
    const sealed = await log.seal('eu');
    const since = reason === 'rotated' ? null : log.tick(48 * 60 * MINUTE_MS);
    await log.revoke('eu', { reason, compromisedSince: since });
    log.decide(sealed);
    const { keyId } = newestKey(log.member('eu')).signer;
    assert.is(sealed.envelope.keyId, keyId);
    const verdict = verdictOf(log, await bundleOf(log, sealed));
    assert.is(verdict.word, reason === 'rotated' ? 'decision-mismatch' : 'not-signed');
    assert.ok(codesOf(verdict).includes('decision-impossible'));
  }
});

test('the ledger’s time lies no more than 5 minutes before `sealedAt`', async () => {
  const on = async (before: number) =>
    verdictOnTwisted((_, { envelope }) => {
      return { consensusTimestamp: consensusOf(Date.parse(envelope.sealedAt) - before) };
    });
  assert.is((await on(5 * MINUTE_MS)).word, 'verified');
  const verdict = await on(5 * MINUTE_MS + 1);
  assert.is(verdict.word, 'misdated');
  assert.is(verdict.exitCode, 1);
});

test('a batch that reached the ledger more than 24 hours after it was sealed is said to be late, and verified', async () => {
  const on = async (after: number) =>
    verdictOnTwisted((_, { envelope }) => {
      return { consensusTimestamp: consensusOf(Date.parse(envelope.sealedAt) + after) };
    });
  const [day, later] = [await on(24 * 60 * MINUTE_MS), await on(24 * 60 * MINUTE_MS + 1)];
  assert.equal([day.word, day.ledger?.isLate], ['verified', false]);
  assert.equal([later.word, later.ledger?.isLate], ['verified', true]);
});

test('a record’s time is the ledger’s', async () => {
  const verdict = await verdictOnTwisted(() => ({ consensusTimestamp: consensusOf(Date.UTC(2026, 0, 1, 5)) }));
  assert.is(verdict.ledger?.at, '2026-01-01T05:00:00.000Z');
  assert.is(verdict.ledger?.consensusTimestamp, consensusOf(Date.UTC(2026, 0, 1, 5)));
  assert.is(verdict.record?.node, nodeId('eu'));
});

test.run();
