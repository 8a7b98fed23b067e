import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { printable } from '../../../node/certificates/printable-text.ts';

test('what the standard fonts have is shown as it is, and everything else as an escape', () => {
  const shown = 'Aa 09 ~{}() ÄÖß ÿ ¡ € – — ‘’ “” • … ™ Œ';
  assert.is(printable(shown, 100), shown);
  assert.is(
    printable('a\u202eb\u0000c\nd\u00ade\ud800f\u{1d518}g', 100),
    ['a\\u{202e}b\\u{0}c\\u{a}d\\u{ad}e\\u{d800}f\\u{1d518}g'].join(''),
  );
  for (let code = 0x7f; code <= 0xa0; code++) {
    assert.is(printable(String.fromCodePoint(code), 10), `\\u{${code.toString(16)}}`);
  }
});

test('a text that looks like an escape is told from one', () => {
  assert.is(printable('\\u{202e}', 100), '\\u{5c}u{202e}');
});

test('a long text is cut between characters, and says how long it is', () => {
  assert.is(printable('a'.repeat(10), 10), 'a'.repeat(10));
  assert.is(printable('a'.repeat(11), 10), `${'a'.repeat(10)}… (11 characters)`);
  assert.is(printable('\u202e'.repeat(3), 17), '\\u{202e}\\u{202e}… (3 characters)');
  assert.is(printable('', 10), '');
});

test.run();
