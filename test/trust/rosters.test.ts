import * as assert from 'uvu/assert';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { DecidedLog } from '../fixtures/decided-log.ts';
import type { SealedBatch } from '../fixtures/federation-log-batch.ts';
import { bundleOf, rosterEntries } from '../fixtures/federation-log-bundle.ts';
import { newestKey } from '../fixtures/federation-log-member.ts';
import { verdictOf } from '../protocol/verdict/judged.ts';
import { trustTests } from './claims.ts';
import { type Hidden, Ledger } from './ledger.ts';

await trustTests({
  'of rival rosters the one that a majority names is in force, and the other never': async (claim) => {
    const ledger = await Ledger.create();
    const { log } = ledger;
    const first = await ledger.record('eu');
    const [one, other] = [ledger.draftRoster({ name: 'one' }), ledger.draftRoster({ name: 'other' })];
    assert.not(ledger.say(one.message, 'us', 'ca'));
    assert.not(ledger.say(other.message, 'sg', 'jp'));
    ledger.enforce(one, 'eu');
    assert.not(ledger.say(other.message, 'us', 'ca', 'eu', 'sg', 'jp'), 'it follows what is in force no more');
    const second = await ledger.record('eu', [{ account: 'acc_second' }]);
    const known = { pin: log.genesis };
    claim({ what: 'before', bundle: await bundleOf(log, first), known, log, word: 'verified' });
    const bundle = await bundleOf(log, second);
    claim({ what: 'after', bundle, known, log, word: 'verified' });
    const posed = await underPosed(ledger, second, other, ['sg', 'jp']);
    const word = 'roster-without-majority';
    claim({ what: 'under the other', bundle: posed, known, log, word, atNode: 'contradicted' });
    claim({
      what: 'by whoever knows the rosters',
      bundle: posed,
      known: { rosters: rosterEntries(log, []) },
      word: 'contradicted',
    });
  },

  'a removed member’s batch is not decided by its own account, and no decision that says so holds': async (claim) => {
    const ledger = await Ledger.create({ quorum: 2 });
    const { log } = ledger;
    const before = await ledger.record('jp', [{ account: 'acc_before' }]);
    ledger.enforce(ledger.draftRoster({ members: log.membersWith([], ['jp']) }), 'us', 'eu', 'ca');
    const later = await log.seal('jp');
    assert.not(ledger.name(later));
    const known = { pin: log.genesis };
    claim({ what: 'decided before it', bundle: await bundleOf(log, before), known, log, word: 'verified' });
    const bundle = await bundleOf(log, later);
    claim({ what: 'not decided', bundle, known, log, word: 'no-decision-yet' });
    const forged = copyOf(log);
    forged.decisions.push(log.decisionText(log.messageOf(later), { payer: log.account('jp') }));
    const decision = forged.decisionProof(log.size, [forged.size]);
    const lies = await checkpointsOf(ledger, forged, ['us', 'jp']);
    const posed = { ...bundle, decision, checkpoints: [...lies, ...bundle.checkpoints] };
    claim({ what: 'with its removal', bundle: posed, known, log, word: 'decision-mismatch' });
    const hiding = { ...posed, rosters: posed.rosters.slice(0, 1) };
    const atNode = 'decision-mismatch' as const;
    const left = { bundle: hiding, known, log, atNode };
    claim({ what: 'its removal left out, by one liar beside it', ...left, word: 'too-few-checkpoints' });
    const more = [...lies, ...(await checkpointsOf(ledger, forged, ['ca']))];
    const lied = { ...hiding, checkpoints: more };
    claim({ what: 'by a quorum of liars', ...left, bundle: lied, word: 'verified' });
    claim({ what: 'and a newer pin', bundle: lied, known: { pin: log.roster().hash }, word: 'pin-does-not-join' });
    const rosters = rosterEntries(log, []);
    claim({ what: 'and known rosters', bundle: lied, known: { rosters }, word: 'decision-mismatch' });
    assert.ok(ledger.say(log.messageOf(later), 'us', 'eu', 'ca'), 'a majority rescues what it recorded');
    claim({ what: 'rescued', bundle: await bundleOf(log, later), known, log, word: 'verified' });
  },

  'a tie of two rosters is left by a change of mind': async (claim) => {
    const ledger = await Ledger.create({ nodes: ['us', 'eu', 'ca', 'sg'], quorum: 2 });
    const { log } = ledger;
    const [one, other] = [ledger.draftRoster({ name: 'one' }), ledger.draftRoster({ name: 'other' })];
    assert.not(ledger.say(one.message, 'us', 'eu'));
    assert.not(ledger.say(other.message, 'ca', 'sg'));
    ledger.enforce(one, 'ca');
    assert.not(ledger.say(other.message, 'us'));
    const sealed = await ledger.record('eu');
    const known = { pin: log.genesis };
    claim({ what: 'under the one', bundle: await bundleOf(log, sealed), known, log, word: 'verified' });
    const posed = await underPosed(ledger, sealed, other, ['ca', 'sg']);
    const word = 'roster-without-majority';
    claim({ what: 'under the other', bundle: posed, known, log, word, atNode: 'contradicted' });
  },

  'a roster named early and revealed late has no effect': async (claim) => {
    const ledger = await Ledger.create({ quorum: 2 });
    const { log } = ledger;
    const hidden = ledger.draftRoster({ name: 'hidden', members: log.membersWith([], ['eu']) });
    assert.not(ledger.say(hidden.message, 'us', 'sg'));
    const early = await ledger.record('eu', [{ account: 'acc_early' }]);
    ledger.enforce(ledger.draftRoster({ name: 'open' }), 'us', 'ca', 'jp');
    assert.not(ledger.say(hidden.message, 'ca', 'jp', 'eu', 'us', 'sg'));
    const late = await ledger.record('eu', [{ account: 'acc_late' }]);
    const known = { pin: log.genesis };
    for (const sealed of [early, late]) {
      const bundle = await bundleOf(log, sealed);
      claim({ what: 'the record', bundle, known, log, word: 'verified' });
      const posed = await underPosed(ledger, sealed, hidden, ['us', 'sg']);
      assert.not(verdictOf(log, posed).verified);
      const { word } = verdictOf(log, posed);
      claim({ what: 'under the hidden roster', bundle: posed, known, log, word, atNode: 'contradicted' });
      claim({
        what: 'and known rosters',
        bundle: posed,
        known: { rosters: rosterEntries(log, []) },
        word: 'contradicted',
      });
    }
  },

  'witnesses that a newer pin has expelled count no more': async (claim) => {
    const ledger = await Ledger.create({ quorum: 2 });
    const { log } = ledger;
    for (const node of ['za', 'br']) await log.admit(node);
    const record = await ledger.record('eu');
    const size = log.size;
    const held = await Promise.all(['sg', 'jp', 'us'].map((node) => log.checkpoint(node, { size })));
    ledger.enforce(ledger.draftRoster({ members: log.membersWith(['za', 'br'], ['sg', 'jp']) }), 'us', 'eu', 'ca');
    const rosters = rosterEntries(log, []);
    const old = await bundleOf(log, record, 0, { checkpoints: held, rosters: 1 });
    claim({ what: 'by the genesis', bundle: old, known: { pin: log.genesis }, log, word: 'verified' });
    claim({ what: 'by the newer rosters', bundle: old, known: { rosters }, word: 'too-few-checkpoints' });
    claim({ what: 'by the newer hash', bundle: old, known: { pin: log.roster().hash }, word: 'pin-does-not-join' });
    const fresh = await bundleOf(log, record, 0, { witnesses: ['za', 'us', 'ca', 'eu'] });
    for (const known of [{ pin: log.genesis }, { pin: log.roster().hash }, { rosters }]) {
      claim({ what: 'with fresh checkpoints', bundle: fresh, known, log, word: 'verified' });
    }
  },

  'a record under the third roster, by a pin of the first, with one witness rotated and one compromised': async (
    claim,
  ) => {
    const ledger = await Ledger.create({ quorum: 2 });
    const { log } = ledger;
    for (const node of ['za', 'br']) await log.admit(node);
    ledger.enforce(ledger.draftRoster({ members: log.membersWith(['za']) }), 'us', 'eu', 'ca');
    ledger.enforce(ledger.draftRoster({ members: log.membersWith(['br']) }), 'us', 'eu', 'ca', 'za');
    const record = await ledger.record('eu');
    const size = log.size;
    const held = [
      await log.checkpoint('us', { size }),
      await log.checkpoint('ca', { size }, newestKey(log.member('ca'))),
    ];
    ledger.enforce(await ledger.draftRevocation('us'), 'eu', 'sg', 'jp', 'za');
    const compromised = { reason: 'compromised', compromisedSince: log.tick() } as const;
    ledger.enforce(await ledger.draftRevocation('ca', compromised), 'eu', 'sg', 'jp', 'za');
    const silent = await Promise.all(['eu', 'sg', 'jp', 'za'].map((node) => log.checkpoint(node, { vouched: {} })));
    const known = { pin: log.genesis };
    const on = async (what: string, word: 'stale' | 'verified', more: readonly SignedCheckpoint[]) => {
      const bundle = await bundleOf(log, record, 0, { checkpoints: [...held, ...silent, ...more] });
      claim({ what, bundle, known, log, word });
    };
    await on('us counts up to its revocation, ca no more', 'stale', []);
    await on('and a new member', 'verified', [await log.checkpoint('br')]);
    await log.rotateKey('ca');
    await on('and ca by its new key', 'verified', [await log.checkpoint('ca')]);
  },
});

