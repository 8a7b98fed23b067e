import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { peerIdFromString } from '@libp2p/peer-id';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { OperatorError, operatorRequest } from '../../../node/operator/operator-client.ts';
import { rosterInForce } from '../../../protocol/log/decision-state.ts';
import { entityId, nodeId } from '../../../protocol/ids.ts';
import type { Member } from '../../../protocol/log/roster.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { parseRosterFileText } from '../../../protocol/verdict/parse.ts';
import { rosterCommand } from '../../../scripts/roster/command.ts';
import { verifyCommand } from '../../../scripts/verify/command.ts';
import { UnreadableFileError } from '../../../scripts/verify/read-text.ts';
import { identityKeyOf } from '../../protocol/log/topic.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { confirms, inForce, named, nextRoster, rosterHash, vote } from './roster-voting.ts';

const NODES = ['eu', 'us', 'ca', 'jp'];

/** Of four members three are a majority. */
const network = await TestNetwork.start({ nodes: NODES, quorum: 1, ledger: 'local' });
test.after(() => network[Symbol.asyncDispose]());
const nodes = NODES.map((id) => network.node(id));
const [eu, us, ca, jp] = [network.node('eu'), network.node('us'), network.node('ca'), network.node('jp')];

/** What an auditor has: a bundle from before any of these rosters, and a folder for what else is handed over. */
const folder = await mkdtemp(join(tmpdir(), 'meridian-auditor-'));
test.after(() => rm(folder, { recursive: true }));
const bundle = await handedOver('bundle.json', (await eu.get(`/v1/bundles/${await confirms(eu, [eu])}`)).text);

