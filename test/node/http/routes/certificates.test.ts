import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { JsonObject } from '../../../../protocol/json/value.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { verifyCommand } from '../../../../scripts/verify/command.ts';
import { putSeed } from '../../../fixtures/payload-keys.ts';
import { TestNetwork } from '../../../fixtures/test-network.ts';
import { API_KEYS, type TestNode } from '../../../fixtures/test-node.ts';
import { until } from '../../../fixtures/until.ts';
import { openPdf } from '../../certificates/opened-pdf.ts';
import { requireProblem } from '../problem-shape.ts';

const DAY_MS = 86_400_000;
const HOSTILE_SOURCE = '\u202etxt.exe 𝔘 <script> (a) \\';
const SEED_BYTES = 32;
/** How far the nodes' clocks are ahead of the true one. In milliseconds. */
let ahead = 0;
const network = await TestNetwork.start({
  nodes: ['eu', 'us', 'jp'],
  ledger: 'local',
  overrides: { now: () => Date.now() + ahead },
});
const node = network.node('eu');
const folder = await mkdtemp(join(tmpdir(), 'meridian-certificate-'));
test.after(async () => {
  await network[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const confirmed = await node.attest(
  { output: 'yes' },
  { sourceId: HOSTILE_SOURCE, modelId: 'credit\u2028model', modelVersion: '1' },
);
const erased = await node.attest({ output: 'a person' });
const damaged = await node.attest({ output: 'no' });
await node.seal();
for (const at of ['eu', 'us']) {
  await until(`the batch is confirmed at ${at}`, async () => {
    return (await network.node(at).get(`/v1/verify/${confirmed}`, { key: null })).body.status === 'confirmed';
  });
}

/** Of anyone, unless a key is given. */
async function certificateOf(id: string, key: string | null = null, at: TestNode = node) {
  const response = await fetch(
    `${at.baseUrl}/v1/certificates/${id}`,
    key === null ? {} : { headers: { 'x-api-key': key } },
  );
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.is(response.status, 200, Buffer.from(bytes).toString());
  const pdf = openPdf(bytes);
  assert.is(pdf.pages, 1);
  assert.is(pdf.attachments.length, 1);
  const [file = { name: '', bytes: new Uint8Array() }] = pdf.attachments;
  return { ...pdf, bytes, headers: response.headers, name: file.name, proof: Buffer.from(file.bytes).toString() };
}

/** The exit code of `npm run verify` on an attached file. */
async function judged(proof: string, ...more: readonly string[]): Promise<number> {
  const path = join(folder, 'attached.json');
  await writeFile(path, proof);
  const surroundings = { home: folder, now: Date.now, suite: nativeSuite, progress: null, program: 'verify' };
  return verifyCommand([path, ...more], { ...surroundings, out: () => {}, note: () => {} });
}

test('anyone who has the id is given a page with the public proof, which a verifier with a pin believes', async () => {
  const { headers, text, code, name, proof } = await certificateOf(confirmed);
  const proofs = await node.get(`/v1/proofs/${confirmed}`, { key: null });
  assert.is(headers.get('content-type'), 'application/pdf');
  assert.is(headers.get('content-disposition'), `inline; filename="certificate-${confirmed}.pdf"`);
  assert.is(headers.get('cache-control'), proofs.headers.get('cache-control'));
  assert.is(headers.get('etag'), proofs.headers.get('etag'));
  assert.is(name, `proof-${confirmed}.json`);
  assert.is(proof, proofs.text);
  assert.is(code, `${network.member('eu').baseUrl}/v/${confirmed}`);
  assert.match(text, 'Consistent with the federation that this node names.');
  assert.match(text, 'Reported by node eu: node eu signed this record on ');
  assert.match(text, /Witnessed by (us, jp|jp, us) \(of roster 1\)/);
  assert.match(text, node.context.keys.rosters.genesis);
  assert.match(text, 'holds The signatures of its node hold (sigValid)');
  assert.not.match(text, /\bproven\b|\bverified\b/i);
  assert.not.match(text, 'script');
  assert.is(await judged(proof, '--roster', node.context.keys.rosters.genesis), 0);
  assert.is(await judged(proof), 3);
  assert.is(await judged(proof.replace('"kind', '"kinb'), '--roster', node.context.keys.rosters.genesis), 1);
});

test('the same finding with the same file is the same certificate, byte for byte', async () => {
  const first = await certificateOf(confirmed);
  ahead = 3 * DAY_MS;
  try {
    const again = await certificateOf(confirmed);
    assert.is(again.proof, first.proof);
    assert.ok(Buffer.from(again.bytes).equals(first.bytes));
  } finally {
    ahead = 0;
  }
  const { body } = await node.get(`/v1/verify/${confirmed}`, { key: null });
  const written = String(body.confirmedAt).replace(/\.\d{3}Z$/, 'Z');
  assert.equal(first.dates, [`D:${written.replaceAll(/[-:T]/g, '')}`]);
});

test('every node gives one, and says that it is the one that reports', async () => {
  const { text, proof, code } = await certificateOf(confirmed, null, network.node('us'));
  assert.match(text, 'Reported by node us: node eu signed this record on ');
  assert.is(code, `${network.member('us').baseUrl}/v/${confirmed}`);
  assert.is(await judged(proof, '--roster', node.context.keys.rosters.genesis), 0);
});

test('by a key of its account the bundle is attached, and what the account wrote is shown as characters', async () => {
  const { text, name, proof } = await certificateOf(confirmed, API_KEYS.unmetered);
  assert.is(name, `bundle-${confirmed}.json`);
  assert.is(proof, (await node.get(`/v1/bundles/${confirmed}`)).text);
  assert.match(text, 'Source, as asserted \\u{202e}txt.exe \\u{1d518} <script> (a) \\u{5c}');
  assert.match(text, 'Model, as asserted credit\\u{2028}model 1');
  assert.is(await judged(proof, '--roster', node.context.keys.rosters.genesis), 0);
});

test('the bundle is for keys that are given it, for as long as it is given', async () => {
  const path = `/v1/certificates/${confirmed}`;
  requireProblem(await node.get(path, { key: API_KEYS.enterprise }), 'scope-forbidden', 'another account');
  requireProblem(await node.get(path, { key: 'mk_unknown' }), 'api-key-invalid', 'no key');
  for (const terms of [{ scopes: ['governance:write'] }, { preset: 'auditor', sources: ['else'] }]) {
    const { body } = await node.post('/v1/keys', { name: 'k', ...terms });
    requireProblem(await node.get(path, { key: String(body.apiKey) }), 'scope-forbidden', JSON.stringify(terms));
  }
  const key = API_KEYS.developer;
  const own = await node.attest({ output: 'mine' }, {}, { key });
  const given = await certificateOf(own, key);
  const endsAt = Date.parse(String(given.headers.get('x-proof-window-ends-at')));
  ahead = endsAt - Date.now();
  try {
    requireProblem(await node.get(`/v1/certificates/${own}`, { key }), 'proof-window-expired', 'after seven days');
    assert.is((await certificateOf(own)).name, `proof-${own}.json`);
  } finally {
    ahead = 0;
  }
});

test('a record that waits has a certificate that says so', async () => {
  const id = await node.attest({ output: 'soon' });
  for (const key of [null, API_KEYS.unmetered]) {
    const { text, proof, dates } = await certificateOf(id, key);
    assert.match(text, 'Signed by its node, and not on the ledger yet.');
    assert.match(text, 'Witnessed by no members yet');
    assert.is(dates.length, 1);
    assert.is(await judged(proof, '--roster', node.context.keys.rosters.genesis), 4);
  }
});

test('an erased payload leaves a certificate, which says that it was erased', async () => {
  assert.match((await certificateOf(erased)).text, 'holds The payload is the one that was recorded');
  const why = { legalBasis: 'GDPR Article 17(1)(b)', requestedBy: 'privacy-office' };
  const { status } = await node.post('/v1/erasures', { attestationIds: [erased], ...why });
  assert.is(status, 200);
  const { text, proof } = await certificateOf(erased);
  assert.match(text, 'Consistent with the federation that this node names.');
  assert.match(text, 'Payload erased: the key to it was destroyed');
  assert.match(text, 'not checked The payload is the one that was recorded (payloadHashMatch)');
  assert.is(await judged(proof, '--roster', node.context.keys.rosters.genesis), 0);
});

test('what does not hold is said to, with its code', async () => {
  await putSeed(node.context.store, damaged, new Uint8Array(SEED_BYTES));
  const { text } = await certificateOf(damaged);
  assert.match(text, 'Does not hold: the payload is not the one that was recorded.');
  assert.match(text, 'payload-mismatch: ');
  assert.match(text, 'does not hold The payload is the one that was recorded (payloadHashMatch)');
});

test('the id of what a record made leads to its certificate; an unknown one is 404, and no id 400', async () => {
  const session = await node.post('/v1/session/start', { sourceId: 'test' });
  const { sessionId, attestationId } = ids(session.body);
  assert.match((await certificateOf(sessionId)).headers.get('content-disposition') ?? '', attestationId);
  const unknown = `${confirmed.slice(0, -1)}${confirmed.endsWith('Z') ? 'Y' : 'Z'}`;
  for (const key of [null, API_KEYS.unmetered]) {
    const answer = await node.get(`/v1/certificates/${unknown}`, { key });
    requireProblem(answer, 'attestation-not-found', 'unknown');
    assert.equal([answer.body.found, answer.body.verified], [false, false]);
    requireProblem(await node.get('/v1/certificates/nothing', { key }), 'invalid-field', 'no id', 'id');
  }
});

function ids({ sessionId, attestationId }: JsonObject) {
  return { sessionId: String(sessionId), attestationId: String(attestationId) };
}

test.run();
