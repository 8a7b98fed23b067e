import type { Catalogue, Clause } from '../../protocol/frameworks/catalogue-shape.ts';

/** A row of the catalogue that is to be looked up again, and why. */
export interface DueRow {
  readonly framework: string;
  readonly clause: string;
  readonly mark: Clause['check'];
  readonly checkedAt: string;
  readonly checked: string | null;
  readonly source: string;
  readonly why: readonly string[];
}

/** Age at which a row is looked up again, whatever its mark. In days. */
export const DEFAULT_AGE_DAYS = 90;
const DAY_MS = 86_400_000;

/**
 * Rows that no primary text backs, and rows that were checked longer ago than so many days: the oldest first, and of
 * those of one day the least sure. `now` is in epoch milliseconds.
 */
export function rowsDue({ frameworks }: Catalogue, ageDays: number, now: number): readonly DueRow[] {
  return frameworks
    .flatMap(({ id, clauses }) =>
      clauses.map(({ clause, check, checkedAt, checked = null, source }): DueRow => {
        const age = Math.floor((now - Date.parse(checkedAt)) / DAY_MS);
        const why = [
          ...(check === 'V' ? [] : [check === 'S' ? 'secondary sources alone' : 'never looked up']),
          ...(age > ageDays ? [`checked ${age} days ago`] : []),
        ];
        return { framework: id, clause, mark: check, checkedAt, checked, source, why };
      }),
    )
    .filter(({ why }) => why.length > 0)
    .sort((a, b) => compare(a.checkedAt, b.checkedAt) || compare(a.mark, b.mark) || compare(a.framework, b.framework));
}

/** K comes before S, and S before V. */
function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
