const ALTERNATIVE_PATTERN = '[a-zA-Z][a-zA-Z0-9]*(?:=[a-zA-Z0-9:_()-]+|>=[1-9]\\d*)?';
/** Alternatives separated by `|`: `name`, `name=value`, or `name>=days` for a period in days. */
export const CONDITION_PATTERN = `^${ALTERNATIVE_PATTERN}(?:\\|${ALTERNATIVE_PATTERN})*$`;

/** One alternative of a condition. */
export interface Alternative {
  /** Name of the field that it is about. */
  readonly field: string;
  readonly holds: (shown: ReadonlySet<string>) => boolean;
}

const ALTERNATIVE = /^([a-zA-Z][a-zA-Z0-9]*)(?:(=|>=)([\w:()-]+))?$/;
const read = new Map<string, readonly Alternative[]>();

/** The alternatives of a condition of the catalogue. Throws `RangeError` where the text is none. */
export function alternativesOf(condition: string): readonly Alternative[] {
  let alternatives = read.get(condition);
  if (alternatives === undefined) {
    alternatives = condition.split('|').map(alternativeOf);
    read.set(condition, alternatives);
  }
  return alternatives;
}

function alternativeOf(text: string): Alternative {
  const [, field = '', operator, value = ''] = ALTERNATIVE.exec(text) ?? [];
  if (field === '') throw new RangeError(`${text} is no condition on a field`);
  if (operator !== '>=') return { field, holds: (shown) => shown.has(text) };
  return { field, holds: (shown) => [...shown].some((token) => reaches(token, field, Number(value))) };
}

function reaches(token: string, field: string, least: number): boolean {
  return token.startsWith(`${field}=`) && Number(token.slice(field.length + 1)) >= least;
}

/** Conditions in words. */
export function spoken(conditions: readonly string[]): string {
  return conditions.map((condition) => condition.replaceAll('|', ' or ').replaceAll('>=', ' >= ')).join(', ');
}
