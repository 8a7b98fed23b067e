import * as assert from 'uvu/assert';
import { timestampOf } from '../../protocol/time.ts';
import { DecidedLog } from '../fixtures/decided-log.ts';
import { FederationLog } from '../fixtures/federation-log.ts';
import { bundleOf, revocationProofs, sizesOf, viewOf } from '../fixtures/federation-log-bundle.ts';
import { newestKey } from '../fixtures/federation-log-member.ts';
import { certifyKey } from '../fixtures/federation-member.ts';
import { verdictOf } from '../protocol/verdict/judged.ts';
import { trustTests } from './claims.ts';
import { Ledger } from './ledger.ts';

const DAY_MS = 24 * 3_600_000;
const DAY_SECONDS = 24 * 3600;
const MAJORITY = ['us', 'ca', 'sg'];

await trustTests({
  'a revocation named early and revealed late is in force from its own decision, and reaches no further': async (
    claim,
  ) => {
    const ledger = await Ledger.create({ reach: 20 * DAY_SECONDS });
    const { log } = ledger;
    const compromisedSince = log.tick();
    const old = await ledger.record('eu', [{ account: 'acc_old' }]);
    const hidden = await ledger.draftRevocation('eu', { reason: 'compromised', compromisedSince });
    assert.not(ledger.say(hidden.message, 'sg', 'jp'));
    log.tick(30 * DAY_MS);
    const recent = await ledger.record('eu', [{ account: 'acc_recent' }]);
    const known = { pin: log.genesis };
    const before = await bundleOf(log, recent);
    const forged = new DecidedLog();
    forged.decisions.push(...log.decisions, log.decisionText(hidden.message));
    const root = forged.rootAt(forged.size);
    const lies = await Promise.all(['sg', 'jp'].map((node) => log.checkpoint(node, { size: forged.size, root })));
    hidden.enter(log.size);
    const { signed } = log.revocations[0] ?? (await log.revoke('eu'));
    const revocations = [{ ...signed, decision: forged.decisionProof(log.size, [forged.size]) }];
    log.revocations.length = 0;
    const shown = { ...before, revocations, checkpoints: [...before.checkpoints, ...lies] };
    claim({ what: 'not decided', bundle: shown, known, log, word: 'verified' });
    ledger.enforce(hidden, 'us');
    await log.rotateKey('eu', 3);
    claim({ what: 'decided within its reach', bundle: await bundleOf(log, recent), known, log, word: 'not-signed' });
    claim({ what: 'decided before its reach', bundle: await bundleOf(log, old), known, log, word: 'verified' });
  },

  'of two certificates any that covers a signature counts, in either order': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const sealed = await ledger.record('eu');
    const { identity, node } = log.member('eu');
    const { signer } = newestKey(log.member('eu'));
    const { signed: narrow } = await certifyKey(node, identity, signer, { validFrom: log.tick(), seqFrom: 9 });
    const bundle = await bundleOf(log, sealed);
    const known = { pin: log.genesis };
    for (const keys of [
      [narrow, ...bundle.keys],
      [...bundle.keys, narrow],
    ]) {
      claim({ what: 'both', bundle: { ...bundle, keys }, known, log, word: 'verified' });
    }
    const others = bundle.keys.filter(({ statement }) => !statement.includes(signer.keyId));
    claim({ what: 'the narrow one', bundle: { ...bundle, keys: [narrow, ...others] }, known, log, word: 'not-signed' });
  },

  'a revoked witness takes nothing along: what it witnessed is verified again by any fresh checkpoint': async (
    claim,
  ) => {
    for (const reason of ['rotated', 'compromised'] as const) {
      const ledger = await Ledger.create();
      const { log } = ledger;
      const record = await ledger.record('eu');
      const { size } = log;
      const held = await Promise.all(MAJORITY.map((node) => log.checkpoint(node, { size })));
      const known = { pin: log.genesis };
      claim({
        what: 'before',
        bundle: await bundleOf(log, record, 0, { checkpoints: held }),
        known,
        log,
        word: 'verified',
      });
      const compromisedSince = reason === 'rotated' ? null : log.tick();
      ledger.enforce(await ledger.draftRevocation('sg', { reason, compromisedSince }), 'us', 'ca', 'jp');
      const silent = await Promise.all(['us', 'ca', 'eu'].map((node) => log.checkpoint(node, { vouched: {} })));
      const after = await bundleOf(log, record, 0, { checkpoints: [...held, ...silent] });
      claim({ what: reason, bundle: after, known, log, word: reason === 'rotated' ? 'verified' : 'stale' });
      await log.rotateKey('sg');
      for (const node of ['jp', 'sg']) {
        const checkpoints = [...held, ...silent, await log.checkpoint(node)];
        claim({
          what: `fresh of ${node}`,
          bundle: await bundleOf(log, record, 0, { checkpoints }),
          known,
          log,
          word: 'verified',
        });
      }
    }
  },

  'a revocation that reaches back behind what was vouched for fells it, and what came before stands': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const before = await ledger.record('eu', [{ account: 'acc_before' }]);
    const compromisedSince = log.tick();
    const behind = await ledger.record('eu', [{ account: 'acc_behind' }]);
    const held = await bundleOf(log, behind);
    const known = { pin: log.genesis };
    claim({ what: 'vouched for', bundle: held, known, log, word: 'verified' });
    ledger.enforce(await ledger.draftRevocation('eu', { reason: 'compromised', compromisedSince }), ...MAJORITY);
    await log.rotateKey('eu', 3);
    const later = await ledger.record('eu', [{ account: 'acc_later' }]);
    claim({ what: 'behind', bundle: await bundleOf(log, behind), known, log, word: 'not-signed' });
    claim({ what: 'before', bundle: await bundleOf(log, before), known, log, word: 'verified' });
    claim({ what: 'later, by a new key', bundle: await bundleOf(log, later), known, log, word: 'verified' });
    const checkpoints = await Promise.all(MAJORITY.map((node) => log.checkpoint(node)));
    const revocations = {
      revocations: revocationProofs(log, log.revocations, sizesOf(checkpoints)),
      checkpoints,
      keys: log.certificates,
    };
    claim({ what: 'held, and brought', bundle: held, known: { ...known, revocations }, word: 'contradicted' });
    assert.is(verdictOf(log, held, { log: viewOf(log, [before, behind, later]) }).word, 'contradicted');
  },

  'a thief’s checkpoint far ahead counts no more once the key is revoked': async (claim) => {
    for (const reason of ['rotated', 'compromised'] as const) {
      const ledger = await Ledger.create();
      const { log } = ledger;
      const record = await ledger.record('eu');
      const stolen = newestKey(log.member('sg'));
      const forkedLog = await FederationLog.create();
      for (let i = 0; i < 9; i++) await forkedLog.record('eu');
      const compromisedSince = reason === 'rotated' ? null : log.tick();
      ledger.enforce(await ledger.draftRevocation('sg', { reason, compromisedSince }), 'us', 'ca', 'jp');
      const others = await Promise.all(['us', 'ca'].map((node) => log.checkpoint(node)));
      const silent = await log.checkpoint('jp', { vouched: {} });
      const root = log.rootAt(log.size);
      const known = { pin: log.genesis };
      for (const [what, ahead, word] of [
        ['another tree', await forkedLog.checkpoint('sg', {}, stolen), 'too-few-checkpoints'],
        ['this tree', await log.checkpoint('sg', { root }, stolen), 'stale'],
      ] as const) {
        const bundle = await bundleOf(log, record, 0, { checkpoints: [...others, silent, ahead] });
        claim({ what: `${reason}, ${what}`, bundle, known, log, word });
      }
    }
  },

  'a revocation that names another node’s key revokes nothing of it': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const record = await ledger.record('eu');
    const { keyId } = newestKey(log.member('eu')).signer;
    const compromisedSince = timestampOf(log.now - DAY_MS);
    ledger.enforce(await ledger.draftRevocation('us', { keyId, reason: 'compromised', compromisedSince }), ...MAJORITY);
    const known = { pin: log.genesis };
    const bundle = await bundleOf(log, record);
    claim({ what: 'of another node', bundle, known, log, word: 'verified' });
    const [first] = log.revocations;
    if (first === undefined) throw new Error('it is in force');
    const statement = first.signed.statement.replace('"us"', '"eu"');
    const posed = { ...first, signed: { ...first.signed, statement } };
    const revocations = revocationProofs(log, [posed], sizesOf(bundle.checkpoints));
    claim({ what: 'with the name changed', bundle: { ...bundle, revocations }, known, log, word: 'verified' });
    const other = await ledger.draftRevocation('eu', { keyId, reason: 'compromised', compromisedSince });
    const { message } = other;
    if (message.type !== 'revocation') throw new Error('a revocation is named');
    ledger.enforce({ ...other, message: { ...message, node: log.member('us').node } }, ...MAJORITY);
    claim({
      what: 'decided under the other’s name',
      bundle: await bundleOf(log, record),
      known,
      log,
      word: 'verified',
    });
    const own = { keyId, reason: 'compromised', compromisedSince } as const;
    ledger.enforce(await ledger.draftRevocation('eu', own), ...MAJORITY);
    claim({ what: 'by its own node', bundle: await bundleOf(log, record), known, log, word: 'not-signed' });
  },
});
