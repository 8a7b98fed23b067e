import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Bundle, LinkedProof } from '../../../protocol/verdict/bundle.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { HOME, HOME_ACCOUNT as ACCOUNT, versionDraft } from '../../fixtures/account-statement.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { type LogDraft, recordAt, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { bundleOf, linkedOf, viewOf } from '../../fixtures/federation-log-bundle.ts';
import { reviewer } from '../evidence/case.ts';
import { at, verdictOf } from './judged.ts';

function reviewOf(sealed: SealedBatch, letter = 'a'): LogDraft {
  const claims = { reviewer: reviewer(letter), reviewOutcome: 'confirmed' } as const;
  return { kind: 'human_override', account: ACCOUNT, links: { original: recordAt(sealed, 0).id }, claims };
}

/**
 * An account's life: a record at home; a review by `us` before anyone named it; version 1 that names it, and a review;
 * version 2 that names it no more, and a review; version 3 that names `sg`, which has one too.
 */
async function history() {
  const log = await FederationLog.create();
  const subject = await log.record(HOME, [{ account: ACCOUNT }]);
  const early = await log.record('us', [reviewOf(subject)]);
  const first = await log.record(HOME, [versionDraft(1, ['eu', 'us'])]);
  const named = await log.record('us', [reviewOf(subject)]);
  const second = await log.record(HOME, [versionDraft(2, ['eu'])]);
  const late = await log.record('us', [reviewOf(subject)]);
  const third = await log.record(HOME, [versionDraft(3, ['eu', 'sg'])]);
  const other = await log.record('sg', [reviewOf(subject)]);
  return { log, subject, early, first, named, second, late, third, other };
}

const made = await history();
const { log, subject, early, first, named, second, late, third, other } = made;
const own = await bundleOf(log, subject);
const ALL = [early, first, named, second, late, third, other];

async function judged(linked: readonly SealedBatch[], change: (proof: LinkedProof) => LinkedProof = (proof) => proof) {
  const bundle: Bundle = { ...own, linked: linked.map((sealed) => change(linkedOf(log, sealed, 0, own))) };
  return { bundle, verdict: verdictOf(log, bundle) };
}

const flagOf = ({ evidence }: Verdict) => evidence?.complianceStatus.article14;
const speakingOf = ({ linked }: Verdict) => linked.map(({ node, speaks }) => `${node}${speaks ? '' : ' silent'}`);
const versionsOf = ({ accountStatements }: Verdict) => accountStatements.map(({ version }) => version);

test('each review counts by the version before it: named later, or no more, a node speaks only within its time', async () => {
  const { verdict } = await judged(ALL);
  assert.is(verdict.word, 'verified');
  const of = (sealed: SealedBatch) => at(verdict.linked, ALL.indexOf(sealed));
  assert.equal(
    [of(early), of(named), of(late), of(other)].map(({ speaks }) => speaks),
    [false, true, false, true],
  );
  assert.equal(
    [early, named, late, other].map((sealed) => of(sealed).accountStatement?.version ?? null),
    [null, 1, 2, 3],
  );
  assert.is(of(named).accountStatement?.id, recordAt(first, 0).id);
  assert.ok(verdict.linked.every(({ holds, word }) => holds && word === 'verified'));
  assert.equal(versionsOf(verdict), [3, 2, 1]);
  assert.equal([verdict.speaks, flagOf(verdict)], [true, true]);
});

test('a review by a node that no version before it names turns no flag, and the node that says so is named', async () => {
  for (const review of [early, late]) {
    const { verdict } = await judged([first, second, third, review]);
    assert.equal(speakingOf(verdict), ['eu', 'eu', 'eu', 'us silent']);
    assert.is(flagOf(verdict), false);
  }
});

test('without its version a review counts for nothing; without a later one it rests on the one that is named', async () => {
  const bare = await judged([named]);
  assert.equal([speakingOf(bare.verdict), flagOf(bare.verdict), versionsOf(bare.verdict)], [['us silent'], false, []]);
  const older = await judged([first, late]);
  assert.equal([flagOf(older.verdict), versionsOf(older.verdict)], [true, [1]]);
  const whole = await judged([first, second, late]);
  assert.equal([flagOf(whole.verdict), versionsOf(whole.verdict)], [false, [2]]);
});

test('a version of which no decision is shown says nothing, and a review without one comes after all versions', async () => {
  const bare = (proof: LinkedProof): LinkedProof => ({ ...proof, batch: null, decision: null });
  assert.is(flagOf((await judged([first, named], bare)).verdict), false);
  const onlyVersions = (proof: LinkedProof) => (proof.record.head.includes('human_override') ? bare(proof) : proof);
  assert.is(flagOf((await judged([first, named], onlyVersions)).verdict), true);
  assert.is(flagOf((await judged([first, second, named], onlyVersions)).verdict), false);
});

test('an invented place in the log gives no voice: a decision counts where checkpoints show it', async () => {
  // By a member that was named once: its record of today with a decision of then.
  const between = log.decisions[log.indexOf(named) ?? -1] ?? '';
  const { index } = JSON.parse(between);
  const backdated = (proof: LinkedProof): LinkedProof => {
    if (!proof.record.head.includes('human_override') || proof.decision === null || proof.decision === undefined) {
      return proof;
    }
    const text = log.decisionText(log.messageOf(late), { index, payer: log.account('us') });
    return { ...proof, decision: { text, paths: [] } };
  };
  const { verdict } = await judged([first, second, late], backdated);
  const { speaks, accountStatement } = at(verdict.linked, 2);
  assert.equal([speaks, accountStatement?.version, flagOf(verdict)], [false, 2, false]);
  const unshown = (proof: LinkedProof): LinkedProof => {
    const { decision } = proof;
    return decision === null || decision === undefined ? proof : { ...proof, decision: { ...decision, paths: [] } };
  };
  const { bundle, verdict: unplaced } = await judged([first, named], unshown);
  assert.equal([speakingOf(unplaced), flagOf(unplaced)], [['eu', 'us silent'], false]);
  // A node that has these decisions in its own log needs no path.
  const [byLog] = [verdictOf(log, bundle, { log: viewOf(log, [subject, first, named]) })];
  assert.equal([speakingOf(byLog), versionsOf(byLog), flagOf(byLog)], [['eu', 'us'], [1], true]);
});

test('a member gives itself no voice: a statement that it made, or that does not hold, says nothing', async () => {
  const liar = await FederationLog.create();
  const record = await liar.record(HOME, [{ account: ACCOUNT }]);
  const forged = await liar.record('us', [versionDraft(9, ['eu', 'us'])]);
  const honest = await liar.record(HOME, [versionDraft(1, ['eu', 'us'])]);
  const review = await liar.record('us', [reviewOf(record)]);
  const bundle = await bundleOf(liar, record);
  const verdict = (...linked: LinkedProof[]) => verdictOf(liar, { ...bundle, linked });
  const [fake, real, said] = [forged, honest, review].map((sealed) => linkedOf(liar, sealed, 0, bundle));
  if (fake === undefined || real === undefined || said === undefined) throw new Error('there are three');
  assert.equal(speakingOf(verdict(fake, said)), ['us silent', 'us silent']);
  assert.is(flagOf(verdict(real, said)), true);
  const broken = { ...real, receipt: { ...real.receipt, signature: at(bundle.checkpoints).signature } };
  assert.equal(speakingOf(verdict(broken, said)), ['eu silent', 'us silent']);
  const unseen = { ...real, record: { ...real.record, body: null } };
  assert.is(flagOf(verdict(unseen, said)), false);
});

test('of a record that was made elsewhere itself, the rules that ask who made it are judged in the same way', async () => {
  const within = async (sealed: SealedBatch, ...linked: readonly SealedBatch[]) => {
    const bundle = await bundleOf(log, sealed);
    return verdictOf(log, { ...bundle, linked: linked.map((one) => linkedOf(log, one, 0, bundle)) });
  };
  const [before, during, after] = [
    await within(early, first),
    await within(named, first),
    await within(late, first, second),
  ];
  assert.equal(
    [before, during, after].map(({ speaks }) => speaks),
    [false, true, false],
  );
  assert.equal([before, during, after].map(flagOf), [false, true, false]);
  assert.equal([before, during, after].map(versionsOf), [[], [1], [2]]);
  // What its own text shows stays: it is a signed record of that node.
  assert.ok(
    [before, during, after].every(
      ({ evidence, word }) => evidence?.complianceStatus.article12_1 && word === 'verified',
    ),
  );
});

test('a session counts where the nodes that began and ended it, and that of the record, speak', async () => {
  const life = await FederationLog.create();
  const start = await life.record(HOME, [{ kind: 'session_start', account: ACCOUNT }]);
  const session = recordAt(start, 0).id;
  const inside = async (by: string) => life.record(by, [{ account: ACCOUNT, links: { session } }]);
  const end = async (by: string) => life.record(by, [{ kind: 'session_end', account: ACCOUNT, links: { session } }]);
  const records = { home: await inside(HOME), before: await inside('us') };
  const version = await life.record(HOME, [versionDraft(1, ['eu', 'us'])]);
  const [byNamed, outside] = [await inside('us'), await inside('sg')];
  const [ending, endingOutside, atHome] = [await end('us'), await end('sg'), await end(HOME)];
  const shown = async (sealed: SealedBatch, ...linked: readonly SealedBatch[]) => {
    const bundle = await bundleOf(life, sealed);
    const verdict = verdictOf(life, { ...bundle, linked: linked.map((one) => linkedOf(life, one, 0, bundle)) });
    return verdict.evidence?.complianceDetail.article12_3a;
  };
  assert.is(await shown(records.home, start, version, ending), true);
  assert.is(await shown(records.home, start, version, endingOutside), false);
  assert.is(await shown(byNamed, start, version, atHome), true);
  assert.is(await shown(records.before, start, version, atHome), false);
  assert.is(await shown(outside, start, version, atHome), false);
});

test.run();
