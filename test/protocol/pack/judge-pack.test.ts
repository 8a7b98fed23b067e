import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { readHead } from '../../../protocol/chain/record.ts';
import { readContainer } from '../../../protocol/pack/container.ts';
import { judgePack } from '../../../protocol/pack/judge-pack.ts';
import { PACK_FILES } from '../../../protocol/pack/manifest.ts';
import type { PackVerdict } from '../../../protocol/pack/pack-verdict.ts';
import { nobleHash, nobleSuite } from '../../../protocol/suite/noble.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { Known } from '../../../protocol/verdict/known.ts';
import { recordAt } from '../../fixtures/federation-log-batch.ts';
import { revocationProofs, sizesOf } from '../../fixtures/federation-log-bundle.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { type PackOptions, packedPeriod, packOf, sourceOf } from '../../fixtures/judged-pack.ts';

const period = await packedPeriod();
const pin = { pin: period.log.genesis };
const honest = await packOf(period);

function judged(bytes: Uint8Array, known: Known = pin, suite: Suite = nativeSuite): Promise<PackVerdict> {
  return judgePack(sourceOf(bytes), { suite, newHash: nobleHash, known });
}

async function verdictOf(options: PackOptions, known?: Known): Promise<PackVerdict> {
  return judged(await packOf(period, options), known);
}

function codesOf({ problems }: PackVerdict): readonly string[] {
  return [...new Set(problems.map(({ code }) => code))].sort();
}

function shifted(at: Timestamp, ms: number): Timestamp {
  return timestampOf(Date.parse(at) + ms);
}

function replaceIn(path: string, change: (text: string) => string): NonNullable<PackOptions['change']> {
  return (files) => void files.set(path, utf8(change(Buffer.from(files.get(path) ?? []).toString())));
}

test('an honest pack is verified under the pin, and consistent without one', async () => {
  const verdict = await judged(honest);
  assert.equal(verdict.problems, []);
  assert.is(verdict.word, 'verified');
  assert.is(verdict.exitCode, 0);
  assert.equal(verdict.words, { verified: 6 });
  assert.equal([verdict.openBegins, verdict.openEnds, verdict.emptyCount], [0, 0, 0]);
  const unpinned = await judged(honest, {});
  assert.is(unpinned.word, 'consistent');
  assert.is(unpinned.exitCode, 3);
  assert.is(unpinned.verified, false);
});

test('both suites say the same', async () => {
  assert.equal(await judged(honest, pin, nobleSuite), await judged(honest));
});

test('another federation’s pin does not join', async () => {
  const other = await FederationLog.create({ seed: 'another' });
  const verdict = await judged(honest, { pin: other.genesis });
  assert.is(verdict.word, 'pin-does-not-join');
  assert.is(verdict.pinned, null);
});

test('a flipped byte anywhere is found, and the file that it is in is named', async () => {
  const placed = await readContainer(sourceOf(honest));
  let named = 0;
  for (const { name, from, size } of placed) {
    for (const at of [from, from + (size >> 1), from + size - 1]) {
      const flipped = Uint8Array.from(honest);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      const verdict = await judged(flipped);
      assert.is(verdict.verified, false, `${name} ${at}`);
      assert.is(verdict.exitCode, 1);
      assert.ok(
        verdict.problems.some(({ path }) => path === name),
        `${name} ${at}`,
      );
      named++;
    }
  }
  assert.is(named, 3 * Object.keys(PACK_FILES).length);
  const inDirectory = Uint8Array.from(honest);
  const last = inDirectory.length - 30;
  inDirectory[last] = (inDirectory[last] ?? 0) ^ 1;
  assert.equal(codesOf(await judged(inDirectory)).includes('container'), true);
});

test('a file of the same length that takes the place of another after the signing is found', async () => {
  const other = utf8(`${PACK_FILES.report} of a liar\n`);
  const honestLength = (await readContainer(sourceOf(honest))).find(({ name }) => name === PACK_FILES.report)?.size;
  assert.is(other.length, honestLength);
  const verdict = await verdictOf({ changeLater: (files) => void files.set(PACK_FILES.report, other) });
  assert.equal([verdict.word, verdict.exitCode], ['not-whole', 1]);
  assert.equal(
    verdict.problems.map(({ code, path }) => [code, path]),
    [['file-changed', PACK_FILES.report]],
  );
});

