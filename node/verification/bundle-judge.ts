import type { JudgedBundle, JudgingTerms } from './judge-bundle.ts';
import { JudgingThread } from './judging-thread.ts';

/** Bundles up to this length wait behind none that are longer. A usual one has about 60,000. In characters. */
const SHORT_CHARACTERS = 256 << 10;

/** Judges bundles apart from the event loop: short ones in one thread, long ones in another. */
export class BundleJudge implements AsyncDisposable {
  readonly #short = new JudgingThread();
  readonly #long = new JudgingThread();

  /** Throws what `JudgingThread.judge` throws. */
  judge(text: string, terms: JudgingTerms): Promise<JudgedBundle> {
    return (text.length <= SHORT_CHARACTERS ? this.#short : this.#long).judge(text, terms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#short[Symbol.asyncDispose](), this.#long[Symbol.asyncDispose]()]);
  }
}
