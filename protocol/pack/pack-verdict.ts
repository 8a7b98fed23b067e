import type { Sha256Hash } from '../hash.ts';
import type { NodeId, RecordId } from '../ids.ts';
import type { NamedRoster } from '../verdict/verdict.ts';
import { EXIT_CODES, type ExitCode, type Word, WORDS } from '../verdict/word.ts';
import type { PackManifest } from './manifest.ts';

/** What can be wrong with a pack beside its records. */
const PACK_PROBLEM_CODES = [
  'container',
  'file-missing',
  'file-changed',
  'line-malformed',
  'manifest-malformed',
  'manifest-mismatch',
  'manifest-signature',
  'rosters-broken',
  'record-foreign',
  'record-order',
  'record-does-not-hold',
  'sequence-broken',
  'neighbour-missing',
  'disclosure-missing',
  'disclosure-unasked',
] as const;
export type PackProblemCode = (typeof PACK_PROBLEM_CODES)[number];

/** Where something is wrong, and what. */
export interface PackProblem {
  readonly code: PackProblemCode;
  /** The file in the pack; null where it is the container. */
  readonly path: string | null;
  /** The record that it is about. */
  readonly id: RecordId | null;
  readonly detail: string;
}

/** Problems that a verdict names; it counts the others. */
export const MAX_PACK_PROBLEMS = 200;

/** A source that was asked for, and a node that has no record of it in the pack. */
export interface EmptySource {
  readonly sourceId: string;
  readonly node: NodeId;
}

/** Empty sources that a verdict names; it counts the others. */
export const MAX_EMPTY_SOURCES = 200;

/** Words of a verdict on a pack, beside those on records: the first that fits stands before any of these. */
const PACK_WORDS = {
  'not-whole': 1,
  'not-signed-by-node': 1,
  'not-signed-by-home': 1,
  'sequence-broken': 1,
} as const satisfies Readonly<Record<string, ExitCode>>;
export type PackWord = keyof typeof PACK_WORDS | Word;

/** What came of a pack. */
export interface PackVerdict {
  readonly word: PackWord;
  readonly exitCode: ExitCode;
  /** Only where the word is: every file is whole, every record is verified, and every source is without a gap. */
  readonly verified: boolean;
  /** What it says that it is; null where its manifest does not read. Who signed it holds only where the word is good. */
  readonly manifest: PackManifest | null;
  readonly manifestHash: Sha256Hash | null;
  /** Records that were looked at, and how many have each word. */
  readonly records: number;
  readonly words: Readonly<Partial<Record<Word, number>>>;
  /** Records whose contents are disclosed and are what was recorded. */
  readonly disclosed: number;
  /** Records of other nodes than the account's home: that these speak for the account is not for a pack to show. */
  readonly elsewhere: number;
  /**
   * First records of sources, not of before the period, before which there were others that the pack does not hold: that
   * these were none of the period is its maker's word.
   */
  readonly openBegins: number;
  /** Last records of sources after which the pack holds no neighbour: that none followed is its maker's word. */
  readonly openEnds: number;
  readonly sources: number;
  /**
   * Sources that were asked for, and nodes of its reach, or the account's home, of whose records of them it holds none:
   * that there was nothing is its maker's word. The first by order of sources.
   */
  readonly emptySources: readonly EmptySource[];
  /** With those that are not named. */
  readonly emptyCount: number;
  readonly problems: readonly PackProblem[];
  /** With those that are not named. */
  readonly problemCount: number;
  readonly federation: Sha256Hash | null;
  readonly pinned: NamedRoster | null;
  /** Nodes whose records are in it. */
  readonly nodes: readonly NodeId[];
}

const WHOLE: ReadonlySet<PackProblemCode> = new Set([
  'container',
  'file-missing',
  'file-changed',
  'line-malformed',
  'manifest-malformed',
  'manifest-mismatch',
  'record-foreign',
  'record-order',
  'disclosure-missing',
  'disclosure-unasked',
]);
const SEQUENCE: ReadonlySet<PackProblemCode> = new Set(['sequence-broken', 'neighbour-missing']);

/** The word on a pack: by what is wrong with it, then the one of its worst record; `whenEmpty` where it has none. */
export function packWordOf(
  codes: ReadonlySet<PackProblemCode>,
  words: PackVerdict['words'],
  whenEmpty: PackWord,
): PackWord {
  if ([...codes].some((code) => WHOLE.has(code))) return 'not-whole';
  const worst = worstOf(words);
  // Of whom rosters do not hold, nobody has signed: what is said of that says more than that the manifest is unsigned.
  if (codes.has('rosters-broken')) return unlessGood(worst ?? whenEmpty) ?? 'rosters-do-not-join';
  if (codes.has('manifest-signature')) return 'not-signed-by-node';
  const bad = worst && unlessGood(worst);
  if (bad !== undefined) return bad;
  if ([...codes].some((code) => SEQUENCE.has(code))) return 'sequence-broken';
  return worst ?? whenEmpty;
}

function unlessGood(word: PackWord): PackWord | undefined {
  return word === 'verified' || word === 'consistent' ? undefined : word;
}

/** The exit code of the command line (protocol §8). */
export function packExitCode(word: PackWord): ExitCode {
  return { ...EXIT_CODES, ...PACK_WORDS }[word];
}

function worstOf(words: PackVerdict['words']): Word | undefined {
  return WORDS.find((word) => (words[word] ?? 0) > 0);
}