/** A bundle as those liars would have it: the roster stands where they say so, and the record’s decision after it. */
async function underPosed(
  ledger: Ledger,
  sealed: SealedBatch,
  posed: Hidden & ReturnType<Ledger['draftRoster']>,
  liars: readonly string[],
) {
  const { log } = ledger;
  const forged = copyOf(log);
  const place = log.roster(2).index ?? 0;
  const index = log.indexOf(sealed) ?? 0;
  forged.decisions[place] = log.decisionText(posed.message, {
    ...placeOf(log.decisions[place]),
    payer: log.account('us'),
  });
  const honest = await bundleOf(log, sealed);
  const checkpoints = [...(await checkpointsOf(ledger, forged, liars)), ...honest.checkpoints];
  const rosters = [
    { text: log.roster(1).text, decision: null },
    { text: posed.entry.text, decision: forged.decisionProof(place, [forged.size]) },
  ];
  const bundle: Bundle = { ...honest, rosters, checkpoints, decision: log.decisionProof(index, [log.size]) };
  return bundle;
}

function placeOf(text = '{}') {
  const { index, sequence, consensusTimestamp } = JSON.parse(text);
  return { index, sequence, consensusTimestamp };
}

function copyOf({ decisions }: DecidedLog): DecidedLog {
  const log = new DecidedLog();
  log.decisions.push(...decisions);
  return log;
}

/** What members sign of a log that is not the federation’s, vouching for everything. */
function checkpointsOf({ log }: Ledger, forged: DecidedLog, nodes: readonly string[]): Promise<SignedCheckpoint[]> {
  const change = { size: forged.size, root: forged.rootAt(forged.size), vouched: forged.vouchedAt(forged.size) };
  return Promise.all(nodes.map((node) => log.checkpoint(node, change)));
}
