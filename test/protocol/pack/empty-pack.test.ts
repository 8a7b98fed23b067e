import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import { judgePack } from '../../../protocol/pack/judge-pack.ts';
import { PACK_FILES } from '../../../protocol/pack/manifest.ts';
import type { PackVerdict } from '../../../protocol/pack/pack-verdict.ts';
import type { SignedStatement } from '../../../protocol/statement/statement.ts';
import { nobleHash } from '../../../protocol/suite/noble.ts';
import type { FederationStatements } from '../../../protocol/verdict/bundle.ts';
import type { Known } from '../../../protocol/verdict/known.ts';
import { MAX_FAULTS } from '../../../protocol/verdict/signature-checks.ts';
import { revocationProofs, rosterEntries, sizesOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { packedPeriod, packOf, sourceOf } from '../../fixtures/judged-pack.ts';

/** Places of no record: what the pack says is that there was nothing. */
const NO_RECORD = [[], [], []];

function judged(bytes: Uint8Array, known: Known): Promise<PackVerdict> {
  return judgePack(sourceOf(bytes), { suite: nativeSuite, newHash: nobleHash, known });
}

function asFile(federation: object): Uint8Array {
  return utf8(JSON.stringify(federation));
}

test('a pack without a record, by its node, is verified by whoever pins, and consistent to others', async () => {
  const period = await packedPeriod();
  const bytes = await packOf(period, { places: NO_RECORD });
  assert.is((await judged(bytes, { pin: period.log.genesis })).word, 'verified');
  assert.is((await judged(bytes, { rosters: rosterEntries(period.log, []) })).word, 'verified');
  assert.is((await judged(bytes, {})).word, 'consistent');
});

test('one that a stranger signed is not verified, whatever rosters he puts into it', async () => {
  const period = await packedPeriod();
  const stranger = newestKey((await FederationLog.create({ seed: 'stranger' })).member('eu')).signer;
  const [genesis] = rosterEntries(period.log, []);
  const decided = { text: genesis?.text, decision: { text: 'x', paths: [] } };
  for (const rosters of [[genesis], [decided], [genesis, decided], []]) {
    const bytes = await packOf(period, {
      places: NO_RECORD,
      signer: stranger,
      change(files) {
        files.set(PACK_FILES.federation, asFile({ checkpoints: [], keys: [], revocations: [], rosters }));
      },
    });
    for (const known of [{ pin: period.log.genesis }, { rosters: rosterEntries(period.log, []) }, {}]) {
      const { verified, word } = await judged(bytes, known);
      assert.is(verified, false);
      assert.is.not(word, 'consistent');
    }
  }
});

test('one by a stolen key is not verified by whoever brings its revocation, whatever flood of signatures is in it', async () => {
  const { log, ...rest } = await packedPeriod();
  const stolen = newestKey(log.member('us'));
  const { node } = log.member('us');
  await log.revoke('us', { reason: 'compromised', compromisedSince: log.tick() });
  const checkpoints = await Promise.all(['ca', 'sg', 'jp'].map((member) => log.checkpoint(member)));
  const revocations = {
    revocations: revocationProofs(log, log.revocations, sizesOf(checkpoints)),
    checkpoints,
    keys: log.certificates,
  };
  const byThief = await log.checkpoint('us', {}, stolen);
  const good = await log.checkpoint('eu');
  const flood = Array.from({ length: MAX_FAULTS + 16 }, (_, i) => ({
    text: checkpointStatement.write({ ...checkpointStatement.parse(good.text), vouched: { ca: i + 100 } }),
    signature: good.signature,
  }));
  const packed = (more: FederationStatements['checkpoints'], keys: readonly SignedStatement[]) => {
    return packOf(
      { log, ...rest },
      {
        places: NO_RECORD,
        signer: stolen.signer,
        manifest: { node },
        change(files) {
          const rosters = rosterEntries(log, []);
          files.set(PACK_FILES.federation, asFile({ checkpoints: more, keys, revocations: [], rosters }));
        },
      },
    );
  };
  const known = { pin: log.genesis, revocations };
  assert.is((await judged(await packed([byThief], log.certificates), known)).word, 'not-signed-by-node');
  assert.is((await judged(await packed([byThief, ...flood], log.certificates), known)).verified, false);
});

test.run();