test('a manifest that names a file twice names none', async () => {
  const { manifest } = await judged(honest);
  assert.ok(manifest);
  const verdict = await verdictOf({ manifest: { files: [...manifest.files, ...manifest.files.slice(0, 1)] } });
  assert.is(verdict.word, 'not-whole');
  assert.ok(codesOf(verdict).includes('manifest-mismatch'));
});

test('a file that was changed before the manifest was signed anew by a stranger is not signed by the node', async () => {
  const stranger = newestKey((await FederationLog.create({ seed: 'thief' })).member('eu')).signer;
  const verdict = await verdictOf({ signer: stranger, change: replaceIn(PACK_FILES.page, () => 'all is well') });
  assert.is(verdict.word, 'not-signed-by-node');
  assert.equal(codesOf(verdict), ['manifest-signature']);
});

test('another member’s key signs no pack of the node', async () => {
  const verdict = await verdictOf({ signer: newestKey(period.log.member('us')).signer });
  assert.is(verdict.word, 'not-signed-by-node');
});

test('a key that was compromised signs none either', async () => {
  const own = await packedPeriod();
  await own.log.revoke('eu', { reason: 'compromised', compromisedSince: own.log.tick() });
  const verdict = await judged(await packOf(own), { pin: own.log.genesis });
  assert.is(verdict.word, 'not-signed-by-node');
  assert.equal(verdict.words, { verified: 6 });
});

test('a stolen key that the verifier’s own file alone certifies signs no pack either, nor what it sealed', async () => {
  const own = await packedPeriod();
  const { log } = own;
  await log.revoke('eu', { reason: 'compromised', compromisedSince: own.manifest.question.from });
  const checkpoints = await Promise.all(['us', 'ca', 'sg', 'jp'].map((node) => log.checkpoint(node)));
  const revocations = revocationProofs(log, log.revocations, sizesOf(checkpoints));
  const brought = { revocations, checkpoints, keys: log.certificates };
  const leaveOut = replaceIn(PACK_FILES.federation, (text) => {
    const keys = log.certificates.filter(({ statement }) => !statement.includes('"node":"eu"'));
    return JSON.stringify({ ...JSON.parse(text), checkpoints, keys, revocations: [] });
  });
  const verdict = await judged(await packOf(own, { change: leaveOut }), { pin: log.genesis, revocations: brought });
  assert.is(verdict.word, 'not-signed-by-node');
  assert.is(verdict.words.verified, 1);
});

test('a record left out of the middle is found, and so are the neighbours', async () => {
  const middle = await verdictOf({ places: [[3], [0, 2, 3], [0]] });
  assert.is(middle.word, 'sequence-broken');
  assert.equal(codesOf(middle), ['sequence-broken']);
  const before = await verdictOf({ places: [[], [0, 1, 2, 3], [0]] });
  assert.equal(codesOf(before), ['neighbour-missing']);
  const after = await verdictOf({ places: [[3], [0, 1, 2, 3], []] });
  assert.is(after.word, 'verified');
  assert.is(after.openEnds, 1);
});

test('where what is before the period is withheld, a sequence that does not begin with its first record is counted', async () => {
  const withheld = (places: readonly (readonly number[])[]) =>
    verdictOf({ places, manifest: { question: { ...period.manifest.question, withholdsBefore: true } } });
  const whole = await withheld([[], [0, 1, 2, 3], [0]]);
  assert.equal([whole.word, whole.openBegins], ['verified', 1]);
  const cut = await withheld([[], [3], [0]]);
  assert.equal([cut.word, cut.openBegins, cut.openEnds], ['verified', 1, 0], 'records of the period are left out');
  const first = await withheld([[0, 1, 2, 3], [0, 1, 2, 3], [0]]);
  assert.equal([first.word, first.openBegins], ['verified', 0]);
  const joined = await withheld([[3], [0, 1, 2, 3], [0]]);
  assert.equal([joined.word, joined.openBegins], ['verified', 0]);
});

