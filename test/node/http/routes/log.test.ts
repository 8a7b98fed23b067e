import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { logRoutes } from '../../../../node/http/routes/log.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import type { KnownCheckpoint } from '../../../../node/log/known-checkpoint.ts';
import { FederationLog } from '../../../../node/log/federation-log.ts';
import { decodeUtf8 } from '../../../../protocol/bytes.ts';
import { nodeId } from '../../../../protocol/ids.ts';
import { type Checkpoint, checkpointStatement } from '../../../../protocol/log/checkpoint.ts';
import { decisionText } from '../../../../protocol/log/decision.ts';
import { leafHash } from '../../../../protocol/merkle/hash.ts';
import { decodeEntries } from '../../../../protocol/log/entries-tile.ts';
import { rosterStatement } from '../../../../protocol/log/roster.ts';
import { merkleRoot } from '../../../../protocol/merkle/tree.ts';
import { isBase64url } from '../../../../protocol/statement/statement.ts';
import { serveApp } from '../../../fixtures/served-app.ts';
import { genesisOf, hashOf, Topic } from '../../../protocol/log/topic.ts';
import { LogStore } from '../../log/log-store.ts';

/** More than a full tile. */
const SIZE = 260;

const topic = new Topic();
for (let batch = 1; batch <= SIZE; batch++) topic.say('us', topic.batch('us', batch));
const texts = topic.decisions.map((decision) => decisionText.write(decision));
const leaves = texts.map((text) => leafHash(nativeSuite, text));

const home = await LogStore.open();
const federationLog = await FederationLog.open(home.store, rosterStatement.write(genesisOf()));
await federationLog.take(topic.messages);
const counted = [knownOf('us'), knownOf('eu')];
const app = await serveApp(
  { free: (_context, _route, answer) => answer(), keyed: () => Promise.reject(new Error('no keyed route')) },
  logRoutes({
    federationLog,
    checkpointStore: {
      all: () => counted,
      newest: (node) => counted.find(({ checkpoint }) => checkpoint.node === node),
    },
  }),
);
test.after(async () => {
  await app[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

function knownOf(name: string): KnownCheckpoint {
  const checkpoint: Checkpoint = {
    v: 1,
    type: 'checkpoint',
    federation: hashOf('genesis'),
    node: nodeId(name),
    keyId: hashOf('key'),
    size: SIZE,
    root: hashOf('root'),
    vouched: {},
  };
  const signature = 'c2ln';
  if (!isBase64url(signature)) throw new Error('base64url');
  return { checkpoint, signed: { text: checkpointStatement.write(checkpoint), signature } };
}

async function get(path: string) {
  const answer = await fetch(`${app.base}${path}`);
  const body = new Uint8Array(await answer.arrayBuffer());
  return { status: answer.status, headers: answer.headers, body, code: () => JSON.parse(decodeUtf8(body)).code };
}

test('a tile of hashes is served to the byte, full and as far as it was filled at any time', async () => {
  const full = await get('/v1/log/tile/0/000');
  assert.equal([full.status, full.headers.get('content-type')], [200, 'application/octet-stream']);
  assert.match(full.headers.get('cache-control') ?? '', /immutable/);
  assert.equal(Buffer.from(full.body), Buffer.concat(leaves.slice(0, 256)));
  for (const width of [1, 3, 4]) {
    const partial = await get(`/v1/log/tile/0/001.p/${width}`);
    assert.equal([partial.status, Buffer.from(partial.body)], [200, Buffer.concat(leaves.slice(256, 256 + width))]);
  }
  assert.equal(Buffer.from((await get('/v1/log/tile/0/000.p/7')).body), Buffer.concat(leaves.slice(0, 7)));
  assert.equal(
    Buffer.from((await get('/v1/log/tile/1/000.p/1')).body),
    Buffer.from(merkleRoot(nativeSuite, leaves.slice(0, 256))),
  );
});

test('a tile of entries holds the texts of the decisions', async () => {
  const { body, headers } = await get('/v1/log/tile/entries/001.p/4');
  assert.equal(decodeEntries(body, 4).map(decodeUtf8), texts.slice(256));
  assert.match(headers.get('cache-control') ?? '', /immutable/);
  assert.is(decodeEntries((await get('/v1/log/tile/entries/000')).body, 256).length, 256);
});

test('who holds a tile is told that it is the same', async () => {
  for (const name of ['0/000', '0/001.p/4', 'entries/001.p/4']) {
    const tag = (await get(`/v1/log/tile/${name}`)).headers.get('etag') ?? '';
    const again = await fetch(`${app.base}/v1/log/tile/${name}`, { headers: { 'if-none-match': tag } });
    assert.equal([again.status, await again.text(), again.headers.get('etag')], [304, '', tag], name);
    assert.match(again.headers.get('cache-control') ?? '', /immutable/);
  }
});

test('a tile that is not filled so far yet is 404, and kept by no cache', async () => {
  for (const name of [
    '0/001',
    '0/001.p/5',
    '0/002.p/1',
    '1/000',
    '1/000.p/2',
    '2/000.p/1',
    'entries/001',
    'entries/x001/234',
  ]) {
    const { status, headers, code } = await get(`/v1/log/tile/${name}`);
    assert.equal([status, code()], [404, 'log-tile-not-found'], name);
    assert.not.match(headers.get('cache-control') ?? '', /immutable/);
  }
});

test('a name that no tile has is 400', async () => {
  const names = [
    '0',
    '0/0',
    '0/000.p/0',
    '0/000.p/256',
    '0/x000/000',
    '7/000',
    '00/000',
    '-1/000',
    'entries',
    'data/000',
    '0/000/',
    `0/${'x001/'.repeat(20)}000`,
  ];
  for (const name of names) {
    const { status, code } = await get(`/v1/log/tile/${name}`);
    assert.equal([status, code()], [400, 'invalid-field'], name);
  }
});

test('checkpoints are shown in order of node, all or one, and kept by no cache', async () => {
  const all = await get('/v1/log/checkpoints');
  assert.is(all.headers.get('cache-control'), 'no-store');
  const [us, eu] = counted.map(({ signed }) => signed);
  assert.equal(JSON.parse(decodeUtf8(all.body)), { success: true, checkpoints: [eu, us] });
  assert.equal(JSON.parse(decodeUtf8((await get('/v1/log/checkpoints/us')).body)).checkpoints, [us]);
  assert.equal(JSON.parse(decodeUtf8((await get('/v1/log/checkpoints/jp')).body)).checkpoints, []);
  const { status, code } = await get('/v1/log/checkpoints/nobody');
  assert.equal([status, code()], [400, 'invalid-field']);
});

test.run();
