import { type BundleAnchor, parseBundle } from '../../protocol/bundle/bundle.ts';
import { judgeLinked } from '../../protocol/bundle/judge-linked.ts';
import { openBundle } from '../../protocol/bundle/opened-bundle.ts';
import type { Finding, Verdict } from '../../protocol/bundle/verdict.ts';
import { judge } from '../../protocol/bundle/verify.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { parseJson, type ParseOptions } from '../../protocol/json/parse.ts';
import { isJsonObject, JsonError } from '../../protocol/json/value.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { Suite } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';

/** What the one who judges goes by. */
export interface JudgingTerms {
  /** Hash of the genesis roster of the federation. */
  readonly pin: Sha256Hash;
  /** That are known beside those of the bundle. */
  readonly revocations: readonly SignedStatement[];
  readonly at: Timestamp;
  readonly limits: ParseOptions;
  /** The ledger is known to show something else than the bundle says. */
  readonly isContradicted: boolean;
}

export interface JudgedBundle {
  readonly verdict: Verdict;
  /** The place on the ledger that the bundle names; null where it names none that can be read. */
  readonly anchor: BundleAnchor | null;
}

const UNREAD_ANCHOR: Finding = {
  check: 'bundleBinding',
  code: 'anchor-mismatch',
  detail: 'the ledger, as this node has read it, does not show the anchor message there',
};

/** The verdict on a bundle that anyone brings. Throws `JsonError` where it is no JSON, `BundleError` where malformed. */
export function judgeBundle(suite: Suite, text: string, terms: JudgingTerms): JudgedBundle {
  const { pin, revocations, at, limits, isContradicted } = terms;
  const value = parseJson(text, limits);
  if (!isJsonObject(value)) throw new JsonError('syntax', 'it is no object');
  const bundle = parseBundle(value);
  const opened = openBundle(suite, bundle, { revocations });
  const linked = (bundle.linked ?? []).map((proof) => judgeLinked(suite, proof, opened, pin));
  const findings = isContradicted ? [...opened.findings, UNREAD_ANCHOR] : opened.findings;
  const verdict = judge(suite, { ...opened, findings }, linked, { pin, at });
  return { verdict, anchor: opened.anchorMessage === null ? null : bundle.anchor };
}
