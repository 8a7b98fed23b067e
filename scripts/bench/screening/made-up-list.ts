/** A list as large as all six together, in the form of OFAC's files. */
export interface MadeUpList {
  /** Contents of `sdn.csv` and `alt.csv`. */
  readonly entries: string;
  readonly aliases: string;
  /** Names in it, as they are written. */
  readonly names: readonly string[];
}

/** What the six lists had together in 2026. */
export const ENTRIES = 35_000;
const ALIASES_EACH = 2;
const EMPTY = '-0- ';
const SYLLABLES = [
  'ka',
  'ru',
  'mo',
  'zel',
  'tin',
  'bar',
  'os',
  'lev',
  'ni',
  'sha',
  'dor',
  'pek',
  'vul',
  'an',
  'gri',
  'to',
];
const FORMS = ['LTD', 'TRADING COMPANY', 'INDUSTRIAL GROUP', 'SHIPPING LLC', 'GENERAL TRADING', 'HOLDING'];
/** Words that names are made of: some thousands, as in the real lists. */
const WORDS = 9_000;

/** The same list each time. `share`: of `ENTRIES`. */
export function madeUpList(share = 1): MadeUpList {
  const random = generator(7);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const word = (): string => {
    const number = Math.floor(random() ** 2 * WORDS);
    const at = (place: number): string =>
      SYLLABLES[Math.floor(number / SYLLABLES.length ** place) % SYLLABLES.length] ?? '';
    return (at(0) + at(1) + at(2) + at(3)).toUpperCase();
  };
  const names: string[] = [];
  const name = (isPerson: boolean): string => {
    const made = isPerson ? `${word()}, ${word()} ${word()}` : `${word()} ${word()} ${pick(FORMS)}`;
    names.push(made);
    return made;
  };
  const entries: string[] = [];
  const aliases: string[] = [];
  for (let entry = 1; entry <= ENTRIES * share; entry++) {
    const isPerson = random() < 0.5;
    const type = isPerson ? '"individual"' : EMPTY;
    entries.push(`${entry},"${name(isPerson)}",${type},"MADE-UP"${`,${EMPTY}`.repeat(8)}`);
    for (let alias = 1; alias <= ALIASES_EACH; alias++) {
      aliases.push(`${entry},${entry * ALIASES_EACH + alias},"aka","${name(isPerson)}",${EMPTY}`);
    }
  }
  return { entries: `${entries.join('\r\n')}\r\n`, aliases: `${aliases.join('\r\n')}\r\n`, names };
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
