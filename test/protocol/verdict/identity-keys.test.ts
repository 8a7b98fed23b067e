import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { decodeBase64url } from '../../../protocol/bytes.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { MAX_IDENTITY_KEYS } from '../../../protocol/log/decision-state.ts';
import { judgePack } from '../../../protocol/pack/judge-pack.ts';
import { PACK_FORMAT } from '../../../protocol/pack/manifest.ts';
import type { PackVerdict } from '../../../protocol/pack/pack-verdict.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { nobleHash } from '../../../protocol/suite/noble.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { MAX_FAULTS } from '../../../protocol/verdict/signature-checks.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import type { LogRecord, SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { bundleOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { PACK_ACCOUNT, packOf, sourceOf } from '../../fixtures/judged-pack.ts';
import { counted } from './judged.ts';

/** Gives members a new identity key each, by a roster; each certifies its signing key by it too, as a node does. */
async function changeIdentities(log: FederationLog, nodes: readonly string[], round: number): Promise<void> {
  for (const node of nodes) {
    const made = log.member(node);
    const identity = nativeSigner(seedOf(`${log.seed}/${node}/identity/${round}`));
    const member = { ...made.member, identityKey: encodeSignature(identity.publicKey) };
    log.members.set(node, { ...made, member, identity });
    const terms = { validFrom: log.tick(), seqFrom: 1 + round };
    const { signed } = await certifyKey(made.node, identity, newestKey(made).signer, terms);
    log.certificates.push(signed);
  }
  log.addRoster({ members: log.roster().roster.members.map(({ node }) => log.member(node).member) });
}

/** The verdict on a pack of a node that changed its identity key so often, and signed by so many keys after that. */
async function packBy(keys: number, identityChanges: number): Promise<PackVerdict> {
  const log = await FederationLog.create();
  for (let round = 1; round <= identityChanges; round++) await changeIdentities(log, ['eu'], round);
  const batches: SealedBatch[] = [];
  const from = log.tick();
  let last: LogRecord | undefined;
  for (let i = 0; i < keys; i++) {
    const sourcePrev = last === undefined ? null : writeSha256(last.leaf);
    const sealed = await log.seal('eu', [{ account: PACK_ACCOUNT, source: () => ({ sourceSeq: i + 1, sourcePrev }) }]);
    log.decide(sealed);
    batches.push(sealed);
    last = sealed.records.at(-1);
    await log.rotateKey('eu', i + 2);
  }
  const { node } = log.member('eu');
  const question = {
    account: PACK_ACCOUNT,
    sources: ['loans'],
    systems: null,
    from: timestampOf(Date.parse(from)),
    to: log.tick(),
    asOf: log.tick(),
    frameworks: null,
    kinds: null,
    disclosure: false,
  };
  const head = { v: 1, type: 'pack', format: PACK_FORMAT, node, generator: 'a test', catalogueVersion: '1' } as const;
  const manifest = { ...head, question, reach: [{ node, seq: keys }] };
  const bytes = await packOf({ log, batches, manifest }, { places: batches.map(() => [0]) });
  return judgePack(sourceOf(bytes), { suite: nativeSuite, newHash: nobleHash, known: { pin: log.genesis } });
}

test('a pack of a node with more signing keys than faults are allowed is verified, also after its identity key changed', async () => {
  for (const changes of [0, 1]) {
    const { word, words } = await packBy(MAX_FAULTS + 2, changes);
    assert.equal([word, words], ['verified', { verified: MAX_FAULTS + 2 }]);
  }
});

test('a bundle of members that each have had all the identity keys they may have is verified', async () => {
  const nodes = ['us', 'eu', 'ca', 'sg', 'jp'];
  const log = await FederationLog.create({ nodes });
  for (let round = 1; round < MAX_IDENTITY_KEYS; round++) await changeIdentities(log, nodes, round);
  const bundle = await bundleOf(log, await log.record('eu'));
  assert.is(verifyBundle(nativeSuite, bundle, { pin: log.genesis }).word, 'verified');
});

test('a bundle of many members that have changed their identity keys is verified by every roster as the pin', async () => {
  const nodes = Array.from({ length: 25 }, (_, i) => `xa${i}`);
  const log = await FederationLog.create({ nodes });
  for (let round = 1; round <= 4; round++) await changeIdentities(log, nodes, round);
  const bundle = await bundleOf(log, await log.record('xa0'));
  for (const { hash } of log.rosters) assert.is(verifyBundle(nativeSuite, bundle, { pin: hash }).word, 'verified');
});

test('certificates that do not hold use up the faults, also where one behind them does', async () => {
  const log = await FederationLog.create();
  const bundle = await bundleOf(log, await log.record('eu'));
  const own = log.certificates.find(({ statement }) => statement.includes('"node":"eu"'));
  if (own === undefined) throw new RangeError('no certificate');
  const bad = Array.from({ length: 3 * MAX_FAULTS }, (_, i) => {
    const bytes = decodeBase64url(own.signature);
    bytes[i] = (bytes[i] ?? 0) ^ 1;
    return { statement: own.statement, signature: encodeSignature(bytes) };
  });
  const { verdict, signatures } = counted({ ...bundle, keys: [...bad, ...bundle.keys] }, { pin: log.genesis });
  assert.is(verdict.verified, false);
  assert.ok(signatures <= MAX_FAULTS + MAX_IDENTITY_KEYS, `${signatures} signatures`);
});

test.run();
