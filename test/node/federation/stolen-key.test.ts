import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { encodeGossip } from '../../../node/federation/gossip-forms.ts';
import { readKeyFile } from '../../../node/keys/key-file.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { keyDirectory, readNodeKeys } from '../../../node/keys/node-keys.ts';
import { batchOperations, readBatch, type StoredBatch } from '../../../node/records/batch-tables.ts';
import { readRecord } from '../../../node/records/record-reader.ts';
import { groupOperations } from '../../../node/records/record-tables.ts';
import { newRecordId } from '../../../node/records/record-id.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { makeRecord, recordLeaf } from '../../../protocol/chain/record.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { isRecordId, nodeId } from '../../../protocol/ids.ts';
import { revocationStatement } from '../../../protocol/log/revocation.ts';
import { TileTree } from '../../../protocol/merkle/tiles.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import type { Signer } from '../../../protocol/suite/suite.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { parseRevocationsText } from '../../../protocol/verdict/parse.ts';
import { nodeKeyCommand } from '../../../scripts/node-key/command.ts';
import { verifyCommand } from '../../../scripts/verify/command.ts';
import { UnreadableFileError } from '../../../scripts/verify/read-text.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

const EU = nodeId('eu');
const CA = nodeId('ca');
/** Time in which a batch that is wanted has long arrived. In milliseconds. */
const LONG_MS = 800;
const DAY_MS = 86_400_000;

const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'ca', 'sg'],
  asleep: ['sg'],
  ledger: 'local',
  // They restart while one of them is away, and none is a copy.
  config: { startsAlone: true },
  quorum: 2,
});
const [eu, us, ca, sg] = ['eu', 'us', 'ca', 'sg'].map((name) => network.node(name)) as [
  TestNode,
  TestNode,
  TestNode,
  TestNode,
];
test.after(() => network[Symbol.asyncDispose]());

/** What the thief has, and what the tests go on with. */
const theft = { since: timestampOf(0), before: '', between: '', after: '' };
/** Where an auditor keeps what was handed over. */
const folder = await mkdtemp(join(tmpdir(), 'meridian-auditor-'));
test.after(() => rm(folder, { recursive: true }));
const stolen: Signer = nativeSigner(await readKeyFile(keyDirectory(eu.config.home), 'signing'));

async function sealed(): Promise<string> {
  const id = await eu.attest({ input: Math.random(), decision: 'yes' });
  await eu.seal();
  return id;
}

async function judged(id: string, verified: boolean, ...nodes: readonly TestNode[]): Promise<void> {
  for (const node of nodes) {
    await until(`${node.config.id} to judge ${id} ${verified ? 'verified' : 'revoked'}`, async () => {
      const { status, body } = await node.get(`/v1/verify/${id}`);
      return status === 200 && body.verified === verified && body.witnessed === verified;
    });
  }
}

/** The file of a bundle as a node gives it now. */
async function handedOver(node: TestNode, id: string): Promise<string> {
  const { status, text } = await node.get(`/v1/bundles/${id}`);
  assert.is(status, 200, text);
  const path = join(folder, `${id}.json`);
  await writeFile(path, text);
  return path;
}

/** The exit code of `npm run verify` with these revocations, in an auditor's surroundings, and what it prints. */
async function audited(bundle: string, revocations: string): Promise<readonly [code: number, text: string]> {
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const args = [bundle, '--roster', eu.context.keys.rosters.genesis, '--revocations', revocations];
  const surroundings = { out: note, note, home: null, now: Date.now, suite: nativeSuite, progress: null, program: '' };
  const code = await verifyCommand(args, surroundings);
  return [code, lines.join('\n')];
}

/** `npm run node-key` on the home of a node. */
async function nodeKey(node: TestNode, ...args: readonly string[]) {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { out: (line: string) => void out.push(line), err: (line: string) => void err.push(line) };
  const code = await nodeKeyCommand([...args, '--home', node.config.home], terminal);
  return { code, out, err };
}

function headOf(node: TestNode): number {
  return node.context.chains.head(EU).batch;
}

