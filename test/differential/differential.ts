import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { parseBundleText } from '../../protocol/verdict/parse.ts';
import { Random } from '../fuzz/random.ts';
import { type Corpus, createCorpus } from './corpus.ts';
import { FORGED } from './forgeries.ts';
import { type Answer, type Judge, UNREADABLE } from './judge.ts';
import { libraryJudge } from './judges.ts';
import { faultOfNode, type Knowing, knowingOf, type Strangers } from './knowing.ts';
import { KEYLESS, type Mutation, WHOLE } from './mutations.ts';
import { faultOfRecord, faultOfVerified } from './truth.ts';

/** Bundles that are generated and judged before the next ones are. */
const ROUND = 500;
/** Chance that a bundle stays whole, and that a spoilt one is spoilt by anyone who has the liars' keys. */
const WHOLE_CHANCE = 0.2;
const FORGED_CHANCE = 0.4;
/** Chance that a change is followed by another. */
const TWICE_CHANCE = 0.2;

/** A bundle on which judges differ, or that is verified and may not be. */
export interface Disagreement {
  readonly name: string;
  readonly text: string;
  readonly what: string;
}

export interface Report {
  readonly bundles: number;
  readonly words: ReadonlyMap<string, number>;
  readonly mutations: ReadonlyMap<string, number>;
  readonly findings: readonly Disagreement[];
}

export interface Terms {
  readonly bundles: number;
  readonly seed: number;
  /** Strangers: they know the pin and nothing else. */
  readonly judges: readonly Judge[];
  /** Default: one made of the seed. */
  readonly corpus?: Corpus;
  /** A node of the generated federation, which knows its log. Default: none. */
  readonly node?: (corpus: Corpus) => Promise<Judge>;
  /** Told after each round. */
  readonly onRound?: (done: number) => void;
}

interface Case {
  readonly name: string;
  readonly text: string;
}

/**
 * Judges generated bundles by each judge. A finding is any difference between two strangers, any answer of the node
 * that is not a stranger's who was brought all that the node knows (`knowingOf`), and a verified bundle that does not
 * say what happened, or has no quorum.
 */
export async function differential({
  bundles,
  seed,
  judges,
  node: openNode,
  onRound,
  ...terms
}: Terms): Promise<Report> {
  const random = new Random(seed);
  const corpus = terms.corpus ?? (await createCorpus(`differential/${seed}`));
  await using node = (await openNode?.(corpus)) ?? null;
  const words = new Map<string, number>();
  const mutations = new Map<string, number>();
  const findings: Disagreement[] = [];
  for (let done = 0; done < bundles;) {
    const cases: Case[] = [];
    while (cases.length < Math.min(ROUND, bundles - done)) cases.push(await nextCase(random, corpus));
    const texts = cases.map(({ text }) => text);
    const answers = await Promise.all(judges.map((judge) => judge.judge(texts, corpus.pin)));
    for (const [i, one] of cases.entries()) {
      const each = answers.map((ofJudge) => ofJudge[i]);
      const word = each[0]?.word ?? 'no answer';
      words.set(word, (words.get(word) ?? 0) + 1);
      mutations.set(one.name, (mutations.get(one.name) ?? 0) + 1);
      const what = findingIn(corpus, one.text, judges, each);
      if (what !== null) findings.push({ ...one, what });
    }
    for (const [i, what] of await nodeFindings(corpus, node, texts)) {
      const one = cases[i];
      if (one !== undefined) findings.push({ ...one, what });
    }
    done += cases.length;
    onRound?.(done);
  }
  return { bundles, words, mutations, findings };
}

/** By place of the text. */
async function nodeFindings(corpus: Corpus, node: Judge | null, texts: readonly string[]): Promise<[number, string][]> {
  if (node === null) return [];
  await using stranger = libraryJudge();
  const known = texts.map((text) => {
    const bundle = readable(text);
    return bundle === null ? null : { bundle, knowing: knowingOf(corpus, bundle) };
  });
  const ask = (of: (knowing: Knowing) => Bundle) => {
    return stranger.judge(
      known.map((one) => (one === null ? '' : JSON.stringify(of(one.knowing)))),
      corpus.pin,
    );
  };
  const answers = await node.judge(texts, corpus.pin);
  const [full, told] = [await ask((knowing) => knowing.full), await ask((knowing) => knowing.told)];
  return known.flatMap((one, i): [number, string][] => {
    const fault = nodeFault(corpus, one, answers[i], { full: full[i] ?? UNREADABLE, told: told[i] ?? UNREADABLE });
    return fault === null ? [] : [[i, `node: ${fault}`]];
  });
}

function nodeFault(
  corpus: Corpus,
  known: { readonly bundle: Bundle; readonly knowing: Knowing } | null,
  answer: Answer = { ...UNREADABLE, word: 'no answer' },
  strangers: Strangers,
): string | null {
  if (known === null) {
    return answer.word === UNREADABLE.word ? null : `it is unreadable, and the node says ${answer.word}`;
  }
  const fault = faultOfNode(answer, strangers, known.knowing);
  if (fault !== null || answer.word !== 'verified') return fault;
  const wrong = faultOfRecord(corpus, known.bundle);
  return wrong === null ? null : `verified, though ${wrong}`;
}

async function nextCase(random: Random, corpus: Corpus): Promise<Case> {
  const bundle = random.pick(corpus.bundles);
  if (random.chance(WHOLE_CHANCE)) return changed(random, corpus, bundle, WHOLE);
  const first = await changed(random, corpus, bundle, random.chance(FORGED_CHANCE) ? FORGED : KEYLESS);
  if (!random.chance(TWICE_CHANCE)) return first;
  const again = readable(first.text);
  if (again === null) return first;
  const { name, text } = await changed(random, corpus, again, KEYLESS);
  return { name: `${first.name}, ${name}`, text };
}

async function changed(
  random: Random,
  corpus: Corpus,
  bundle: Parameters<Mutation>[2],
  by: Readonly<Record<string, Mutation>>,
): Promise<Case> {
  const [name, mutation] = random.pick(Object.entries(by));
  return { name, text: await mutation(random, corpus, bundle) };
}

function readable(text: string) {
  try {
    return parseBundleText(text);
  } catch {
    return null;
  }
}

function findingIn(
  corpus: Corpus,
  text: string,
  judges: readonly Judge[],
  answers: readonly (Answer | undefined)[],
): string | null {
  const [first] = answers;
  const said = (answer: Answer | undefined) => JSON.stringify(answer ?? null);
  const other = answers.findIndex((answer) => said(answer) !== said(first));
  if (other >= 0) return `${judges[0]?.name}: ${said(first)}\n${judges[other]?.name}: ${said(answers[other])}`;
  if (first?.word !== 'verified') return null;
  const bundle = readable(text);
  const fault = bundle === null ? 'it is unreadable' : faultOfVerified(corpus, bundle);
  return fault === null ? null : `verified, though ${fault}`;
}
