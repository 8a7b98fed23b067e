import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nameKey, normalizedName } from '../../../protocol/screening/name-key.ts';
import { endOfKey } from '../../../protocol/screening/name-match.ts';
import { fc } from '../../fixtures/properties.ts';

/** Whatever Unicode has, and often what names are made of. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    fc.constantFrom(
      ...'aZ9 .-\'"´’«»ßÆøŁıİəΣςéй أىक़か゛한中™①ﬁ½ſʼˈـ\u0301\u0308\u064b\u0654\u05b0\u093c\u200d\ufe0f\u3164',
    ),
  ),
});

const bytesOf = (name: string): Uint8Array => Buffer.from(nameKey(name));

/** Whether the whole of a listed name is found by the one that is asked. */
function isFound(listed: string, asked: string): boolean {
  const key = bytesOf(listed);
  return endOfKey(key, 0, bytesOf(asked)) === key.length;
}

function equal(first: string, second: string): void {
  assert.ok(isFound(first, second), `${second} finds ${first}`);
  assert.ok(isFound(second, first), `${first} finds ${second}`);
}

test('case, accents, apostrophes and punctuation beside spaces make no difference', () => {
  assert.is(nameKey('  Goetz,, Alain Francois Viviane.'), 'goetz alain francois viviane');
  equal('NICOLÁS Maduro-Moros', 'nicolas maduro moros');
  equal("Sa'ad", 'Saad');
  equal('Sa’ad', 'SAAD');
  equal('Saʿad', 'saad');
  equal('O´Brien', 'OBrien');
  equal('Ｏ＇Ｂｒｉｅｎ', "O'Brien");
  equal('Straße Łódź İstanbul Əliyev Đorđe Œuvre Ærø', 'strasse lodz istanbul aliyev dorde oeuvre aero');
  equal('ΟΔΥΣΣΕΑΣ', 'οδυσσεασ');
  equal('Сергей', 'сергеи');
  equal('Acme™ Ltd', 'ACME LTD');
  equal('e\u0301', 'é');
});

const SIGNS = ['.', '-', '/', '»', '(', '&', '_', '–', '¨', '™', '\u0001', '."', "'-'"];
const QUOTES = ['"', '“', '″', "''", '"\u0301', "'", '’', 'ʿ', "'\u0301"];

test('a sign inside a word of a listed name is a space, another sign, or nothing', () => {
  for (const sign of [...SIGNS, ...QUOTES]) {
    for (const other of ['', ' ', ' . ', ...SIGNS, ...QUOTES]) {
      assert.ok(isFound(`Abc${sign}Def Ghi`, `abc${other}def ghi`), `abc${other}def finds Abc${sign}Def`);
    }
  }
  assert.ok(isFound('CIMEX, S.A.', 'CIMEX SA'));
  assert.ok(isFound('CIMEX, S.A.', 'Cimex S A'));
  assert.ok(isFound("A.M. Al-Sa'id", 'AM AlSa id'));
});

test('a sign inside a word that is asked is a space, but quotes and an apostrophe are nothing too', () => {
  for (const sign of SIGNS) {
    assert.ok(isFound('Abc Def', `abc${sign}def`), sign);
    assert.not.ok(isFound('AbcDef', `abc${sign}def`), sign);
  }
  for (const quote of QUOTES) {
    assert.ok(isFound('Abc Def', `abc${quote}def`), quote);
    equal('AbcDef', `abc${quote}def`);
  }
  equal('ООО "Ромашка"', 'ООО"Ромашка"');
});

test('what a list parts by a space and somebody asks as one word, or the other way round, is not the same', () => {
  for (const [listed, asked] of [
    ['SA', 'S A'],
    ['S A', 'SA'],
    ['SA', 'S. A.'],
    ['S. A.', 'SA'],
    ['Abdul Rahman', 'Abdulrahman'],
    ['Abdul-Rahman Ali', 'Abdulrahmanali'],
    ['Aero', 'A.E.R.O.'],
    ['Al-Qaida', 'Al-Qaidas'],
    ['Al-Qaida', 'Al-'],
    ['A.B', 'A.C'],
  ] as const) {
    assert.not.ok(isFound(listed, asked), `${asked} does not find ${listed}`);
  }
});

