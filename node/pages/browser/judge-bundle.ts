import type { Known } from '../../../protocol/verdict/known.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { parseBundleText } from '../../../protocol/verdict/parse.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { type PathStep, proofPath } from './proof-path.ts';
import { type CheckedBy, judgeWithWebCrypto } from './web-crypto-suite.ts';

/** What this browser found of a bundle. */
export interface JudgedBundle {
  readonly verdict: Verdict;
  readonly checkedBy: CheckedBy;
  readonly path: readonly PathStep[];
}

/** The verdict on a bundle or a public proof by what is known. Throws `FileError` and `JsonError` where it is neither. */
export async function judgeBundleText(text: string, known: Known): Promise<JudgedBundle> {
  const bundle = parseBundleText(text);
  const judged = await judgeWithWebCrypto((suite) => verifyBundle(suite, bundle, known));
  return { ...judged, path: proofPath(nobleSuite, bundle) };
}
