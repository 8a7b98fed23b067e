import type { ParseOptions } from '../../protocol/json/parse.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import type { BundleQuestions, JudgingTerms } from './judge-bundle.ts';
import { JudgingThread } from './judging-thread.ts';

/** A usual bundle has about 60,000. In characters. */
const SHORT_CHARACTERS = 256 << 10;

/** A short bundle waits behind none that is longer. */
export function isShortBundle(text: string): boolean {
  return text.length <= SHORT_CHARACTERS;
}

/** Judges bundles apart from the event loop: short ones in one thread, long ones in another. */
export class BundleJudge implements AsyncDisposable {
  readonly #short = new JudgingThread();
  readonly #long = new JudgingThread();

  /** What a bundle asks a node's log about. Throws what `JudgingThread.questions` throws. */
  questions(text: string, limits: ParseOptions): Promise<BundleQuestions> {
    return this.#threadFor(text).questions(text, limits);
  }

  /** Throws what `JudgingThread.judge` throws. */
  judge(text: string, terms: JudgingTerms): Promise<Verdict> {
    return this.#threadFor(text).judge(text, terms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#short[Symbol.asyncDispose](), this.#long[Symbol.asyncDispose]()]);
  }

  #threadFor(text: string): JudgingThread {
    return isShortBundle(text) ? this.#short : this.#long;
  }
}
