import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { UsageError } from '../../../node/config/command-line.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { verifyCommand } from '../../../scripts/verify/command.ts';
import { MAX_FILE_BYTES, UnreadableFileError } from '../../../scripts/verify/read-text.ts';
import { bundleOf, revocationProofs, rosterEntries, sizesOf } from '../../fixtures/federation-log-bundle.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';
import { packedPeriod, packOf } from '../../fixtures/judged-pack.ts';
import { decidedName, falseCheckpoint, LedgerReading, proofOf, twoEnvelopes } from '../../fixtures/misdeed-proof.ts';

const test = suite<{ folder: string }>('npm run verify', { folder: '' });

const log = await FederationLog.create({ quorum: 2 });
const sealed = await log.record('eu');
const good = await bundleOf(log, sealed);
const pin = log.genesis;
const head = good.record.head.replace('"kind":"decision"', '"kind":"incident"');
const bad = { ...good, record: { ...good.record, head } };
const few = { ...good, checkpoints: good.checkpoints.slice(0, 1) };
const early = { ...good, batch: null, decision: null };
/** The exit codes with a text that has each, under the pin. */
const FILES = { 0: good, 1: bad, 2: {}, 4: early, 5: few } as const;

test.before.each(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'meridian-verify-'));
});
test.after.each(({ folder }) => rm(folder, { recursive: true, force: true }));

async function run(folder: string, ...args: readonly string[]) {
  const lines: string[] = [];
  const notes: string[] = [];
  const home = join(folder, 'home');
  const code = await verifyCommand(args, {
    out: (line) => lines.push(line),
    note: (line) => notes.push(line),
    home,
    now: Date.now,
    suite: nativeSuite,
    progress: null,
    program: 'npm run verify --',
  });
  return { code, lines, notes, text: lines.join('\n') };
}