async function handedOver(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

/** `npm run roster -- show` of a node. */
async function show({ config }: TestNode, ...flags: readonly string[]) {
  const lines: string[] = [];
  const terminal = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  return { code: await rosterCommand(['show', '--home', config.home, ...flags], terminal), text: lines.join('\n') };
}

/** `npm run verify` of the auditor's bundle, under what pins it. */
async function audit(roster: string) {
  const lines: string[] = [];
  const out = (line: string) => void lines.push(line);
  const surroundings = { out, note: out, home: null, now: Date.now, suite: nativeSuite, progress: null, program: '' };
  const code = await verifyCommand([bundle, '--roster', roster], surroundings);
  return { code, text: lines.join('\n') };
}

/** Has a node name a roster that its operator never signed, as a liar's would. */
async function nameUnsigned({ context }: TestNode, text: string): Promise<void> {
  await context.federationLog.keepRoster(text);
  const terms = { since: null, everyMs: 60_000 };
  await context.anchoring.ensureStatement({ type: 'roster', text }, timestampOf(Date.now()), terms);
}

test('a tie of two rosters is left by a change of mind; who named the other goes on', async () => {
  const [one, other] = [nextRoster(eu, { name: 'one' }), nextRoster(eu, { name: 'other' })];
  for (const node of [eu, us]) await vote(node, one);
  for (const node of [ca, jp]) await vote(node, other);
  await named(nodes, { eu: one, us: one, ca: other, jp: other });
  for (const { context } of nodes) assert.is(context.keys.rosters.current.version, 1);
  await vote(us, other);
  await named(nodes, { eu: one });
  await inForce(nodes, other);
  for (const { context } of nodes) assert.is(context.keys.rosters.current.name, 'other');
  await confirms(eu, nodes);
});

test('of three changes of mind the last one counts', async () => {
  const [one, other] = [nextRoster(eu, { name: 'third' }), nextRoster(eu, { name: 'fourth' })];
  for (const text of [one, other, one]) {
    await vote(jp, text);
    await named(nodes, { jp: text });
  }
  for (const node of [eu, ca]) await vote(node, one);
  await inForce(nodes, one);
});

test('what roster show --decisions writes pins its last roster, also for a bundle of before', async () => {
  const { hash, genesis, current } = ca.context.keys.currentRosters.inForce;
  assert.is(current.version, 3);
  assert.is((await audit(genesis)).code, 0);
  assert.is((await audit(hash)).code, 1, 'the bundle does not have it');
  const file = join(folder, 'rosters.json');
  assert.equal(await show(ca, '--decisions', '--out', file), { code: 0, text: '' });
  for (const rosters of [file, await handedOver('printed.json', (await show(jp, '--decisions')).text)]) {
    const { code, text } = await audit(rosters);
    assert.is(code, 0);
    assert.match(text, new RegExp(`VERIFIED: [^]*pinned by ${rosters}: roster 3 ${hash}`));
  }
});

test('the file that a node starts with is no pin of a verifier, and the refusal says which is', async () => {
  const file = join(folder, 'roster.json');
  assert.is((await show(ca, '--out', file)).code, 0);
  const refusal: unknown = await audit(file).catch((error: unknown) => error);
  assert.instance(refusal, UnreadableFileError);
  assert.match(String(refusal), /names no decisions: give what npm run roster -- show --decisions writes/);
  const rosters = parseRosterFileText((await show(ca, '--decisions')).text);
  const [founding, second, third] = rosters;
  for (const changed of [
    [founding, third],
    [founding, { ...second, decision: null }],
    [second, third],
  ]) {
    const path = await handedOver('changed.json', JSON.stringify(changed));
    assert.instance(await audit(path).catch((error: unknown) => error), UnreadableFileError);
  }
  assert.is((await show(ca, '--decisions', '--roster', file)).code, 2);
});

test('a roster that one member named early, of which nobody knows the text, holds up nothing and has no effect', async () => {
  const hidden = nextRoster(eu, { name: 'hidden' });
  await vote(eu, hidden);
  await named(nodes, { eu: hidden });
  await confirms(us, nodes);
  const before = eu.context.keys.rosters.hash;
  for (const { context } of nodes) assert.is(rosterInForce(context.federationLog.state), before);
  // Shown late, it is in force once a majority has named it, also at the one that must ask for its text.
  for (const node of [us, ca]) await vote(node, hidden);
  await inForce(nodes, hidden);
  assert.is((await jp.get('/v1/federation')).body.rosterContradiction, null);
});

test('a roster that breaks a rule is signed by no node; a majority that names it falls through', async () => {
  const { ledger } = eu.context.keys.rosters.current;
  const broken = nextRoster(eu, { ledger: { ...ledger, network: 'another' } });
  const refusal: unknown = await vote(eu, broken).catch((error: unknown) => error);
  assert.instance(refusal, OperatorError);
  const { sequence: before } = eu.context.federationLog.state;
  const liars = [eu, us, ca];
  for (const node of liars) await nameUnsigned(node, broken);
  await until('the names to come and fall at all', () =>
    nodes.every(({ context }) => {
      const { open, sequence } = context.federationLog.state;
      return (
        sequence >= before + liars.length &&
        Object.values(open).every(({ roster }) => roster === null) &&
        context.follower.needsRoster === null
      );
    }),
  );
  const good = nextRoster(eu, { name: 'good' });
  for (const node of [us, ca, jp]) await vote(node, good);
  await inForce(nodes, good);
  assert.not.ok(eu.context.keys.rosters.hashes.includes(rosterHash(broken)));
});

test('an operator sees what is in force and what was named, and the public the texts', async () => {
  const text = nextRoster(us, { name: 'proposed' });
  await vote(us, text);
  await named(nodes, { us: text });
  const answer = JSON.parse(await operatorRequest(join(us.config.home, 'operator.sock'), 'GET', '/rosters'));
  const { version } = us.context.keys.rosters.current;
  assert.equal([answer.node, answer.majority, answer.decided.length], ['us', 3, version]);
  assert.equal(answer.named, [{ hash: rosterHash(text), by: ['us'] }]);
  assert.equal(answer.vote, { version: version + 1, hash: rosterHash(text) });
  const shown = (await us.get(`/v1/rosters?from=${version + 1}`)).body;
  assert.equal([shown.rosters, shown.named, shown.signatures], [[], [text], []]);
  const first = (await us.get('/v1/rosters')).body;
  assert.equal(first.rosters, us.context.keys.rosters.texts);
  assert.equal(first.signatures, us.context.keys.rosters.signedGenesis.signatures);
});

test('votes and what is in force survive a restart', async () => {
  await us.stop();
  await us.start();
  assert.equal(us.context.keys.rosters.hashes, eu.context.keys.rosters.hashes);
  const own = await us.context.rosterVotes.next();
  assert.is(own?.signed.statement.includes('"proposed"'), true);
});

test('a joiner with the peer id of a member, spelled otherwise, gets no vote; where liars bring it in, it is left out', async () => {
  const { members } = eu.context.keys.currentRosters.inForce.current;
  const peerId = members.find(({ node }) => node === 'us')?.peerId ?? '';
  const joiner: Member = {
    node: nodeId('zz'),
    region: 'elsewhere',
    baseUrl: 'https://zz.example',
    peerId: peerIdFromString(peerId).toCID().toString(),
    multiaddrs: ['/dns4/zz.example/tcp/4200'],
    accounts: [entityId('0.0.99887')],
    identityKey: identityKeyOf('zz'),
  };
  const text = nextRoster(eu, { members: [...members, joiner] });
  assert.instance(await vote(eu, text).catch((error: unknown) => error), OperatorError);
  for (const node of [eu, us, ca]) await nameUnsigned(node, text);
  await inForce(nodes, text);
  await confirms(jp, nodes);
  const repaired = nextRoster(eu, { members });
  for (const node of [us, ca, jp]) await vote(node, repaired);
  await inForce(nodes, repaired);
});

test.run();
