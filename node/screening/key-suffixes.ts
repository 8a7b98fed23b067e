import { endOfKey, isSeparator, isWordGap } from '../../protocol/screening/name-match.ts';
import { END, firstThat, type KeyTable, type PackedEdition } from './packed-edition.ts';

/** Greater than every byte of UTF-8. */
const PAST_LETTERS = 0xff;

/** All places where a word begins, in the order of the letters and digits from there to the end of the key. */
export function sortedSuffixes({ bytes, starts }: KeyTable): Pick<PackedEdition, 'suffixes' | 'suffixKeys'> {
  const places: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const before = at === 0 ? END : bytes[at - 1];
    if (before === END || isWordGap(before)) places.push(at);
  }
  const suffixes = Uint32Array.from(places).sort((a, b) => compareFrom(bytes, a, b));
  const keyAt = new Uint32Array(bytes.length);
  for (let key = 0; key + 1 < starts.length; key++) keyAt.fill(key, starts[key], starts[key + 1]);
  return { suffixes, suffixKeys: suffixes.map((at) => keyAt[at] ?? 0) };
}

/** Whole keys alone, or also those that hold the sought one from the beginning to the end of words. */
type Extent = 'whole' | 'words';

/** Tells of each place where the sought key stands: in which key, and whether it is the whole of it. */
export function findPlaces(
  { keys: { bytes, starts }, suffixes, suffixKeys }: Pick<PackedEdition, 'keys' | 'suffixes' | 'suffixKeys'>,
  { sought, extent }: { readonly sought: Uint8Array; readonly extent: Extent },
  found: (key: number, isWhole: boolean) => void,
): void {
  const letters = sought.filter((byte) => !isSeparator(byte));
  const from = (then: readonly number[]): number => {
    const text = Uint8Array.of(...letters, ...then);
    return firstThat(suffixes.length, (i) => compareLetters(bytes, suffixes[i] ?? 0, text) >= 0);
  };
  const first = from(extent === 'whole' ? [END] : []);
  const past = from(extent === 'whole' ? [END + 1] : [PAST_LETTERS]);
  for (let i = first; i < past; i++) {
    const place = suffixes[i] ?? 0;
    const end = endOfKey(bytes, place, sought);
    if (end < 0) continue;
    const key = suffixKeys[i] ?? 0;
    const isWhole = bytes[end] === END && place === starts[key];
    if (isWhole || (extent === 'words' && (bytes[end] === END || isWordGap(bytes[end])))) found(key, isWhole);
  }
}

/** The order of what follows two places. Equal ones go by their places, so that there is one order. */
function compareFrom(bytes: Uint8Array, a: number, b: number): number {
  for (let i = a, j = b; ; i++, j++) {
    if (isSeparator(bytes[i])) i++;
    if (isSeparator(bytes[j])) j++;
    const byte = bytes[i] ?? END;
    const order = byte - (bytes[j] ?? END);
    if (order !== 0) return order;
    if (byte === END) return a - b;
  }
}

/** The order of what follows a place, cut to the length of the sought letters, and these. */
function compareLetters(bytes: Uint8Array, at: number, letters: Uint8Array): number {
  let place = at;
  for (const letter of letters) {
    if (isSeparator(bytes[place])) place++;
    const order = (bytes[place++] ?? END) - letter;
    if (order !== 0) return order;
  }
  return 0;
}
