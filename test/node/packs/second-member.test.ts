import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PACK_FILES, packStatement } from '../../../protocol/pack/manifest.ts';
import { packErasures } from '../../../protocol/pack/pack-lines.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { readNodeKeys } from '../../../node/keys/node-keys.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { MAX_ITEMS } from '../../../protocol/verdict/bundle.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { TestMailSink } from '../../fixtures/mail-sink.ts';
import { askedPack, filesOf, judgedPack, packFile } from '../../fixtures/made-pack.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { requireProblem } from '../http/problem-shape.ts';

const SOON_MS = 200;
const ADA = 'ada@example.org';

const sink = await TestMailSink.start();
const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'jp'],
  quorum: 1,
  ledger: 'local',
  config: { batchIntervalMs: SOON_MS, mail: sink.config },
});
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await sink[Symbol.asyncDispose]();
});
const [eu, us] = [network.node('eu'), network.node('us')];

const from = new Date(Date.now() - 60_000).toISOString();
await eu.post('/v1/sign-up', { email: ADA, nodes: ['eu', 'us'] }, { key: null });
const [key = ''] = /^mk_eu_\S+$/m.exec((await sink.waitForMail(ADA)).text) ?? [];
await until('the key to work at us', async () => (await us.get('/v1/usage', { key })).status === 200);

async function confirmed(node: TestNode, id: string): Promise<void> {
  await node.seal();
  await until(`${id} to be confirmed`, async () => {
    return (await node.get(`/v1/status/${id}`, { key })).body.status === 'confirmed';
  });
}

const ids: string[] = [];
for (let i = 0; i < 4; i++) {
  const node = i % 2 === 0 ? eu : us;
  ids.push(await node.attest({ case: i, text: 'kept apart' }, { sourceId: 'loans' }, { key }));
}
await confirmed(eu, ids[2] ?? '');
await confirmed(us, ids[3] ?? '');
const erasure = await eu.post(
  '/v1/erasures',
  { attestationIds: [ids[0] ?? ''], legalBasis: 'Art. 17(1) GDPR', requestedBy: 'the person' },
  { key },
);
assert.is(erasure.status, 200, erasure.text);
await confirmed(eu, String(erasure.body.attestationId));
const to = new Date(Date.now() + 1_000).toISOString();
const period = { sources: ['loans'], from, to };

test('a pack of the home has the records of both nodes, and discloses nothing that another node made', async () => {
  requireProblem(
    await eu.post('/v1/evidence-packs', { ...period, disclosure: true }, { key }),
    'payload-elsewhere',
    'eu',
  );
  const pack = await askedPack(eu, period, { key });
  assert.is(pack.state, 'ready', JSON.stringify(pack));
  const verdict = await judgedPack(eu, await packFile(eu, String(pack.packId), { key }));
  assert.equal([verdict.word, verdict.records, verdict.elsewhere, verdict.sources], ['verified', 4, 2, 2]);
});

test('a second member makes one when the home is dead: without contents, and it says that the home’s log is absent', async () => {
  await until('us to hold the erasure', async () => {
    const { body } = await us.get(`/v1/verify/${String(erasure.body.attestationId)}`, { key });
    return body.verified === true;
  });
  await eu.stop();
  requireProblem(
    await us.post('/v1/evidence-packs', { ...period, disclosure: true }, { key }),
    'payload-elsewhere',
    'us',
  );
  const pack = await askedPack(us, period, { key });
  assert.equal([pack.state, pack.node], ['ready', 'us'], JSON.stringify(pack));
  const bytes = await packFile(us, String(pack.packId), { key });
  const verdict = await judgedPack(us, bytes);
  assert.equal(verdict.problems, []);
  assert.equal([verdict.word, verdict.records, verdict.nodes], ['verified', 4, ['eu', 'us']]);
  const files = await filesOf(bytes);
  assert.match(files.get(PACK_FILES.readme) ?? '', 'the log of its home, node eu, is not here');
  assert.match(files.get(PACK_FILES.page) ?? '', /home, node eu, is not in this pack/);
  assert.equal(
    packStatement.parse(files.get(PACK_FILES.manifest) ?? '').reach.map(({ node }) => node),
    ['eu', 'us'],
  );
  const { erased } = packErasures.parse(files.get(PACK_FILES.erasures) ?? '');
  assert.equal(
    erased.map(({ attestationId }) => attestationId),
    [ids[0]],
  );
  assert.not.ok([...files.values()].some((text) => text.includes('kept apart')));
});

test('keys that a named member certifies and seals nothing by, more than a file may have, keep no pack from being made', async () => {
  await eu.start();
  const { identity } = await readNodeKeys(us.config.home);
  const terms = { validFrom: timestampOf(Date.now()), seqFrom: 1 };
  for (let i = 0; i <= MAX_ITEMS; i++) {
    const { signed } = await certifyKey(us.config.id, identity, nativeSigner(seedOf(`unused ${i}`)), terms);
    await eu.context.keys.learnCertificate(signed);
  }
  const pack = await askedPack(eu, { ...period, to: new Date(Date.now() + 1_000).toISOString() }, { key });
  assert.is(pack.state, 'ready', JSON.stringify(pack));
  const verdict = await judgedPack(eu, await packFile(eu, String(pack.packId), { key }));
  assert.equal([verdict.word, verdict.elsewhere], ['verified', 2]);
});

test.run();
