import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { hashText } from '../../../protocol/hash.ts';
import { entityId, nodeId } from '../../../protocol/ids.ts';
import type { Member, Roster } from '../../../protocol/log/roster.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { FederationLog, type LogOptions, type Twist } from '../../fixtures/federation-log.ts';
import { bundleOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { at, codesOf, verdictOf, withMember as withText, wordOf } from './judged.ts';

/** The word on a record of eu that was decided before a second roster which is as `change` says. */
async function wordBeside(
  change: (log: FederationLog) => Partial<Roster>,
  twist: (log: FederationLog) => Twist = () => ({}),
  options: LogOptions = {},
) {
  const log = await FederationLog.create({ quorum: 1, ...options });
  const record = await log.record('eu');
  log.addRoster(change(log), twist(log));
  return wordOf(log, await bundleOf(log, record));
}

function withMember(log: FederationLog, node: string, change: Partial<Member>): Member[] {
  return log.membersWith([]).map((member) => (member.node === node ? Object.assign({}, member, change) : member));
}

function threeOf<Item>(items: readonly Item[]): readonly [Item, Item, Item] {
  return [at(items, 0), at(items, 1), at(items, 2)];
}

test('rosters follow by version and hash, keep their ledger, and continue nothing', async () => {
  assert.is(await wordBeside(() => ({ name: 'renamed' })), 'verified');
  for (const change of [
    { version: 3 },
    { previous: null },
    { ledger: { network: 'testnet', topicId: entityId('0.0.9') } },
    { ledger: { network: 'mainnet', topicId: entityId('0.0.5005') } },
  ]) {
    assert.is(await wordBeside(() => change), 'rosters-do-not-join', JSON.stringify(change));
  }
  const continued = (log: FederationLog) => ({ continues: { genesis: log.genesis, root: log.genesis, size: 1 } });
  assert.is(await wordBeside(continued), 'rosters-do-not-join');
});

test('what no roster may be does not join: quorum, doubled members, keys that are none', async () => {
  const both = (log: FederationLog): Member[] => log.membersWith([]);
  const of = (log: FederationLog, i: number): Member => at(both(log), i);
  for (const change of [
    () => ({ quorum: 0 }),
    () => ({ quorum: 5 }),
    (log: FederationLog) => ({ members: [...both(log), of(log, 0)] }),
    (log: FederationLog) => ({ members: withMember(log, 'us', { identityKey: of(log, 1).identityKey }) }),
    (log: FederationLog) => ({ members: withMember(log, 'us', { peerId: of(log, 1).peerId }) }),
    (log: FederationLog) => ({ members: withMember(log, 'us', { accounts: of(log, 1).accounts }) }),
    (log: FederationLog) => ({ members: withMember(log, 'us', { identityKey: encodeSignature(new Uint8Array(9)) }) }),
  ]) {
    assert.is(await wordBeside(change), 'rosters-do-not-join');
  }
});

test('a genesis of five with a quorum of none does not join', async () => {
  const log = await FederationLog.create({ quorum: 0 });
  assert.is(wordOf(log, await bundleOf(log, await log.record('eu'))), 'rosters-do-not-join');
});

test('a genesis names each node and each account once', async () => {
  for (const shared of ['node', 'accounts'] as const) {
    const log = await FederationLog.create({
      genesis: (members) => ({
        members: members.map((member, i) =>
          i === 4 ? Object.assign({}, member, { [shared]: at(members, 3)[shared] }) : member,
        ),
      }),
    });
    assert.is(wordOf(log, await bundleOf(log, await log.record('eu'))), 'rosters-do-not-join', shared);
  }
});

test('the message of a roster’s decision names the federation, the roster before and this one', async () => {
  const log = await FederationLog.create();
  const record = await log.record('eu');
  log.addRoster({ name: 'renamed' });
  const bundle = await bundleOf(log, record);
  const [genesis, renamed] = [at(bundle.rosters, 0), at(bundle.rosters, 1)];
  const { decision } = renamed;
  if (decision === null) throw new Error('no decision');
  const { message } = JSON.parse(decision.text);
  for (const [name, hash] of [
    ['federation', renamed.text],
    ['previous', renamed.text],
    ['statement', genesis.text],
  ].map(([member, text]) => [member ?? '', hashText(nativeSuite, text ?? '')] as const)) {
    const text = withText(decision.text, 'message', withText(message, name, hash));
    const rosters = [genesis, { ...renamed, decision: { ...decision, text } }];
    assert.is(wordOf(log, { ...bundle, rosters }), 'rosters-do-not-join', name);
  }
});

test('an account never passes to another member, and a node id to no other operator', async () => {
  const account = (log: FederationLog, node: string) => ({ accounts: [log.account(node)] });
  const other = { identityKey: encodeSignature(nativeSigner(seedOf('other')).publicKey) };
  const passed = (log: FederationLog) => {
    return { members: withMember(log, 'us', account(log, 'jp')).filter(({ node }) => node !== 'jp') };
  };
  assert.is(await wordBeside(passed), 'rosters-do-not-join');
  const fresh = { accounts: [entityId('0.0.7777')] };
  assert.is(await wordBeside((log) => ({ members: withMember(log, 'us', fresh) })), 'verified');
  assert.is(await wordBeside((log) => ({ members: withMember(log, 'us', other) })), 'verified');
  assert.is(
    await wordBeside((log) => ({ members: withMember(log, 'us', { ...other, ...fresh }) })),
    'rosters-do-not-join',
  );
});

test('the decision of a roster names it and the one before, and a member before it paid', async () => {
  for (const twist of [
    { payer: entityId('0.0.666') },
    { network: 'mainnet' },
    { message: '{}' },
    { topicId: entityId('0.0.9') },
  ]) {
    assert.is(
      await wordBeside(
        () => ({ name: 'renamed' }),
        () => twist,
      ),
      'rosters-do-not-join',
      JSON.stringify(twist),
    );
  }
});

test('the decision of another roster brings this one not into force', async () => {
  const log = await FederationLog.create({ quorum: 1 });
  const record = await log.record('eu');
  log.addRoster({ name: 'one' });
  log.addRoster({ name: 'two' });
  const bundle = await bundleOf(log, record);
  const [genesis, one, two] = threeOf(bundle.rosters);
  const rosters = [genesis, { ...one, decision: two.decision }];
  assert.is(wordOf(log, { ...bundle, rosters }), 'rosters-do-not-join');
  const bare = [genesis, { ...one, decision: null }];
  assert.is(wordOf(log, { ...bundle, rosters: bare }), 'rosters-do-not-join');
  assert.is(wordOf(log, { ...bundle, rosters: [genesis, two] }), 'rosters-do-not-join');
  const decided = [{ ...genesis, decision: one.decision }, one];
  assert.is(wordOf(log, { ...bundle, rosters: decided }), 'rosters-do-not-join');
});

test('the decisions of rosters are in the order of the ledger', async () => {
  const log = await FederationLog.create({ quorum: 1 });
  const record = await log.record('eu');
  log.addRoster({ name: 'one' });
  log.addRoster({ name: 'two' }, { sequence: '15' });
  assert.is(wordOf(log, await bundleOf(log, record)), 'rosters-do-not-join');
  const doubled = await FederationLog.create({ quorum: 1 });
  const another = await doubled.record('eu');
  doubled.addRoster({ name: 'one' });
  doubled.addRoster({ name: 'two' }, { index: 1 });
  assert.is(wordOf(doubled, await bundleOf(doubled, another)), 'rosters-do-not-join');
});

test('a roster needs a majority of the one before it, not of its own', async () => {
  const log = await FederationLog.create({ nodes: ['us', 'eu', 'ca'], quorum: 1 });
  for (const node of ['za', 'br', 'cl']) await log.admit(node);
  const record = await log.record('eu');
  log.addRoster({ members: log.membersWith(['za', 'br', 'cl'], ['ca']) });
  const of = async (...witnesses: readonly string[]) => wordOf(log, await bundleOf(log, record, 0, { witnesses }));
  assert.is(await of('us', 'za', 'br', 'cl'), 'roster-without-majority');
  assert.is(await of('us', 'eu'), 'verified');
});

test('the origin counts towards a majority, for that is not about its batch', async () => {
  const log = await FederationLog.create({ nodes: ['us', 'eu', 'ca'], quorum: 1 });
  const record = await log.record('eu');
  log.addRoster({ name: 'renamed' });
  assert.is(wordOf(log, await bundleOf(log, record, 0, { witnesses: ['us'] })), 'roster-without-majority');
  assert.is(wordOf(log, await bundleOf(log, record, 0, { witnesses: ['us', 'eu'] })), 'verified');
});

test('every roster of a bundle needs its majority, also one that nothing is counted within', async () => {
  const log = await FederationLog.create({ quorum: 2 });
  const record = await log.record('eu');
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => log.checkpoint(node)));
  log.addRoster({ name: 'renamed' });
  const bundle = await bundleOf(log, record, 0, { checkpoints });
  assert.is(wordOf(log, bundle), 'roster-without-majority');
  assert.is(wordOf(log, { ...bundle, rosters: bundle.rosters.slice(0, 1) }), 'verified');
});