/** A batch that the thief puts at the end of the chain as a bad member holds it. */
async function forge(member: TestNode, signer: Signer): Promise<StoredBatch> {
  const { store, chains } = member.context;
  const pattern = isRecordId(theft.before) ? await readRecord(store, theft.before) : undefined;
  if (pattern === undefined) throw new Error('no pattern');
  const { batch, hash, next } = chains.head(EU);
  const at = timestampOf(Date.now());
  const { record, texts } = makeRecord(nativeSuite, {
    ...pattern.record,
    id: newRecordId(EU, Date.now()),
    seq: next,
    payloadHash: writeSha256(randomBytes(32)),
  });
  const leaf = recordLeaf(nativeSuite, texts.head);
  const signed = { node: EU, first: next, size: 1, root: writeSha256(leaf), keyId: signer.keyId } as const;
  const group = { v: 1, type: 'group', signedAt: at, ...signed } as const;
  const envelope = { v: 2, type: 'batch', batch: batch + 1, prev: hash, from: at, sealedAt: at, ...signed } as const;
  const forged = { envelope, signed: await signStatement(envelopeStatement, envelope, signer) };
  const tree = new TileTree(nativeSuite);
  tree.append(leaf);
  const receipt = await signStatement(groupStatement, group, signer);
  await store.write([
    ...groupOperations({ group, signed: receipt, records: [{ record, texts }] }),
    ...batchOperations(forged, tree.tiles()),
  ]);
  return forged;
}

test('a stolen key halts its node: two stories for one batch', async () => {
  theft.before = await sealed();
  await judged(theft.before, true, eu, us, ca);
  await sleep(5);
  theft.since = timestampOf(Date.now());
  await sleep(5);
  theft.between = await sealed();
  await judged(theft.between, true, eu, us, ca);
  for (const id of [theft.before, theft.between]) await handedOver(us, id);
  const nothing = join(folder, 'nothing.json');
  assert.equal(await nodeKey(us, 'revocations', '--out', nothing), { code: 0, out: [], err: [] });
  assert.is((await audited(join(folder, `${theft.between}.json`), nothing))[0], 0);
  const honest = await readBatch(us.context.store, EU, 2);
  if (honest === undefined) return assert.unreachable();
  const second = { ...honest.envelope, sealedAt: timestampOf(Date.now()) };
  const rival = await signStatement(envelopeStatement, second, stolen);
  await us.context.federation.receive(encodeGossip({ type: 'envelope', signed: rival }), CA);
  await until('eu to halt', () => eu.context.federation.halted === 'forked');
  for (const node of [us, ca]) {
    await until('both envelopes', () => node.context.equivocations.knows(EU, 2));
  }
  assert.is((await eu.post('/v1/attest', { sourceId: 'test', data: { input: 1 } })).status, 503);
});

test('two envelopes that the ledger does not name, by a key that is revoked, are shown and accuse nobody; a restart lets the node go on', async () => {
  const { replacedBy } = await eu.context.ownKeys.revoke(stolen.keyId, theft.since, 'stolen');
  assert.ok(replacedBy);
  for (const node of [us, ca]) {
    const { body } = await node.get('/v1/federation');
    assert.equal(body.equivocations, [{ node: 'eu', batch: 2, stands: false }]);
  }
  assert.is(eu.context.federation.halted, 'forked');
  const started = performance.now();
  await eu.stop();
  await eu.start();
  assert.is(eu.context.federation.halted, null);
  theft.after = await sealed();
  await judged(theft.after, true, eu, us, ca);
  console.log(
    `halted by a stolen key, revoked: back and witnessed ${Math.round(performance.now() - started)} ms after the restart`,
  );
  await judged(theft.before, true, eu, us, ca);
  await judged(theft.between, false, eu, us, ca);
});

test('who comes later takes the batch that fell, since it was decided; it is shown as fallen', async () => {
  await sg.start();
  await until('the whole chain', () => headOf(sg) === 3);
  await judged(theft.after, true, sg);
  await judged(theft.before, true, sg);
  await judged(theft.between, false, sg);
  assert.is((await sg.get(`/v1/bundles/${theft.between}?partial=1`)).status, 200);
});

test('what the thief signs since is taken by nobody, though a member offers it, and halts nobody', async () => {
  const forged = await forge(us, stolen);
  await us.context.federation.announce(forged);
  await sleep(LONG_MS);
  assert.equal([eu, ca, sg].map(headOf), [3, 3, 3]);
  assert.is(eu.context.federation.halted, null);
  const later = await sealed();
  await until('the honest batch', () => [ca, sg].every((node) => headOf(node) === 4));
  await judged(later, true, eu, ca, sg);
  const { body } = await ca.get('/v1/federation');
  assert.not(JSON.stringify(body.equivocations).includes('"stands":true'));
  assert.is(eu.context.federation.halted, null);
  assert.is((await eu.post('/v1/attest', { sourceId: 'test', data: { input: 1 } })).status, 200);
});