async function write(folder: string, name: string, value: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

async function refusal(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  return null;
}

for (const [code, value] of Object.entries(FILES)) {
  test(`a file alone exits ${code}, in words and in JSON`, async ({ folder }) => {
    const path = await write(folder, 'bundle.json', value);
    assert.is(String((await run(folder, path, '--roster', pin)).code), code);
    const { code: same, lines } = await run(folder, path, '--roster', pin, '--json');
    assert.is(String(same), code);
    assert.is(lines.length, 1);
    const { file, exitCode, word, verified } = JSON.parse(lines[0] ?? '');
    assert.equal([file, String(exitCode), verified], [path, code, code === '0']);
    assert.type(word, 'string');
  });
}

test('without a pin the word is consistent and the exit 3, in words and in JSON', async ({ folder }) => {
  const path = await write(folder, 'bundle.json', good);
  const { code, lines } = await run(folder, path);
  assert.is(code, 3);
  assert.match(lines[0] ?? '', /^NOT VERIFIED \(consistent\)/);
  assert.is(JSON.parse((await run(folder, path, '--json')).text).word, 'consistent');
});

test('several files come to the worst, in the order 2, 1, 5, 4, 3, 0', async ({ folder }) => {
  const paths: string[] = [];
  for (const [code, value] of Object.entries(FILES)) paths.push(await write(folder, `${code}.json`, value));
  const [zero = '', one = '', two = '', four = '', five = ''] = paths;
  const of = async (...files: readonly string[]) => (await run(folder, ...files, '--roster', pin)).code;
  assert.is(await of(zero, four), 4);
  assert.is(await of(five, four, zero), 5);
  assert.is(await of(zero, five, one, four), 1);
  assert.is(await of(one, two, zero), 2);
  assert.is(await of(zero, zero), 0);
  assert.is((await run(folder, zero, four)).code, 4, 'not pinned is better than not decided');
});

test('over a folder each *.json is a line, and the last line says how many of each word', async ({ folder }) => {
  const inner = join(folder, 'bundles');
  await mkdir(join(inner, 'deeper.json'), { recursive: true });
  for (let i = 0; i < 3; i++) await write(inner, `${i}.json`, good);
  await write(inner, 'bad.json', bad);
  await write(inner, 'note.txt', 'no bundle');
  const { code, lines } = await run(folder, inner, '--roster', pin);
  assert.is(code, 1);
  assert.is(lines.at(-1), 'NOT ALL VERIFIED: 4 files: 3 verified, 1 not-signed');
  const json = await run(folder, inner, '--roster', pin, '--json');
  assert.equal(
    json.lines.map((line) => JSON.parse(line).word),
    ['verified', 'verified', 'verified', 'not-signed'],
  );
});

test('that a signature held in one file makes no other one hold', async ({ folder }) => {
  const inner = join(folder, 'bundles');
  await mkdir(inner);
  await write(inner, '0.json', good);
  const { signature } = good.receipt;
  const changed = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
  await write(inner, '1.json', { ...good, receipt: { ...good.receipt, signature: changed } });
  const signatures = good.checkpoints.map((one) => one.signature).toReversed();
  const checkpoints = good.checkpoints.map(({ text }, i) => ({ text, signature: signatures[i] }));
  await write(inner, '2.json', { ...good, checkpoints });
  const { lines } = await run(folder, inner, '--roster', pin, '--json');
  const words = lines.map((line) => JSON.parse(line).word);
  assert.equal(words, ['verified', 'not-signed', 'too-few-checkpoints']);
});

test('a folder without a bundle, and a file that is not there, are unreadable', async ({ folder }) => {
  await mkdir(join(folder, 'empty'));
  assert.is((await run(folder, join(folder, 'empty'), '--roster', pin)).code, 2);
  const path = await write(folder, 'good.json', good);
  const { code, text } = await run(folder, join(folder, 'absent.json'), path, '--roster', pin);
  assert.is(code, 2);
  assert.match(text, /absent\.json: UNREADABLE: ENOENT/);
  assert.match(text, /good\.json: VERIFIED/);
});

test('a bundle of the first form is refused by one line that says what to do', async ({ folder }) => {
  const path = await write(folder, 'old.json', { format: 'meridian-bundle/1', record: {} });
  const { code, lines } = await run(folder, path, '--roster', pin);
  assert.is(code, 2);
  assert.is(lines.length, 1);
  assert.match(lines[0] ?? '', /meridian-bundle\/1: fetch the record again from any node/);
});

test('a file that an editor saved with a byte order mark is unreadable, and is told so', async ({ folder }) => {
  const path = await write(folder, 'marked.json', `\ufeff${JSON.stringify(good)}`);
  const { code, text } = await run(folder, path, '--roster', pin);
  assert.is(code, 2);
  assert.match(text, /UNREADABLE: it begins with a byte order mark: save it as UTF-8 without one$/m);
});

test('doubled members, other bytes than UTF-8 and files over 16 MiB are unreadable', async ({ folder }) => {
  const doubled = JSON.stringify(good).replace('{"format"', '{"record":null,"format"');
  const paths = [await write(folder, 'doubled.json', doubled), join(folder, 'latin.json'), join(folder, 'long.json')];
  await writeFile(paths[1] ?? '', Buffer.concat([Buffer.from(JSON.stringify(good)), Buffer.of(0xff)]));
  await write(folder, 'long.json', good);
  await truncate(paths[2] ?? '', MAX_FILE_BYTES + 1);
  for (const path of paths) assert.is((await run(folder, path, '--roster', pin)).code, 2, path);
  assert.match((await run(folder, paths[2] ?? '')).text, /longer than 16777216 bytes/);
});

test('a file whose payload has another integer than the record is unreadable, though a double rounds both to one', async ({
  folder,
}) => {
  const wei = await log.record('eu', [{ payload: { data: { wei: 1e18 } } }]);
  const text = JSON.stringify(await bundleOf(log, wei, 0, { disclosed: true }));
  const of = async (one: string) => (await run(folder, await write(folder, 'wei.json', one), '--roster', pin)).code;
  assert.is(await of(text), 0);
  assert.is(await of(text.replace('1000000000000000000', '1000000000000000001')), 2);
});

test('a roster file is the rosters of a bundle, and pins its last', async ({ folder }) => {
  const grown = await FederationLog.create({ quorum: 2 });
  const record = await grown.record('eu');
  await grown.admit('za');
  grown.addRoster({ members: grown.membersWith(['za']) });
  const path = await write(folder, 'bundle.json', await bundleOf(grown, record, 0, { rosters: 1 }));
  const rosters = await write(folder, 'rosters.json', rosterEntries(grown, []));
  const { code, text } = await run(folder, path, '--roster', rosters);
  assert.is(code, 0);
  assert.match(text, `roster 2 ${grown.roster().hash}`);
  assert.is((await run(folder, path, '--roster', grown.roster().hash)).code, 1, 'the hash alone does not join');
});

test('the signed genesis that a cluster writes is a pin by its hash alone, at home too', async ({ folder }) => {
  const path = await write(folder, 'bundle.json', good);
  const { text } = log.roster();
  const genesis = await write(folder, 'genesis.json', [{ statement: text, signatures: [] }]);
  const given = await run(folder, path, '--roster', genesis);
  assert.equal([given.code, given.notes], [0, []]);
  await mkdir(join(folder, 'home'));
  await write(folder, 'home/roster.json', [{ statement: text, signatures: [] }]);
  for (const flags of [[], ['--json']]) {
    const local = await run(folder, path, ...flags);
    assert.equal([local.code, local.notes.length], [0, 1]);
    assert.match(local.notes[0] ?? '', `pinned by ${join(folder, 'home/roster.json')}`);
  }
  const stranger = await FederationLog.create({ seed: 'stranger' });
  await write(folder, 'home/roster.json', [{ statement: stranger.roster().text, signatures: [] }]);
  assert.is((await run(folder, path)).code, 1);
});

test('a file that is no roster file, or whose rosters do not join, is refused before any bundle', async ({
  folder,
}) => {
  const path = await write(folder, 'bundle.json', good);
  const { text } = log.roster();
  const entry = { text, decision: null };
  for (const value of [
    '{',
    {},
    [],
    [{ text: '{}', decision: null }],
    [entry, entry],
    [{ statement: '{}', signatures: [] }],
  ]) {
    const roster = await write(folder, 'roster.json', value);
    assert.instance(await refusal(run(folder, path, '--roster', roster)), UnreadableFileError, JSON.stringify(value));
  }
  const signed = { statement: text, signatures: [] };
  const two = await write(folder, 'two.json', [signed, signed]);
  assert.match(String(await refusal(run(folder, path, '--roster', two))), /names no decisions/);
});

test('revocations that are brought contradict a bundle that leaves them out', async ({ folder }) => {
  const made = await FederationLog.create({ quorum: 2 });
  const record = await made.record('eu');
  const path = await write(folder, 'bundle.json', await bundleOf(made, record));
  const compromisedSince = timestampOf(made.now - 3_600_000);
  const revoked = await made.revoke('eu', { reason: 'compromised', compromisedSince });
  const checkpoints = await Promise.all(['us', 'ca', 'sg'].map((node) => made.checkpoint(node)));
  const revocations = revocationProofs(made, [revoked], sizesOf(checkpoints));
  const file = await write(folder, 'revocations.json', { revocations, checkpoints, keys: made.certificates });
  assert.is((await run(folder, path, '--roster', made.genesis)).code, 0);
  const { code, text } = await run(folder, path, '--roster', made.genesis, '--revocations', file);
  assert.is(code, 1);
  assert.match(text, /NOT VERIFIED \(contradicted\)/);
  const list = await write(folder, 'list.json', []);
  const args = [path, '--roster', made.genesis, '--revocations', list];
  assert.instance(await refusal(run(folder, ...args)), UnreadableFileError);
});

test('flags that there are not, and no file at all, are errors of usage', async ({ folder }) => {
  for (const args of [[], ['x.json', '--require-quorum'], ['x.json', '--roster']]) {
    assert.instance(await refusal(run(folder, ...args)), UsageError, args.join(' '));
  }
  assert.is((await run(folder, '--help')).code, 0);
});

test('a proof of misbehaviour is judged by the same pin: proven, two signed, unpinned, refused, unreadable', async ({
  folder,
}) => {
  const lie = await (await FederationLog.create({ quorum: 2 })).record('us');
  const liar = await FederationLog.create({ quorum: 2 });
  liar.decide(lie);
  const proven = await proofOf(log, await falseCheckpoint(log, await liar.checkpoint('sg')));
  const rival = await log.seal('eu', [{ payload: { data: 'another' } }], { batch: 1, first: 1, prev: null });
  const named = twoEnvelopes(decidedName(log, sealed), new LedgerReading(log).name(rival));
  const signed = await proofOf(log, named);
  const of = async (name: string, value: unknown, ...args: readonly string[]) =>
    run(folder, await write(folder, name, value), ...args);
  const { code, lines } = await of('proven.json', proven, '--roster', pin);
  assert.is(code, 0);
  assert.is(lines[0], 'PROVEN: false-checkpoint by sg');
  assert.is((await of('signed.json', signed, '--roster', pin)).code, 4);
  assert.is((await of('proven.json', proven)).code, 3);
  assert.is((await of('few.json', { ...proven, checkpoints: [] }, '--roster', pin)).code, 5);
  assert.is((await of('unsigned.json', { ...signed, keys: [] }, '--roster', pin)).code, 1);
  assert.is((await of('old.json', { ...proven, format: 'meridian-proof/1' }, '--roster', pin)).code, 2);
  const json = await of('proven.json', proven, '--roster', pin, '--json');
  const { word, accused, misdeed, verified } = JSON.parse(json.text);
  assert.equal([word, accused, misdeed, verified], ['proven', 'sg', 'false-checkpoint', false]);
  const several = await run(folder, join(folder, 'signed.json'), join(folder, 'proven.json'), '--roster', pin);
  assert.is(several.code, 4);
  assert.match(several.text, /signed\.json: NOT PROVEN \(two-signed\): two-envelopes by eu, batch 1/);
});

const period = await packedPeriod();
const pack = await packOf(period);

test('a pack of evidence is judged whole: its word, its records, its manifest and its pin', async ({ folder }) => {
  const path = join(folder, 'pack.zip');
  await writeFile(path, pack);
  const { code, text } = await run(folder, path, '--roster', period.log.genesis);
  assert.is(code, 0);
  assert.match(text, /^VERIFIED: /);
  assert.match(text, /records {5}6 of 1 sources: 6 verified/);
  assert.match(text, /manifest {4}sha256:[0-9a-f]{64}/);
  assert.is((await run(folder, path)).code, 3);
});

test('what a pack cannot show is printed: where it begins and ends, and which source has nothing at which node', async ({
  folder,
}) => {
  const path = join(folder, 'cut.zip');
  const us = { node: period.log.member('us').node, seq: 5_000 };
  const question = { ...period.manifest.question, withholdsBefore: true as const };
  const manifest = { question, reach: [...period.manifest.reach, us] };
  await writeFile(path, await packOf(period, { places: [[], [3], []], manifest }));
  const { code, text } = await run(folder, path, '--roster', period.log.genesis);
  assert.is(code, 0);
  const lines = text.split('\n');
  for (const line of [
    'begin       that no record of the period came before the first one of 1 sources is the node’s word',
    'end         that no record followed the last one of 1 sources is the node’s word',
    'nothing     of loans at us: the node’s word too',
  ]) {
    assert.ok(lines.includes(line), text);
  }
});

test('a changed byte of a pack is named with its file, for people and for programs', async ({ folder }) => {
  const changed = Uint8Array.from(pack);
  const at = Buffer.from(pack).indexOf('index.html of a test');
  changed[at] = 0x49;
  const path = join(folder, 'pack.zip');
  await writeFile(path, changed);
  const { code, text } = await run(folder, path, '--roster', period.log.genesis);
  assert.is(code, 1);
  assert.match(text, /^NOT VERIFIED \(not-whole\)/);
  assert.match(text, /file-changed: index.html/);
  const { word, problems } = JSON.parse((await run(folder, path, '--json', '--roster', period.log.genesis)).text);
  assert.is(word, 'not-whole');
  assert.is(problems[0].path, 'index.html');
  const cut = join(folder, 'cut.zip');
  await writeFile(cut, pack.subarray(0, 1000));
  const several = await run(folder, path, cut);
  assert.is(several.code, 1);
  assert.match(several.text, /cut.zip: NOT VERIFIED \(not-whole\)/);
});

test.run();
