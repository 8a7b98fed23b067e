import { evaluateFully } from '../../protocol/evidence/recorded-evidence.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';

/** What is said of one record. */
export interface Said {
  /** A word of a verdict, or `unreadable`. */
  readonly word: string;
  /** Of all that speaks against it. */
  readonly codes: readonly string[];
}

/** What one judge makes of one bundle: all that has to be the same at each. */
export interface Answer extends Said {
  readonly linked: readonly Said[];
  /** The rest of the verdict that the bundle alone decides, as JSON. */
  readonly rest: string;
}

/** One way to come to a verdict. */
export interface Judge extends AsyncDisposable {
  readonly name: string;
  /** Judges each text under one pin. Resolves to an answer a text, in order. */
  judge(texts: readonly string[], pin: string): Promise<readonly Answer[]>;
}

export const UNREADABLE: Answer = { word: 'unreadable', codes: [], linked: [], rest: '' };

type Standing = Pick<Verdict, 'accountStatements' | 'speaks'>;
type Told = Standing &
  Pick<Verdict, 'agent' | 'facts' | 'ledger' | 'pinned' | 'restsOn' | 'status' | 'witnesses' | 'word'> & {
    readonly evidence: Pick<NonNullable<Verdict['evidence']>, 'complianceStatus' | 'evidence'> | null;
  };

/** What a node shows where there is no body of a record to evaluate. */
const OF_NO_RECORD = evaluateFully({ record: null, sigValid: false, speaks: false }, [], null);

type Problems = readonly { readonly code: string }[];

/** The answer of a verdict, wherever it was come to. Only the time of judging is left out. */
export function answerOf(
  { facts, ledger, pinned, restsOn, status, witnesses, agent, evidence, speaks, accountStatements, ...told }: Told,
  problems: Problems,
  linked: readonly { readonly word: string; readonly problems: Problems; readonly speaks: boolean }[],
): Answer {
  const { complianceStatus, evidence: recorded } = evidence ?? OF_NO_RECORD;
  const shown = { ...recorded, evaluatedAt: null };
  const voices = { speaks, linked: linked.map((one) => one.speaks), accountStatements };
  const rest = { facts, ledger, pinned, restsOn, status, witnesses, agent, complianceStatus, shown, voices };
  return {
    ...saidOf(told.word, problems),
    linked: linked.map((one) => saidOf(one.word, one.problems)),
    rest: JSON.stringify(rest),
  };
}

function saidOf(word: string, problems: Problems): Said {
  return { word, codes: problems.map(({ code }) => code) };
}
