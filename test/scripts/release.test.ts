import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nobleSuite } from '../../protocol/suite/noble.ts';
import { fingerprintWords } from '../../protocol/verdict/fingerprint-words.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { bundleOf } from '../fixtures/federation-log-bundle.ts';
import { FederationLog } from '../fixtures/federation-log.ts';
import { packedPeriod, packOf } from '../fixtures/judged-pack.ts';

const RELEASE = join(import.meta.dirname, '../../scripts/release.ts');
const NAMES = ['SHA256SUMS', 'meridian-verify.html', 'meridian-verify.mjs'];
/** Places at which one byte of a bundle is flipped. */
const FLIPS = 40;

const folder = await mkdtemp(join(tmpdir(), 'meridian-release-'));
test.after(() => rm(folder, { recursive: true, force: true }));
const log = await FederationLog.create();
const sealed = await log.record('eu', [{}, {}, {}, {}]);
const text = JSON.stringify(await bundleOf(log, sealed, 2, { disclosed: true }));
const words = fingerprintWords(nobleSuite, log.genesis).join(' ');

function made(name: string, variables: Readonly<Record<string, string>>): string {
  const out = join(folder, name);
  const options = { cwd: folder, env: { ...CHILD_ENVIRONMENT, ...variables }, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync(process.execPath, [RELEASE, '--out', out], options);
  assert.is(status, 0, stderr);
  return out;
}

function verify(...args: readonly string[]) {
  return verifyIn(folder, {}, ...args);
}

function verifyIn(cwd: string, variables: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const script = join(folder, 'one', 'meridian-verify.mjs');
  return spawnSync(process.execPath, [script, ...args], {
    cwd,
    env: { ...CHILD_ENVIRONMENT, ...variables },
    encoding: 'utf8',
  });
}

test('the same sources make the same bytes, wherever and in whatever time zone they are made', async () => {
  const [one, other] = [made('one', { TZ: 'UTC' }), made('other', { TZ: 'Asia/Tokyo', LANG: 'tr_TR.UTF-8' })];
  for (const name of NAMES) assert.equal(await readFile(join(one, name)), await readFile(join(other, name)), name);
  const { status, stdout } = spawnSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: one, encoding: 'utf8' });
  assert.is(status, 0, stdout);
});

test('a folder that cannot be made or written is told in one line', async () => {
  const file = join(folder, 'a-file');
  await writeFile(file, '');
  await mkdir(join(folder, 'taken', 'meridian-verify.html'), { recursive: true });
  for (const out of [file, join(file, 'within'), join(folder, 'taken')]) {
    const options = { cwd: folder, env: CHILD_ENVIRONMENT, encoding: 'utf8' } as const;
    const { status, stderr } = spawnSync(process.execPath, [RELEASE, '--out', out], options);
    assert.is(status, 2, stderr);
    assert.match(stderr, /^\S+: E[A-Z]+: [^\n]+; --help says more\n$/);
  }
});

test('no file of a release names the machine that made it, or loads anything', async () => {
  for (const name of NAMES) {
    const contents = await readFile(join(folder, 'one', name), 'utf8');
    assert.not.ok(contents.includes(folder) || contents.includes(process.cwd()), name);
  }
  const page = await readFile(join(folder, 'one', 'meridian-verify.html'), 'utf8');
  assert.not.match(page, /<script[^>]+src|<link[^>]+stylesheet/);
  assert.match(page, /default-src 'none'; script-src 'sha256-/);
});

test('the file takes a fingerprint as 24 words, says the verdict first and last, and writes a page of it', async () => {
  const bundle = join(folder, 'bundle.json');
  await writeFile(bundle, text);
  const report = join(folder, 'report.html');
  const { status, stdout } = verify(bundle, '--roster', words, '--html', report);
  assert.is(status, 0, stdout);
  const lines = stdout.trim().split('\n');
  assert.match(lines[0] ?? '', /^VERIFIED/);
  assert.is(lines.at(-1), lines[0]);
  const page = await readFile(report, 'utf8');
  assert.match(page, /<h1>VERIFIED/);
  assert.not.match(page, /<script/);
  assert.is(verify(bundle).status, 3);
  assert.is(verify(bundle, '--roster', words.replace(/^\w+/, 'zoo')).status, 2);
});

test('no folder brings its own pin', async () => {
  const forged = join(folder, 'forged');
  const home = join(forged, '.meridian');
  await mkdir(home, { recursive: true });
  const forger = await FederationLog.create({ seed: 'the forger' });
  await writeFile(join(forged, 'bundle.json'), JSON.stringify(await bundleOf(forger, await forger.record('eu'))));
  await writeFile(join(home, 'roster.json'), JSON.stringify([{ statement: forger.roster(1).text, signatures: [] }]));
  for (const variables of [{}, { MERIDIAN_HOME: home }]) {
    const { status, stdout } = verifyIn(forged, variables, 'bundle.json');
    assert.is(status, 3, stdout);
    assert.match(stdout, /^NOT VERIFIED \(consistent\)/);
  }
  assert.is(verifyIn(forged, {}, 'bundle.json', '--roster', join(home, 'roster.json')).status, 0);
});

test('what a file says is no markup of the page', async () => {
  const hostile = join(folder, '<img src=x>.json');
  await writeFile(hostile, '<script>alert(1)</script>');
  const report = join(folder, 'hostile.html');
  assert.is(verify(hostile, '--html', report).status, 2);
  assert.not.match(await readFile(report, 'utf8'), /<img|<script/);
});

test('one flipped byte anywhere is found', async () => {
  const bytes = Buffer.from(text);
  const flipped = join(folder, 'flipped');
  await mkdir(flipped);
  for (let i = 0; i < FLIPS; i++) {
    const copy = Buffer.from(bytes);
    const at = Math.floor(((i + 0.5) / FLIPS) * bytes.length);
    copy[at] = (copy[at] ?? 0) ^ 1;
    await writeFile(join(flipped, `${String(i).padStart(3, '0')}.json`), copy);
  }
  const { status, stdout } = verify(flipped, '--roster', words, '--json');
  assert.is.not(status, 0);
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.is(answers.length, FLIPS);
  const whole = JSON.parse(verify(join(folder, 'bundle.json'), '--roster', words, '--json').stdout);
  for (const { file, ...answer } of answers) {
    const isSame = JSON.stringify({ ...answer, file: whole.file }) === JSON.stringify(whole);
    assert.not.ok(isSame, `${file}: nothing is said of it`);
    if (answer.word !== 'verified') assert.ok(answer.word === 'unreadable' || answer.problems.length > 0, file);
  }
});

test('the script proves a pack of evidence, and names the file that was changed in one', async () => {
  const period = await packedPeriod();
  const pack = await packOf(period);
  await writeFile(join(folder, 'pack.zip'), pack);
  const good = verify('pack.zip', '--roster', period.log.genesis);
  assert.is(good.status, 0, good.stderr);
  assert.match(good.stdout, /^VERIFIED: /);
  const at = Buffer.from(pack).indexOf('records.csv of a test');
  pack[at] = 0;
  await writeFile(join(folder, 'changed.zip'), pack);
  const changed = verify('changed.zip', '--roster', period.log.genesis);
  assert.is(changed.status, 1);
  assert.match(changed.stdout, /file-changed: records.csv/);
});

test.run();
