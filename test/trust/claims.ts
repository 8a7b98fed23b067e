import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import type { Known } from '../../protocol/verdict/known.ts';
import { parseBundleText } from '../../protocol/verdict/parse.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import { EXIT_CODES, type Word } from '../../protocol/verdict/word.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';

const COMMAND = join(import.meta.dirname, '../../scripts/verify.ts');
const DEADLINE_MS = 120_000;

/** What a stranger with a file knows; a node knows its own log beside it, which no command line does. */
export type Knowledge = Pick<Known, 'pin' | 'revocations' | 'rosters'>;

export interface Claim {
  readonly what: string;
  readonly bundle: Bundle;
  readonly known: Knowledge;
  readonly word: Word;
  /** Words on the linked records. Default: not looked at. */
  readonly linked?: readonly Word[];
}

interface Attack {
  readonly name: string;
  readonly claims: readonly Claim[];
  readonly failure: unknown;
}

/** Says what a test claims; what is thrown fails the test. */
export type Build = (claim: (claim: Claim) => void) => Promise<void>;

/**
 * Registers a test for each attack, whose every bundle is judged by the library and by the command line, which is a process
 * of its own: one for all bundles of a file that are judged by the same knowledge.
 */
export async function trustTests(attacks: Readonly<Record<string, Build>>): Promise<void> {
  const built: Attack[] = [];
  for (const [name, build] of Object.entries(attacks)) built.push(await attackOf(name, build));
  const told = commandLine(built.flatMap(({ claims }) => claims));
  for (const { name, claims, failure } of built) {
    test(name, () => {
      if (failure !== null) throw failure;
      assert.ok(claims.length > 0);
      for (const claim of claims) assertClaim(claim, told.get(claim));
    });
  }
  test.run();
}

async function attackOf(name: string, build: Build): Promise<Attack> {
  const claims: Claim[] = [];
  try {
    await build((claim) => claims.push(claim));
  } catch (failure) {
    return { name, claims: [], failure };
  }
  return { name, claims, failure: null };
}

function assertClaim({ what, bundle, known, word, linked }: Claim, said: Verdict | undefined): void {
  const verdict = verifyBundle(nativeSuite, parseBundleText(JSON.stringify(bundle)), known);
  for (const [where, found] of [['library', verdict], ['command line', said]] as const) {
    assert.is(found?.word, word, `${what}, ${where}: ${JSON.stringify(found?.problems)}`);
    assert.is(found?.exitCode, EXIT_CODES[word]);
    assert.is(found?.verified, word === 'verified');
    if (linked !== undefined) assert.equal(found?.linked.map((one) => one.word), linked, `${what}, ${where}`);
  }
  const codes = (from: Verdict | undefined) => from?.problems.map(({ code }) => code);
  assert.equal(codes(said), codes(verdict), what);
}

function commandLine(claims: readonly Claim[]): ReadonlyMap<Claim, Verdict> {
  const told = new Map<Claim, Verdict>();
  for (const group of Map.groupBy(claims, ({ known }) => JSON.stringify(known)).values()) {
    for (const [claim, verdict] of judgedTogether(group)) told.set(claim, verdict);
  }
  return told;
}

function judgedTogether(claims: readonly Claim[]): readonly (readonly [Claim, Verdict])[] {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-trust-'));
  try {
    const bundles = join(folder, 'bundles');
    mkdirSync(bundles);
    const files = claims.map((_, i) => join(bundles, `${String(i).padStart(4, '0')}.json`));
    for (const [i, { bundle }] of claims.entries()) writeFileSync(files[i] ?? '', JSON.stringify(bundle));
    const args = [COMMAND, bundles, '--json', ...flagsOf(folder, claims[0]?.known ?? {})];
    const env = { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: folder };
    const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8', timeout: DEADLINE_MS, maxBuffer: 1 << 28 });
    const lines = stdout.split('\n').filter((line) => line !== '');
    assert.is(lines.length, claims.length, stderr);
    const verdicts = new Map(lines.map((line) => [String(JSON.parse(line).file), JSON.parse(line)]));
    return claims.map((claim, i) => [claim, verdicts.get(files[i] ?? '')] as const);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function flagsOf(folder: string, { pin, rosters, revocations }: Knowledge): readonly string[] {
  const written = (name: string, value: unknown) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };
  if (pin !== undefined && rosters !== undefined) throw new Error('the command line takes one of pin and rosters');
  return [
    ...(pin === undefined ? [] : ['--roster', pin]),
    ...(rosters === undefined ? [] : ['--roster', written('rosters.json', rosters)]),
    ...(revocations === undefined ? [] : ['--revocations', written('revocations.json', revocations)]),
  ];
}