test('a key is certified by an identity key that was its node’s up to the decision, of whichever roster', async () => {
  const log = await FederationLog.create();
  const earlier = await log.record('eu');
  const identity = nativeSigner(seedOf('another identity of eu'));
  log.addRoster({ members: withMember(log, 'eu', { identityKey: encodeSignature(identity.publicKey) }) });
  const later = await log.record('eu');
  const { signer, signed } = newestKey(log.member('eu'));
  const terms = { validFrom: timestampOf(log.now), seqFrom: 1 };
  const anew = await certifyKey(nodeId('eu'), identity, signer, terms);
  const keys = log.certificates.map((one) => (one === signed ? anew.signed : one));
  for (const [record, of, word] of [
    [earlier, log.certificates, 'verified'],
    [later, log.certificates, 'verified'],
    [earlier, keys, 'not-signed'],
    [later, keys, 'verified'],
  ] as const) {
    assert.is(wordOf(log, await bundleOf(log, record, 0, { keys: of, witnesses: ['us', 'ca', 'sg'] })), word);
  }
});

test('a revocation is signed by an identity key that was its node’s up to its decision', async () => {
  for (const [isLate, word] of [
    [false, 'verified'],
    [true, 'not-signed'],
  ] as const) {
    const log = await FederationLog.create();
    const record = await log.record('eu');
    const identity = nativeSigner(seedOf('another identity of eu'));
    const change = () =>
      log.addRoster({ members: withMember(log, 'eu', { identityKey: encodeSignature(identity.publicKey) }) });
    if (isLate) change();
    const compromisedSince = timestampOf(log.now - 3_600_000);
    await log.revoke('eu', { reason: 'compromised', compromisedSince }, { ...log.member('eu'), identity });
    if (!isLate) change();
    assert.is(wordOf(log, await bundleOf(log, record, 0, { witnesses: ['us', 'ca', 'sg'] })), word);
  }
});

test('a key of a roster without majority speaks for nobody', async () => {
  const log = await FederationLog.create({ quorum: 1 });
  await log.admit('za');
  log.addRoster({ members: log.membersWith(['za']) });
  const record = await log.record('za');
  const verdict = verdictOf(log, await bundleOf(log, record, 0, { witnesses: ['us'] }));
  assert.is(verdict.word, 'roster-without-majority');
  assert.not(verdict.checks.sigValid);
  assert.not(verdict.evidence?.complianceStatus.article12_1);
  assert.ok(codesOf(verdict).includes('roster-without-majority'));
});

test.run();
