/** Keys of a name and of a query are compared byte for byte: anyone who has both texts can compare them again. */
export const NORMALIZATION = 'NFKD, strip marks, casefold, punctuation->space, collapse';

/**
 * Deleted, so that `Sa'ad` is `Saad`: apostrophes, double quotes, primes, and the letters that stand for ayn and hamza.
 */
const QUOTES = /['"`´‘-‟′-‷ʹ-ˁˈˊˋ՚׳״＇＂ˮ\u0384\u1fbd\u1fbf\u1ffd\u1ffe❛-❞Ꞌꞌ]/gu;
/**
 * Show nothing: tatweel, soft hyphen, joiners, direction marks, variation selectors, and all other format characters.
 * Of these the number signs of Arabic and Kaithi and the marks of abbreviations are seen, and are no part of a name.
 */
const INVISIBLE = /[\u0640\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
/** NFKD would make letters of them that run on from the name. */
const MARKS_OF_TRADE = /[©®℗℠™]/gu;
/** Accents and vowel signs that writers leave out; in other scripts marks are part of the spelling. */
const LOOSELY_MARKED =
  /([\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}\p{Script=Hebrew}])\p{M}+/gu;
/** Also letters of Arabic script that Persian, Urdu or a keyboard write for the same name. */
const FOLDED = /[ßæœøđðħþłıəςىیکہھ]/gu;
const FOLDS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  þ: 'th',
  ł: 'l',
  ı: 'i',
  ə: 'a',
  ς: 'σ',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
  ہ: 'ه',
  ھ: 'ه',
};
/** A mark belongs to the letter before it; one without a letter is nothing. */
const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;

/**
 * The form in which names are compared: its tokens, parted by single spaces. Case, accents, apostrophes and punctuation
 * make no difference; nothing is transliterated and no word is left out. Empty where the text shows no letter or digit.
 * The key of a key is the key itself.
 */
export function nameKey(name: string): string {
  // Before NFKD, which makes a space and an accent of the acute that stands for an apostrophe, and once more after it,
  // which makes apostrophes of full-width ones.
  const bare = name.replace(QUOTES, '').replace(MARKS_OF_TRADE, ' ').normalize('NFKD');
  const spelt = bare.replace(QUOTES, '').replace(INVISIBLE, '').replace(LOOSELY_MARKED, '$1').normalize('NFC');
  const folded = spelt.toLowerCase().replace(FOLDED, (letter) => FOLDS[letter] ?? letter);
  return (folded.match(TOKEN) ?? []).join(' ');
}