test('each source is counted at each node of the reach, and at the home, that has no record of it in the pack', async () => {
  const { node, question, reach } = period.manifest;
  const us = { node: period.log.member('us').node, seq: 5_000 };
  const silent = await verdictOf({ manifest: { reach: [...reach, us] } });
  assert.equal([silent.word, silent.emptyCount], ['verified', 1]);
  assert.equal(silent.emptySources, [{ sourceId: 'loans', node: 'us' }]);
  const sources = ['cards', 'loans'];
  const both = await verdictOf({ manifest: { reach: [...reach, us], question: { ...question, sources } } });
  assert.equal(both.emptySources, [
    { sourceId: 'cards', node },
    { sourceId: 'cards', node: 'us' },
    { sourceId: 'loans', node: 'us' },
  ]);
  const left = await verdictOf({ places: [[], [], []], manifest: { reach: [us] } });
  assert.equal(left.emptySources, [
    { sourceId: 'loans', node: 'us' },
    { sourceId: 'loans', node },
  ]);
  const many = Array.from({ length: 100 }, (_, i) => `source-${100 + i}`);
  const empty = await verdictOf({
    places: [[], [], []],
    manifest: {
      question: { ...question, sources: many },
      reach: ['eu', 'us', 'sg'].map((id) => ({ node: period.log.member(id).node, seq: 5_000 })),
    },
  });
  assert.equal([empty.emptyCount, empty.emptySources.length], [300, 200]);
});

test('records in another order than their count do not hold', async () => {
  const swapped = await verdictOf({
    change: replaceIn(PACK_FILES.records, (text) => {
      const [first = '', second = '', third = '', ...rest] = text.split('\n');
      return [first, third, second, ...rest].join('\n');
    }),
  });
  assert.ok(codesOf(swapped).includes('record-does-not-hold'));
  assert.is(swapped.verified, false);
});

test('a record of another account, of another source and of a later moment is foreign', async () => {
  for (const change of [
    { account: 'acc_eu_0000000000000000' },
    { sources: ['cards'] },
    { asOf: period.manifest.question.from },
  ]) {
    const verdict = await verdictOf({ manifest: { question: { ...period.manifest.question, ...change } } });
    assert.is(verdict.word, 'not-whole');
    assert.ok(codesOf(verdict).includes('record-foreign'));
  }
  const reach = await verdictOf({
    manifest: { reach: [{ ...period.manifest.reach[0], node: period.manifest.node, seq: 5 }] },
  });
  assert.ok(codesOf(reach).includes('record-foreign'));
});

test('a record at the begin is of the period, one at its end is not, and one at the moment and the reach is not later', async () => {
  const { question, node } = period.manifest;
  const [, during, after] = period.batches.map((batch) => readHead(recordAt(batch, 0).head));
  assert.ok(during && after);
  const asking = (change: Partial<typeof question>, seq = after.seq, options: PackOptions = {}) => {
    return verdictOf({ ...options, manifest: { question: { ...question, ...change }, reach: [{ node, seq }] } });
  };
  const [from, to, asOf] = [during.submittedAt, after.submittedAt, after.submittedAt];
  const exact = await asking({ from, to, asOf });
  assert.equal([exact.word, exact.openEnds], ['verified', 0]);
  assert.equal(codesOf(await asking({ from }, after.seq, { places: [[], [0, 1, 2, 3], [0]] })), ['neighbour-missing']);
  assert.is((await asking({ to: shifted(to, 1) })).openEnds, 1);
  assert.equal(codesOf(await asking({ asOf: shifted(asOf, -1) })), ['record-foreign']);
  assert.equal(codesOf(await asking({}, after.seq - 1)), ['record-foreign']);
});

test('contents that were not asked for are told, and those that are missing too', async () => {
  const unasked = await verdictOf({ disclosed: true });
  assert.equal(codesOf(unasked), ['disclosure-unasked']);
  const question = { ...period.manifest.question, disclosure: true };
  const disclosed = await verdictOf({ disclosed: true, manifest: { question } });
  assert.is(disclosed.word, 'verified');
  assert.is(disclosed.disclosed, 6);
  const missing = await verdictOf({ manifest: { question } });
  assert.equal(codesOf(missing), ['disclosure-missing']);
  const forged = await verdictOf({
    disclosed: true,
    manifest: { question },
    change: replaceIn(PACK_FILES.records, (text) => text.replace('approve', 'decline')),
  });
  assert.is(forged.word, 'payload-damaged');
});