test('the normalized name is without apostrophes and quotes, and all other signs are spaces', () => {
  for (const sign of SIGNS) assert.is(normalizedName(nameKey(`Abc${sign}Def,  Ghi`)), 'abc def ghi', sign);
  for (const quote of QUOTES) assert.is(normalizedName(nameKey(`Abc${quote}Def ${quote}Ghi`)), 'abcdef ghi', quote);
});

test('a key stands where it is sought, and from there on alone', () => {
  const bytes = Buffer.from("sa'id al-zawahiri");
  const endOf = (asked: string, at: number): number => endOfKey(bytes, at, Buffer.from(asked));
  assert.equal([endOf('said', 0), endOf('sa id', 0), endOf("sa'id alza", 0), endOf('al zawahiri', 6)], [5, 5, 11, 17]);
  assert.equal([endOf('said', 1), endOf('saidal', 0), endOf('zawahiris', 9), endOf('zawahiri-s', 9)], [-1, -1, -1, -1]);
});

test('vowel signs and joiners of Arabic and Hebrew make no difference, nor does tatweel', () => {
  equal('مُحَمَّد', 'محمد');
  equal('محـــمد', 'محمد');
  equal('\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd', '\u05e9\u05dc\u05d5\u05dd');
  equal('a\u200db\u00adc', 'abc');
});

test('no format character makes a difference, wherever it stands', () => {
  for (let code = 0; code <= 0x10_ffff; code++) {
    const character = String.fromCodePoint(code);
    if (!/\p{Cf}/u.test(character)) continue;
    assert.is(nameKey(`PU${character}TIN ${character} V`), 'putin v', `U+${code.toString(16)}`);
  }
});

test('whatever stands for an apostrophe makes no difference', () => {
  for (const quote of "'`´‘’‛′ʹʻʼʽʾʿˈˊˋˮ՚׳＇\u0384\u1fbd\u1fbf\u1ffd\u1ffe❛❜Ꞌꞌ") {
    assert.is(nameKey(`O${quote}Brien`), "o'brien", `U+${quote.charCodeAt(0).toString(16)}`);
  }
  for (const quote of '"“”„‟″‴״❝❞＂') assert.is(nameKey(`O${quote}Brien`), 'o"brien', quote);
  equal("O'Brien", 'OBrien');
  assert.is(nameKey("'Abd Ba'ath' "), "abd ba'ath");
});

test('a name in Arabic script is one name, whichever of the forms of a letter it is typed with', () => {
  equal('علی اکبر', 'علي اكبر');
  equal('موسى', 'موسی');
  equal('شاہ', 'شاه');
  equal('أحمد', 'احمد');
});

test('letters of the north are those that they are written for', () => {
  equal('Guðmundur Þór', 'Gudmundur Thor');
  equal('Għarb', 'Gharb');
});

test('in other scripts marks are part of the spelling', () => {
  assert.is.not(nameKey('が'), nameKey('か'));
  assert.is.not(nameKey('कि'), nameKey('क'));
  assert.is(nameKey('習近平'), '習近平');
  assert.is(nameKey('한국'), '한국');
});

test('words keep their order', () => {
  assert.is.not(nameKey('Moros Maduro'), nameKey('Maduro Moros'));
});

test('what shows no letter has an empty key', () => {
  for (const text of ['', '  ...  ', '\'"', '\u0301', '\u200d\u3164', 'ـ', '™', '☃']) {
    assert.is(nameKey(text), '', text);
  }
});

test('a key is its own key', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const key = nameKey(text);
      return nameKey(key) === key;
    }),
    { numRuns: 5_000 },
  );
});

test('a text with a visible letter or digit has a key', () => {
  const letter = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 1 })
    // Some letters are a vowel sign and nothing more: NFKD tells.
    .filter(
      (text) =>
        /[\p{L}\p{N}]/u.test(text.normalize('NFKD')) && !/[\p{Default_Ignorable_Code_Point}\u0640ʹ-ˁˈˊˋ]/u.test(text),
    );
  fc.assert(
    fc.property(anyText, letter, anyText, (before, visible, after) => nameKey(before + visible + after) !== ''),
    { numRuns: 5_000 },
  );
});

test('a key is tokens of letters, digits and their marks, parted by one character each', () => {
  fc.assert(
    fc.property(anyText, (text) =>
      /^$|^[\p{L}\p{N}][\p{L}\p{N}\p{M}]*([ '"-][\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*$/u.test(nameKey(text)),
    ),
    { numRuns: 2_000 },
  );
});

test.run();
