import type { RepeatAnswer } from '../../node/operator/backup-forms.ts';
import type { EditionAnswer, ListOutcome, ListState } from '../../node/operator/list-forms.ts';
import type { Outcome } from '../key/ask.ts';
import { tableText } from '../key/tables.ts';

type Row = readonly string[];

const NONE = '–';
const MINUTE = 'yyyy-mm-ddThh:mm'.length;
const HASH = 'sha256:0123456789ab'.length;
/** What was done, in words. */
const DONE: Readonly<Record<ListOutcome['outcome'], string>> = {
  taken: 'taken',
  unchanged: 'unchanged',
  'not-given': 'not in the folder: stays',
  refused: 'REFUSED: stays',
};

export function outcomeTable(outcomes: readonly Outcome<ListOutcome>[]): string {
  const rows = merged(outcomes, ({ listId, outcome, detail, ignored, edition }) => [
    listId,
    DONE[outcome],
    ...cells(edition),
    detail ?? (ignored.length === 0 ? NONE : `not read: ${ignored.join(', ')}`),
  ]);
  return tableText([['list', 'outcome', ...CELLS, 'note', 'nodes'], ...rows]);
}

export function stateTable(outcomes: readonly Outcome<readonly ListState[]>[]): string {
  const states = outcomes.flatMap((one): Outcome<ListState>[] =>
    one.ok ? one.answer.map((answer) => ({ node: one.node, ok: true, answer })) : [],
  );
  const rows = merged(states, ({ listId, freshness, edition, kept, source }) => [
    listId,
    edition?.sample === true ? `${freshness}, SAMPLE` : freshness,
    ...cells(edition),
    edition?.retrievedAt.slice(0, MINUTE) ?? NONE,
    String(kept),
    sourceWords(source),
  ]);
  const header = ['list', 'state', ...CELLS, 'retrieved', 'kept', 'source', 'nodes'];
  return tableText([header, ...rows]);
}

/** What an old screening came to on each node, and against what. */
export function repeatText(outcomes: readonly Outcome<RepeatAnswer>[]): string {
  const lists = outcomes.flatMap((one): Outcome<RepeatAnswer['lists'][number]>[] =>
    one.ok ? one.answer.lists.map((answer) => ({ node: one.node, ok: true, answer })) : [],
  );
  const rows = merged(lists, ({ listId, fileHash, fileDate, matchCount, entries }) => [
    listId,
    fileHash.slice(0, HASH),
    fileDate?.slice(0, MINUTE) ?? NONE,
    String(matchCount),
    entries[0] ?? NONE,
  ]);
  const verdicts = merged(outcomes, ({ outcome, detail, recorded, repeated }) => [
    outcome === 'refused' ? `REFUSED: ${detail}` : `${outcome}: recorded ${recorded}, repeated ${repeated}`,
  ]);
  const table =
    rows.length === 0 ? [] : [tableText([['list', 'edition', 'files of', 'matches', 'first', 'nodes'], ...rows])];
  return [...table, ...verdicts.map((words) => words.join('  '))].join('\n');
}

/** Headers of `cells`. */
const CELLS: Row = ['in force', 'entries', 'names', 'rows without entry', 'files of'];

function cells(edition: EditionAnswer | null): Row {
  if (edition === null) return CELLS.map(() => NONE);
  const { fileHash, entryCount, nameCount, unmatchedRows, fileDate } = edition;
  const counts = [entryCount, nameCount, unmatchedRows].map(String);
  return [fileHash.slice(0, HASH), ...counts, fileDate?.slice(0, MINUTE) ?? NONE];
}

function sourceWords(source: ListState['source']): string {
  if (source === null) return 'none: imported by hand';
  if (source.failure !== null) return source.failure;
  return source.checkedAt === null ? 'not asked yet' : `asked ${source.checkedAt.slice(0, MINUTE)}`;
}

/** What several nodes say in the same words is one row, which names them. */
function merged<Answer>(outcomes: readonly Outcome<Answer>[], cellsOf: (answer: Answer) => Row): Row[] {
  const rows = new Map<string, { readonly row: Row; readonly nodes: string[] }>();
  for (const outcome of outcomes) {
    if (!outcome.ok) continue;
    const row = cellsOf(outcome.answer);
    const known = rows.get(row.join('\0'));
    if (known === undefined) rows.set(row.join('\0'), { row, nodes: [outcome.node] });
    else known.nodes.push(outcome.node);
  }
  return [...rows.values()].map(({ row, nodes }) => row.concat(nodes.join(' ')));
}