test('files that are no lines of proofs, and counts that do not agree, are told and end nothing', async () => {
  for (const path of [PACK_FILES.batches, PACK_FILES.groups, PACK_FILES.records, PACK_FILES.erasures]) {
    const verdict = await verdictOf({ change: replaceIn(path, (text) => text.slice(0, -2)) });
    assert.equal(codesOf(verdict).includes('line-malformed'), true, path);
    assert.is(verdict.verified, false);
  }
  for (const path of [PACK_FILES.groups, PACK_FILES.records]) {
    const longer = await verdictOf({ change: replaceIn(path, (text) => text + text.slice(0, text.indexOf('\n') + 1)) });
    assert.equal([longer.word, codesOf(longer)], ['not-whole', ['line-malformed']], `a line more in ${path}`);
    const cut = replaceIn(path, (text) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1));
    const shorter = await verdictOf({ change: cut });
    assert.equal([shorter.word, codesOf(shorter)], ['not-whole', ['line-malformed']], `a line less in ${path}`);
  }
  const more = await verdictOf({ manifest: { records: 7 } });
  assert.equal(codesOf(more), ['manifest-mismatch']);
  const rosters = await verdictOf({ change: replaceIn(PACK_FILES.federation, () => '{}') });
  assert.is(rosters.word, 'rosters-do-not-join');
  const none = await verdictOf({ places: [[], [], []] });
  assert.is(none.word, 'verified');
  assert.equal(none.emptySources, [{ sourceId: 'loans', node: period.manifest.node }]);
});

test('that there was nothing is believed of the account’s home alone, while it is a member', async () => {
  const places = [[], [], []];
  const { signer } = newestKey(period.log.member('us'));
  const us = period.log.member('us').node;
  const elsewhere = await packOf(period, { places, signer, manifest: { node: us, reach: [] } });
  assert.is((await judged(elsewhere)).word, 'not-signed-by-home');
  assert.is((await judged(elsewhere, {})).word, 'consistent');
  assert.equal(await judged(elsewhere, pin, nobleSuite), await judged(elsewhere));
  const own = await packedPeriod();
  const before = await packOf(own, { places });
  own.log.addRoster({ members: own.log.membersWith([], ['eu']) });
  const known = { pin: own.log.genesis };
  assert.is((await judged(before, known)).word, 'verified');
  const after = await judged(await packOf(own, { places }), known);
  assert.equal([after.word, after.verified, after.exitCode], ['not-signed-by-home', false, 1]);
  assert.is((await judged(await packOf(own), known)).word, 'verified', 'records speak for themselves');
});

test('a file more, one less, one in another place and one that the manifest does not name make it no pack', async () => {
  const less = await verdictOf({ changeLater: (files) => void files.delete(PACK_FILES.readme) });
  assert.is(less.word, 'not-whole');
  const moved = await verdictOf({
    changeLater(files) {
      const readme = files.get(PACK_FILES.readme) ?? utf8('');
      files.delete(PACK_FILES.readme);
      files.set(PACK_FILES.readme, readme);
    },
  });
  assert.equal([moved.word, codesOf(moved)], ['not-whole', ['file-missing']]);
  const more = await verdictOf({ changeLater: (files) => void files.set('more.txt', utf8('x')) });
  assert.is(more.word, 'not-whole');
  assert.ok(codesOf(more).includes('manifest-mismatch'));
});

test('what is no container is none, and is not read on', async () => {
  const verdict = await judged(utf8('PK but nothing else that is long enough'));
  assert.is(verdict.word, 'not-whole');
  assert.ok(codesOf(verdict).includes('container'));
  assert.is(verdict.records, 0);
});

test('a source that cannot be read ends the judging, and says nothing of the pack', async () => {
  const source = sourceOf(honest);
  const files = await readContainer(source);
  for (const name of [PACK_FILES.manifest, PACK_FILES.federation]) {
    let reads = 0;
    const broken = {
      size: source.size,
      read(from: number, to: number): Promise<Uint8Array> {
        // Read once for its hash, and again for what it says.
        const isAgain = from === files.find((file) => file.name === name)?.from && ++reads > 1;
        return isAgain ? Promise.reject(new Error('the disk is gone')) : source.read(from, to);
      },
    };
    const said = await judgePack(broken, { suite: nativeSuite, newHash: nobleHash, known: pin }).catch(String);
    assert.is(said, 'Error: the disk is gone', name);
  }
});

test('progress goes up to the whole', async () => {
  const told: number[] = [];
  await judgePack(sourceOf(honest), {
    suite: nativeSuite,
    newHash: nobleHash,
    known: pin,
    onProgress: (done) => void told.push(done),
  });
  assert.equal(
    told,
    told.toSorted((a, b) => a - b),
  );
  assert.is(told.at(-1), 1);
});

test.run();
