import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { LogAnswers, LogQuestions } from '../../node/verification/log-knowledge.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import type { Known } from '../../protocol/verdict/known.ts';
import { parseBundleText } from '../../protocol/verdict/parse.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import { EXIT_CODES, type Word } from '../../protocol/verdict/word.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { DecidedLog } from '../fixtures/decided-log.ts';
import type { FederationLog } from '../fixtures/federation-log.ts';
import { serveJudgingNode } from '../fixtures/judging-node.ts';

const COMMAND = join(import.meta.dirname, '../../scripts/verify.ts');
const DEADLINE_MS = 120_000;

/** What a stranger with a file knows. */
export type Knowledge = Pick<Known, 'pin' | 'revocations' | 'rosters'>;

export interface Claim {
  readonly what: string;
  readonly bundle: Bundle;
  readonly known: Knowledge;
  readonly word: Word;
  /** The log as it is now: a node that has read it judges too, to which no checkpoint has come but the bundle's. */
  readonly log?: FederationLog;
  /** The word of that node, where its log has something otherwise. Default: the same word. */
  readonly atNode?: Word;
  /** Words on the linked records. Default: not looked at. */
  readonly linked?: readonly Word[];
  /** The same of that node. Default: the same words. */
  readonly linkedAtNode?: readonly Word[];
}

/** A claim and what the log was when it was made: what is decided later changes nothing of it. */
interface Made extends Claim {
  readonly read: ((questions: LogQuestions) => LogAnswers) | null;
}

interface Attack {
  readonly name: string;
  readonly claims: readonly Made[];
  readonly failure: unknown;
}

/** Says what a test claims; what is thrown fails the test. */
export type Build = (claim: (claim: Claim) => void) => Promise<void>;

/**
 * Registers a test for each attack, whose every bundle is judged by the library, by the command line, which is a
 * process of its own: one for all bundles of a file that are judged by the same knowledge, and by a node that has read
 * the log.
 */
export async function trustTests(attacks: Readonly<Record<string, Build>>): Promise<void> {
  const built: Attack[] = [];
  for (const [name, build] of Object.entries(attacks)) built.push(await attackOf(name, build));
  const claims = built.flatMap((attack) => attack.claims);
  const told = commandLine(claims);
  const atNode = await nodeVerdicts(claims);
  for (const { name, claims: made, failure } of built) {
    test(name, () => {
      if (failure !== null) throw failure;
      assert.ok(made.length > 0);
      for (const claim of made) {
        assertClaim(claim, told.get(claim));
        if (claim.read !== null) assertAtNode(claim, atNode.get(claim));
      }
    });
  }
  test.run();
}

async function attackOf(name: string, build: Build): Promise<Attack> {
  const claims: Made[] = [];
  try {
    await build((claim) => claims.push({ ...claim, read: claim.log === undefined ? null : readOf(claim.log) }));
  } catch (failure) {
    return { name, claims: [], failure };
  }
  return { name, claims, failure: null };
}

function assertClaim({ what, bundle, known, word, linked }: Claim, said: Verdict | undefined): void {
  const verdict = verifyBundle(nativeSuite, parseBundleText(JSON.stringify(bundle)), known);
  for (const [where, found] of [
    ['library', verdict],
    ['command line', said],
  ] as const) {
    assert.is(found?.word, word, `${what}, ${where}: ${JSON.stringify(found?.problems)}`);
    assert.is(found?.exitCode, EXIT_CODES[word]);
    assert.is(found?.verified, word === 'verified');
    if (linked !== undefined) {
      assert.equal(
        found?.linked.map((one) => one.word),
        linked,
        `${what}, ${where}`,
      );
    }
  }
  const codes = (from: Verdict | undefined) => from?.problems.map(({ code }) => code);
  assert.equal(codes(said), codes(verdict), what);
}

function assertAtNode(
  { what, word, atNode = word, linked, linkedAtNode = linked }: Made,
  answer: NodeAnswer | undefined,
): void {
  assert.is(answer?.verdict.word, atNode, `${what}, node: ${JSON.stringify(answer?.problems)}`);
  assert.is(answer?.verified, atNode === 'verified', what);
  if (linkedAtNode !== undefined) {
    assert.equal(
      answer?.linked.map((one) => one.word),
      linkedAtNode,
      `${what}, node`,
    );
  }
}

interface NodeAnswer {
  readonly verified: boolean;
  readonly verdict: { readonly word: string };
  readonly problems: readonly unknown[];
  readonly linked: readonly { readonly word: string }[];
}

async function nodeVerdicts(claims: readonly Made[]): Promise<ReadonlyMap<Made, NodeAnswer>> {
  const answers = new Map<Made, NodeAnswer>();
  let read: Made['read'] = null;
  await using node = await serveJudgingNode({
    ask: async (questions) => {
      if (read === null) throw new Error('the node has read no log');
      return read(questions);
    },
  });
  for (const claim of claims) {
    read = claim.read;
    if (read !== null) answers.set(claim, await (await node.verify(JSON.stringify(claim.bundle))).json());
  }
  return answers;
}

/** What a node answers that has read the log of a federation so far. */
function readOf({ decisions, rosters, revocations }: FederationLog): (questions: LogQuestions) => LogAnswers {
  const log = new DecidedLog();
  log.decisions.push(...decisions);
  const textAt = (index: number | null) => (index === null ? null : (log.decisions[index] ?? null));
  const known = {
    rosters: rosters.map(({ text, index }) => ({ text, decision: textAt(index) })),
    revocations: revocations.map(({ revocation, signed, index }) => ({
      revocation,
      signed,
      decision: textAt(index) ?? '',
    })),
    unclear: [],
    checkpoints: [],
  };
  return ({ places, sizes, batches }) => ({
    ...known,
    roots: new Map(sizes.filter((size) => size <= log.size).map((size) => [size, log.rootAt(size)])),
    decisions: new Map(log.decisions.flatMap((text, place) => (places.includes(place) ? [[place, text]] : []))),
    batches: new Map(
      batches.flatMap(({ node, batch }) => {
        const decided = log.decisions.find((text) => namesBatch(text, node, batch));
        return decided === undefined ? [] : [[`${node} ${batch}`, decided]];
      }),
    ),
  });
}

function namesBatch(text: string, node: NodeId, batch: number): boolean {
  const message = parseLedgerMessage(decisionText.parse(text).message);
  return message.type === 'batch' && message.node === node && message.batch === batch;
}

/** What the command line says of each claim, whatever it claims. */
export function commandLine(claims: readonly Claim[]): ReadonlyMap<Claim, Verdict> {
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
    const { stdout, stderr } = spawnSync(process.execPath, args, {
      env,
      encoding: 'utf8',
      timeout: DEADLINE_MS,
      maxBuffer: 1 << 28,
    });
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
