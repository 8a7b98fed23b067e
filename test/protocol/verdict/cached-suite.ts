import { encodeBase64url, utf8 } from '../../../protocol/bytes.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';

/** A suite that remembers its verdicts, so that a thousand bundles with one change each cost little more than one. */
export function cachedSuite(suite: Suite): Suite {
  const verdicts = new Map<string, boolean>();
  return {
    ...suite,
    verify(publicKey, message, signature, context) {
      const parts = [publicKey, signature, utf8(context), message];
      const name = parts.map((part) => encodeBase64url(suite.sha256(part))).join();
      const known = verdicts.get(name);
      if (known !== undefined) return known;
      const verdict = suite.verify(publicKey, message, signature, context);
      verdicts.set(name, verdict);
      return verdict;
    },
  };
}
