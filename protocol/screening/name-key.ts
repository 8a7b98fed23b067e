/** How names are compared, as every answer states it. */
export const NORMALIZATION = 'NFKD, strip marks, casefold, punctuation->space, collapse';
/** What is done beside it with signs between letters, as every answer states it. */
export const INSIDE_WORDS = {
  listed: 'punctuation->space or nothing',
  asked: 'apostrophes and quotes->space or nothing, other punctuation->space',
} as const;

/** Where the text has white space between two tokens: only a space or a sign stands for it. */
const SPACE = ' ';
/** Where it has other signs between two tokens, and no white space. */
const SIGN = '-';
/** Where it has quotes, or several apostrophes, and nothing else. */
const QUOTE = '"';
/** Where it has one apostrophe and nothing else. It parts no words: `Jama` is no word of `Jama'at`. */
const APOSTROPHE = "'";

const QUOTES = /["“-‟″‴‶‷״＂❝❞]/gu;
/** Whatever stands for an apostrophe: quotes, primes, accents, and the letters that stand for ayn and hamza. */
const APOSTROPHES = /['`´‘-‛′‵ʹ-ˁˈˊˋ՚׳＇ˮ\u0384\u1fbd\u1fbf\u1ffd\u1ffe❛❜Ꞌꞌ]/gu;
/**
 * Show nothing: tatweel, soft hyphen, joiners, direction marks, variation selectors, and all other format characters.
 * Of these the number signs of Arabic and Kaithi and the marks of abbreviations are seen, and are no part of a name.
 */
const INVISIBLE = /[\u0640\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
/** Without the byte order mark, which shows nothing. */
const WHITE_SPACE = /[^\S\ufeff]/gu;
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
/** What is between tokens. A mark belongs to the letter before it; one without a letter is nothing. */
const GAP = /(?:^|[^\p{L}\p{N}\p{M}])[^\p{L}\p{N}]*/gu;
const OUTER_GAP = /^[ '"-]|[ '"-]$/gu;
const ONE_APOSTROPHE = /^'\p{M}*$/u;
const QUOTES_ALONE = /^['"][\p{M}'"]*$/u;

/**
 * The form in which names are compared, by `endOfKey`: its tokens, and between two of them one character that says what
 * parts them. Case, accents and characters that show nothing make no difference; nothing is transliterated and no word
 * is left out. Empty where the text shows no letter or digit. The key of a key is the key itself.
 */
export function nameKey(name: string): string {
  // NFKD makes a space and an accent of an accent that stands alone: white space is a line feed until it is through.
  // It also makes apostrophes of other letters.
  const marked = name.replace(WHITE_SPACE, '\n').replace(MARKS_OF_TRADE, SIGN).replace(APOSTROPHES, APOSTROPHE);
  const quoted = marked.normalize('NFKD').replace(APOSTROPHES, APOSTROPHE).replace(QUOTES, QUOTE);
  const plain = quoted.replace(INVISIBLE, '');
  const spelt = plain.replace(LOOSELY_MARKED, '$1').normalize('NFC');
  const folded = spelt.toLowerCase().replace(FOLDED, (letter) => FOLDS[letter] ?? letter);
  return folded.replace(GAP, separatorOf).replace(OUTER_GAP, '');
}

function separatorOf(gap: string): string {
  if (gap.includes('\n')) return SPACE;
  if (ONE_APOSTROPHE.test(gap)) return APOSTROPHE;
  return QUOTES_ALONE.test(gap) ? QUOTE : SIGN;
}

/** The name of a key as `NORMALIZATION` makes it: without apostrophes and quotes, and all other signs are spaces. */
export function normalizedName(key: string): string {
  return key.replace(/['"]/gu, '').replaceAll(SIGN, SPACE);
}
