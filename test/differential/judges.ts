import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { isSha256Hash } from '../../protocol/hash.ts';
import { JsonError } from '../../protocol/json/value.ts';
import type { Suite } from '../../protocol/suite/suite.ts';
import { FileError } from '../../protocol/verdict/file-reader.ts';
import { parseBundleText } from '../../protocol/verdict/parse.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import { answersOfPage } from '../browser/page.ts';
import { browserOnPath, bundleVerifier, verifierApart } from '../browser/verifier-bundle.ts';
import { CHILD_ENVIRONMENT } from '../fixtures/child-environment.ts';
import { type Answer, answerOf, type Judge, UNREADABLE } from './judge.ts';

const COMMAND = join(import.meta.dirname, '../../scripts/verify.ts');
/** Characters of bundles on one page of a browser. */
const PAGE_CHARACTERS = 48 << 20;
const PAGE_DEADLINE_MS = 300_000;

/** Signatures that were checked, with what came of it: most bundles share rosters, certificates and checkpoints. */
const checked = new Map<string, boolean>();
const MOST_CHECKED = 100_000;

/** The native suite, which checks the same signature of the same bytes once. */
const suite: Suite = {
  ...nativeSuite,
  verify(publicKey, message, signature, context) {
    const lengths = [publicKey, message, signature].map(({ length }) => length).join();
    const name = nativeSuite.sha256Hex(`${context},${lengths},`, publicKey, message, signature);
    const known = checked.get(name);
    if (known !== undefined) return known;
    const holds = nativeSuite.verify(publicKey, message, signature, context);
    if (checked.size >= MOST_CHECKED) checked.clear();
    checked.set(name, holds);
    return holds;
  },
};

/** The library in this process, by the native suite. */
export function libraryJudge(): Judge {
  return {
    name: 'library',
    judge: async (texts, pin) => texts.map((text) => libraryAnswer(text, pin)),
    async [Symbol.asyncDispose]() {},
  };
}

function libraryAnswer(text: string, pin: string): Answer {
  if (!isSha256Hash(pin)) throw new TypeError('a pin is a hash');
  try {
    const { problems, linked, ...verdict } = verifyBundle(suite, parseBundleText(text), { pin });
    return answerOf(verdict, problems, linked);
  } catch (error) {
    if (error instanceof FileError || error instanceof JsonError) return UNREADABLE;
    throw error;
  }
}

/** The command line: one process over a folder. */
export function commandJudge(): Judge {
  return {
    name: 'command line',
    judge: (texts, pin) => commandAnswersOf([process.execPath, COMMAND], texts, pin),
    async [Symbol.asyncDispose]() {},
  };
}

/** What a command answers that takes a folder, `--roster` and `--json`. */
export async function commandAnswersOf(
  [program = '', ...args]: readonly string[],
  texts: readonly string[],
  pin: string,
): Promise<readonly Answer[]> {
  const folder = await mkdtemp(join(tmpdir(), 'meridian-differential-'));
  try {
    const bundles = join(folder, 'bundles');
    await mkdir(bundles);
    for (const [i, text] of texts.entries()) await writeFile(join(bundles, nameOf(i)), text);
    const child = spawn(program, [...args, bundles, '--roster', pin, '--json'], {
      env: { ...CHILD_ENVIRONMENT, MERIDIAN_HOME: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const answers = new Map<string, Answer>();
    for await (const line of createInterface({ input: child.stdout })) {
      const { file, problems = [], linked = [], ...verdict } = JSON.parse(line);
      answers.set(file, verdict.word === 'unreadable' ? UNREADABLE : answerOf(verdict, problems, linked));
    }
    return texts.map((_, i) => answers.get(join(bundles, nameOf(i))) ?? { ...UNREADABLE, word: 'no answer' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function nameOf(i: number): string {
  return `${String(i).padStart(6, '0')}.json`;
}

/** The script for browsers in a real one, or where there is none, in a context of its own without Node. */
export async function browserJudge(): Promise<Judge> {
  const { script } = await bundleVerifier();
  const browser = browserOnPath();
  if (browser === null) {
    const verify = verifierApart(script);
    return {
      name: 'script for browsers, without a browser',
      judge: async (texts, pin) => texts.map((text) => pageAnswer(verify(text, pin))),
      async [Symbol.asyncDispose]() {},
    };
  }
  return {
    name: 'browser',
    async judge(texts, pin) {
      const answers: Answer[] = [];
      for (const page of pagesOf(texts)) {
        const shown = await answersOfPage(
          browser,
          { script, texts: page.map((text) => [text, pin]) },
          PAGE_DEADLINE_MS,
        );
        answers.push(...page.map((_, i) => pageAnswer(shown[i] ?? '{"word":"no answer"}')));
      }
      return answers;
    },
    async [Symbol.asyncDispose]() {},
  };
}

function pageAnswer(text: string): Answer {
  const { problems = [], linked = [], ...verdict } = JSON.parse(text);
  if (verdict.word === 'unreadable') return UNREADABLE;
  return answerOf(verdict, problems, linked);
}

function pagesOf(texts: readonly string[]): readonly (readonly string[])[] {
  const pages: string[][] = [];
  let fixture = 0;
  for (const text of texts) {
    if (text.length > fixture) {
      pages.push([]);
      fixture = PAGE_CHARACTERS;
    }
    fixture -= text.length;
    pages.at(-1)?.push(text);
  }
  return pages;
}
