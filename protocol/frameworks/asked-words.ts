import { catalogue } from './catalogue.ts';

/** Facts whose words are open: any is signed, and clauses ask for some. */
const OPEN_FACTS = ['capacity', 'docType', 'evalType', 'noticeType', 'procedure', 'regime', 'requestType'] as const;
export type OpenFact = (typeof OPEN_FACTS)[number];

/** Words of each open fact that some clause of the catalogue asks for, sorted. */
export const ASKED_WORDS: Readonly<Record<OpenFact, readonly string[]>> = {
  capacity: wordsOf('capacity'),
  docType: wordsOf('docType'),
  evalType: wordsOf('evalType'),
  noticeType: wordsOf('noticeType'),
  procedure: wordsOf('procedure'),
  regime: wordsOf('regime'),
  requestType: wordsOf('requestType'),
};

/** Whether a fact's words are open, and clauses ask for some of them. */
export function isOpenFact(name: string): name is OpenFact {
  const names: readonly string[] = OPEN_FACTS;
  return names.includes(name);
}

function wordsOf(fact: OpenFact): readonly string[] {
  const conditions = catalogue.frameworks.flatMap(({ clauses }) =>
    clauses.flatMap(({ needs, event }) => [...needs.flatMap(({ where = [] }) => where), ...(event?.where ?? [])]),
  );
  const words = conditions
    .flatMap((condition) => condition.split('|'))
    .filter((alternative) => alternative.startsWith(`${fact}=`))
    .map((alternative) => alternative.slice(fact.length + 1));
  return [...new Set(words)].sort();
}
