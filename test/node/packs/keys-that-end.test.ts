import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import { isJsonObject } from '../../../protocol/json/value.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import { checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import { PACK_FILES } from '../../../protocol/pack/manifest.ts';
import { packErasures } from '../../../protocol/pack/pack-lines.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { askedPack, filesOf, judgedPack, packFile } from '../../fixtures/made-pack.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { until } from '../../fixtures/until.ts';

const SOON_MS = 200;
const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'jp'],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: SOON_MS },
});
const eu = network.node('eu');
test.after(() => network[Symbol.asyncDispose]());

const from = new Date(Date.now() - 60_000).toISOString();
const ids: string[] = [];
for (let i = 0; i < 4; i++) ids.push(await eu.attest({ case: i }, { sourceId: 'loans' }));
await confirmed(ids.at(-1) ?? '');
const to = new Date(Date.now() + 1_000).toISOString();
const first = await askedPack(eu, { sources: ['loans'], from, to });
assert.is(first.state, 'ready', JSON.stringify(first));
const question = { sources: ['loans'], from, to, asOf: String(first.asOf) };
const before = await packFile(eu, String(first.packId));

async function confirmed(id: string): Promise<void> {
  await eu.seal();
  await until(`${id} to be confirmed`, async () => (await eu.get(`/v1/status/${id}`)).body.status === 'confirmed');
}

async function deleted(): Promise<void> {
  const { status, text } = await eu.send('DELETE', `/v1/evidence-packs/${String(first.packId)}`, undefined);
  assert.is(status, 200, text);
}

async function again(): Promise<Uint8Array> {
  const pack = await askedPack(eu, question);
  assert.equal([pack.packId, pack.state], [first.packId, 'ready'], JSON.stringify(pack));
  return packFile(eu, String(pack.packId));
}

async function replacedIn(bytes: Uint8Array) {
  return packErasures.parse((await filesOf(bytes)).get(PACK_FILES.erasures) ?? '').replaced;
}

/** Members whose checkpoints are in a pack. */
async function witnessesOf(bytes: Uint8Array): Promise<readonly NodeId[]> {
  const file = parseJson((await filesOf(bytes)).get(PACK_FILES.federation) ?? '');
  const checkpoints = isJsonObject(file) ? file.checkpoints : undefined;
  const texts = Array.isArray(checkpoints) ? checkpoints.filter(isJsonObject).map(({ text }) => String(text)) : [];
  return texts.map((text) => nodeId(checkpointStatement.parse(text).node));
}

test('a pack that is asked for again after its node has another key is the same, signature and all', async () => {
  await deleted();
  await eu.context.ownKeys.rotate();
  assert.ok(Buffer.from(before).equals(await again()));
});

test('where it has to be signed anew, the new key is in it, and what was replaced is named', async () => {
  const erasure = await eu.post('/v1/erasures', {
    attestationIds: [ids[0] ?? ''],
    legalBasis: 'Art. 17(1) GDPR',
    requestedBy: 'the person',
  });
  assert.is(erasure.status, 200, erasure.text);
  await confirmed(String(erasure.body.attestationId));
  const bytes = await again();
  const verdict = await judgedPack(eu, bytes);
  assert.equal([verdict.word, verdict.problems], ['verified', []]);
  assert.equal(
    (await replacedIn(bytes)).map(({ path }) => path),
    [PACK_FILES.federation],
  );
});

test('checkpoints by a key that was compromised since are replaced, and named', async () => {
  const witness = (await witnessesOf(before)).find((node) => node !== 'eu');
  if (witness === undefined) throw new Error('nobody witnesses the pack');
  const { ownKeys } = network.node(witness).context;
  const { keyId } = ownKeys;
  await ownKeys.revoke(keyId, timestampOf(Date.now() - 3_600_000), 'it was stolen');
  await until('eu to know that the key was compromised, and others to witness', async () => {
    const { keys, follower } = eu.context;
    const isKnown = keys.directory.compromisedSince(witness, keyId) !== null;
    const others = follower.checkpointStore.kept().filter(({ checkpoint }) => checkpoint.keyId !== keyId);
    return isKnown && others.some(({ checkpoint }) => checkpoint.node !== 'eu' && (checkpoint.vouched.eu ?? 0) > 0);
  });
  const bytes = await again();
  const verdict = await judgedPack(eu, bytes);
  assert.equal([verdict.word, verdict.problems], ['verified', []]);
  const replaced = await replacedIn(bytes);
  assert.equal(
    replaced.map(({ path }) => path),
    [PACK_FILES.federation, PACK_FILES.batches],
  );
  assert.match(replaced[0]?.reason ?? '', `a key of ${witness} that signed a checkpoint was compromised`);
  const page = (await filesOf(bytes)).get(PACK_FILES.page) ?? '';
  assert.match(page, /Replaced since an earlier pack for this question: proofs\/federation\.json/);
});

test.run();
