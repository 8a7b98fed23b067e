import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { Store } from '../../../node/store/store.ts';
import { decisionNaming } from '../../../node/verification/evidence.ts';
import { FallenRecords } from '../../../node/verification/fallen-records.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { type Revocation, revocationStatement } from '../../../protocol/log/revocation.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { openLogAndKeys } from '../../fixtures/federation-keys.ts';
import { bundleOf } from '../../fixtures/federation-log-bundle.ts';
import type { SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { keepBatch } from '../../fixtures/linked-store.ts';
import { type NodeLog, openNodeLog } from '../../fixtures/node-log.ts';
import { Ledger } from '../../trust/ledger.ts';
import { temporaryDirectory } from '../intake/intake-fixture.ts';

const DAY_MS = 86_400_000;
/** How far back a revocation reaches, in seconds: 35 days. */
const REACH = (35 * DAY_MS) / 1_000;
const EU = nodeId('eu');
const MAJORITY = ['us', 'ca', 'sg'] as const;

type Knowing = Pick<NodeLog, 'federationLog' | 'keys' | 'store'>;

function fallenOf({ store, keys, federationLog }: Knowing): FallenRecords {
  const decisionOf = federationLog.decisionOf.bind(federationLog);
  return new FallenRecords({
    self: EU,
    store,
    keys,
    federationLog,
    decisionOf: (batch) => decisionNaming(decisionOf, batch),
  });
}

/** A record of `eu` every ten days, and its key revoked fifty days after the first. */
async function stolenKey(terms: (firstDecided: number) => Partial<Revocation>) {
  const ledger = await Ledger.create({ reach: REACH });
  const { log } = ledger;
  const { keyId } = newestKey(log.member('eu')).signer;
  const batches: SealedBatch[] = [];
  const start = log.now;
  for (let i = 0; i < 5; i++) {
    batches.push(await ledger.record('eu'));
    log.tick(10 * DAY_MS);
  }
  const drafted = await ledger.draftRevocation('eu', terms(start));
  return { ledger, keyId, batches, drafted };
}

test('the records that fell are those that no verifier calls verified, however far back the revocation says', async () => {
  for (const [days, fallen] of [
    [0, 3],
    [18, 3],
    [28, 2],
    [null, 0],
  ] as const) {
    const { ledger, keyId, batches, drafted } = await stolenKey((start) => {
      return days === null ? {} : { reason: 'compromised', compromisedSince: timestampOf(start + days * DAY_MS) };
    });
    const { log } = ledger;
    ledger.enforce(drafted, ...MAJORITY);
    await log.rotateKey('eu', log.revocations.length + batches.length + 1);
    const witnesses = await Promise.all(MAJORITY.map((node) => log.checkpoint(node)));
    await using node = await openNodeLog(ledger, witnesses);
    for (const sealed of batches) await keepBatch(node.store, sealed);
    const unverified: string[] = [];
    for (const sealed of batches) {
      const bundle = await bundleOf(log, sealed, 0, { checkpoints: witnesses });
      const { verified } = verifyBundle(nativeSuite, bundle, { pin: log.genesis });
      if (!verified) unverified.push(...sealed.records.map(({ id }) => id));
    }
    const { records } = await fallenOf(node).page();
    assert.equal(
      records.map(({ id }) => id),
      unverified,
      `since day ${days}`,
    );
    assert.is(records.length, fallen, `since day ${days}`);
    assert.is(fallenOf(node).fallsFrom(keyId) === null, days === null);
  }
});

test('what the operator is told is bounded before the ledger has decided the revocation, as from when it was issued', async () => {
  const federation = await TestFederation.create({ nodes: ['eu', 'us', 'jp'], signerOf: nativeSigner });
  await using directory = await temporaryDirectory();
  await using store = await Store.open(join(directory.path, 'store'));
  const { log: federationLog, keys } = await openLogAndKeys(store, federation.given);
  const { keyId } = federation.member('eu').key.signer;
  const fallen = fallenOf({ store, keys, federationLog });
  assert.is(fallen.fallsFrom(keyId), null);
  const signed = await federation.revokeKey('eu', { compromisedSince: timestampOf(0) });
  await keys.learnRevocation(signed);
  const { issuedAt } = revocationStatement.parse(signed.statement);
  const { revocationReach } = keys.rosters.current;
  const earliest = timestampOf(Date.parse(issuedAt) - 1_000 * revocationReach);
  assert.is(fallen.fallsFrom(keyId), earliest);
  await keys.learnRevocation(await federation.revokeKey('eu', { compromisedSince: issuedAt }));
  assert.is(keys.directory.revocations(EU, keyId).length, 2);
  assert.is(fallen.fallsFrom(keyId), earliest, 'the one that reaches furthest back counts');
});

test.run();
