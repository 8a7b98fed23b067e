import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';
import type { Bundle } from '../../../protocol/verdict/bundle.ts';
import type { Known } from '../../../protocol/verdict/known.ts';
import { parseBundle } from '../../../protocol/verdict/parse.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import type { Word } from '../../../protocol/verdict/word.ts';
import type { FederationLog } from '../../fixtures/federation-log.ts';

/** The verdict of a verifier that pins the genesis of the log, unless it knows something else. */
export function verdictOf(log: FederationLog, bundle: Bundle, known: Known = { pin: log.genesis }): Verdict {
  return verifyBundle(nativeSuite, parseBundle(bundle), known);
}

export function wordOf(log: FederationLog, bundle: Bundle, known?: Known): Word {
  return verdictOf(log, bundle, known).word;
}

/** Codes of what speaks against a bundle, sorted, each once. */
export function codesOf({ problems }: Pick<Verdict, 'problems'>): readonly string[] {
  return [...new Set(problems.map(({ code }) => code))].sort();
}

/** The verdict, and how many signatures it cost. */
export function counted(bundle: Bundle, known: Known): { readonly verdict: Verdict; readonly signatures: number } {
  let signatures = 0;
  const counting: Suite = {
    ...nativeSuite,
    verify(...signed) {
      signatures++;
      return nativeSuite.verify(...signed);
    },
  };
  const verdict = verifyBundle(counting, bundle, known);
  return { verdict, signatures };
}

/** The only item of a list that a test knows to have one, or the one at `i`. */
export function at<Item>(items: readonly Item[] | undefined, i = 0): Item {
  const item = items?.[i];
  if (item === undefined) throw new RangeError(`there is no item ${i}`);
  return item;
}

/** A text with one member of its JSON changed, written as it was: canonical where it was. */
export function withMember(text: string, name: string, value: unknown): string {
  const members: Record<string, unknown> = JSON.parse(text);
  return JSON.stringify({ ...members, [name]: value });
}
