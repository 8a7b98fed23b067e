import type { Known } from '../../../protocol/verdict/known.ts';
import { parseBundleText } from '../../../protocol/verdict/parse.ts';
import type { Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { type CheckedBy, judgeWithWebCrypto } from './web-crypto-suite.ts';

/** The verdict on a bundle or a public proof by what is known. Throws `FileError` and `JsonError` where it is neither. */
export async function judgeBundleText(
  text: string,
  known: Known,
): Promise<{ readonly verdict: Verdict; readonly checkedBy: CheckedBy }> {
  const bundle = parseBundleText(text);
  return judgeWithWebCrypto((suite) => verifyBundle(suite, bundle, known));
}
