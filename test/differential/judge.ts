import type { Verdict } from '../../protocol/verdict/verdict.ts';

/** What one judge makes of one bundle: all that has to be the same at each. */
export interface Answer {
  /** A word of a verdict, or `unreadable`. */
  readonly word: string;
  readonly codes: readonly string[];
  /** Words on the linked records. */
  readonly linked: readonly string[];
  /** The rest of the verdict that the bundle alone decides, as JSON. */
  readonly rest: string;
}

/** One way to come to a verdict. A node's `POST /v1/bundles/verify` is another. */
export interface Judge extends AsyncDisposable {
  readonly name: string;
  /** Judges each text under one pin. Resolves to an answer a text, in order. */
  judge(texts: readonly string[], pin: string): Promise<readonly Answer[]>;
}

export const UNREADABLE: Answer = { word: 'unreadable', codes: [], linked: [], rest: '' };

type Told = Pick<Verdict, 'agent' | 'evidence' | 'facts' | 'ledger' | 'pinned' | 'restsOn' | 'status' | 'witnesses'>;

/** The answer of a verdict, wherever it was come to. Only the time of judging is left out. */
export function answerOf(
  { facts, ledger, pinned, restsOn, status, witnesses, agent, evidence, ...told }: Told & Pick<Verdict, 'word'>,
  codes: readonly string[],
  linked: readonly string[],
): Answer {
  const { complianceStatus = null } = evidence ?? {};
  const rest = { facts, ledger, pinned, restsOn, status, witnesses, agent, complianceStatus };
  return { word: told.word, codes, linked, rest: JSON.stringify(rest) };
}
