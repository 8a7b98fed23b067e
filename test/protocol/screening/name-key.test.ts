import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nameKey } from '../../../protocol/screening/name-key.ts';
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

const equal = (first: string, second: string): void => assert.is(nameKey(first), nameKey(second));

test('case, accents, apostrophes and punctuation make no difference', () => {
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
  for (const quote of '\'"`´‘’‛“”‟′″‴ʹʻʼʽʾʿˈˊˋˮ՚׳״＇\u0384\u1fbd\u1fbf\u1ffd\u1ffe❛❜❝❞Ꞌꞌ') {
    assert.is(nameKey(`O${quote}Brien`), 'obrien', `U+${quote.charCodeAt(0).toString(16)}`);
  }
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

test('dots part letters, and words keep their order', () => {
  assert.is(nameKey('A.E.R.O.CARIBBEAN AIRLINES'), 'a e r o caribbean airlines');
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

test('a key is tokens of letters, digits and their marks, in single spaces', () => {
  fc.assert(
    fc.property(anyText, (text) =>
      /^$|^[\p{L}\p{N}][\p{L}\p{N}\p{M}]*( [\p{L}\p{N}][\p{L}\p{N}\p{M}]*)*$/u.test(nameKey(text)),
    ),
    { numRuns: 2_000 },
  );
});

test.run();