test('the operator is told which records fell', async () => {
  const { code, out } = await nodeKey(eu, 'fallen', '--json');
  assert.equal([code, out.map((line) => JSON.parse(line).id)], [0, [theft.between]]);
  const inUse = await nodeKey(eu, 'fallen', '--key', eu.context.ownKeys.keyId);
  assert.equal([inUse.code, inUse.out], [0, ['no record fell by a revocation']]);
  assert.is((await nodeKey(eu, 'fallen', '--key', 'none')).code, 2);
});

test('what node-key revocations writes makes an auditor call what the thief signed verified no more', async () => {
  const [before, between] = [theft.before, theft.between].map((id) => join(folder, `${id}.json`)) as [string, string];
  // One that never named it, and one that was away, show it as well as its own node.
  for (const node of [eu, ca, sg]) {
    const file = join(folder, 'revocations.json');
    assert.equal(await nodeKey(node, 'revocations', '--out', file), { code: 0, out: [], err: [] });
    assert.is((await audited(before, file))[0], 0);
    const [code, said] = await audited(between, file);
    assert.is(code, 1);
    assert.match(said, /NOT VERIFIED \(contradicted\)/);
  }
  const { out } = await nodeKey(ca, 'revocations');
  const printed = join(folder, 'printed.json');
  await writeFile(printed, out.join('\n'));
  assert.is((await audited(between, printed))[0], 1);
});

test('a file of revocations that a stranger changed takes nothing back, and one without proofs is refused', async () => {
  const { out } = await nodeKey(ca, 'revocations');
  const file = parseRevocationsText(out.join('\n'));
  const changed = join(folder, 'changed.json');
  const [before, between] = [theft.before, theft.between].map((id) => join(folder, `${id}.json`)) as [string, string];
  const longAgo = file.revocations.map(({ statement, signature, decision }) => {
    return {
      statement: statement.replace(theft.since, timestampOf(Date.parse(theft.since) - DAY_MS)),
      signature,
      decision,
    };
  });
  const [checkpoint] = file.checkpoints;
  for (const value of [
    { ...file, revocations: longAgo },
    { ...file, checkpoints: [] },
    { ...file, checkpoints: file.checkpoints.map(({ text }) => ({ text, signature: checkpoint?.signature })) },
  ]) {
    await writeFile(changed, JSON.stringify(value));
    for (const bundle of [before, between]) assert.is((await audited(bundle, changed))[0], 0);
  }
  const { body } = await ca.get('/v1/revocations');
  for (const value of [body, body.revocations]) {
    await writeFile(changed, JSON.stringify(value));
    const refusal: unknown = await audited(between, changed).catch((error: unknown) => error);
    assert.instance(refusal, UnreadableFileError);
    assert.match(String(refusal), /changed\.json: it is no file that npm run node-key -- revocations writes/);
  }
});

test('anyone reads the revocations as they were signed', async () => {
  const { status, body } = await ca.get('/v1/revocations', { key: null });
  assert.is(status, 200);
  assert.is(body.nextCursor, null);
  const [signed] = body.revocations as { statement: string }[];
  const { keyId, compromisedSince } = revocationStatement.parse(signed?.statement ?? '');
  assert.equal([keyId, compromisedSince], [stolen.keyId, theft.since]);
  assert.is((await ca.get('/v1/revocations?cursor=x', { key: null })).status, 400);
});

test('node-key revocations says how many revoked keys are not in its file', async () => {
  const { identity } = await readNodeKeys(eu.config.home);
  const keyId = writeSha256(randomBytes(32));
  // Of a key that the node never certified: no member names it.
  const revocation = { v: 2, type: 'revocation', node: EU, keyId, reason: 'rotated', compromisedSince: null } as const;
  const issuedAt = timestampOf(Date.now());
  await ca.context.keys.learnRevocation(
    await signStatement(revocationStatement, { ...revocation, issuedAt }, identity),
  );
  const { code, out, err } = await nodeKey(ca, 'revocations');
  assert.equal([code, err.length, parseRevocationsText(out.join('\n')).revocations.length], [0, 1, 1]);
  assert.match(err[0] ?? '', /revoked keys that are not in it: 1;/);
});

test.run();
