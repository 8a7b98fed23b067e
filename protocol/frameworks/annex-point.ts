const ANNEX_POINT = /^(?:annex\s+)?([IVX]+)(?![A-Z])[\s,]*(?:\(?(\d+)\)?)?\s*(?:\(?([a-z])\)?)?$/i;

/** A point of an annex as conditions have it, `IV(2)(d)`, of whatever a caller wrote; undefined where it is none. */
export function annexPointOf(text: string): string | undefined {
  const [, annex = '', number, letter] = ANNEX_POINT.exec(text.trim()) ?? [];
  if (annex === '') return undefined;
  return (
    annex.toUpperCase() + (number === undefined ? '' : `(${number})`) + (letter === undefined ? '' : `(${letter})`)
  );
}
