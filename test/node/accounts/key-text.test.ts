import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isMistyped, isStrongEnough, newKeyText } from '../../../node/accounts/key-text.ts';

const KEY_TEXT = /^mk_[A-Za-z0-9_-]{49}$/;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('keys are 256 random bits and a checksum, fit for a header', () => {
  const keys = Array.from({ length: 1000 }, newKeyText);
  assert.is(new Set(keys).size, keys.length);
  for (const key of keys) {
    assert.match(key, KEY_TEXT);
    assert.ok(isStrongEnough(key));
    assert.not.ok(isMistyped(key));
  }
});

test('every single wrong character, and every pair that changed places, is a typo', () => {
  const key = newKeyText();
  for (let i = 3; i < key.length; i++) {
    for (const letter of LETTERS) {
      if (letter === key[i]) continue;
      assert.ok(isMistyped(key.slice(0, i) + letter + key.slice(i + 1)), `${i} ${letter}`);
    }
    const [a = '', b = ''] = key.slice(i, i + 2);
    if (b !== '' && a !== b) assert.ok(isMistyped(key.slice(0, i) + b + a + key.slice(i + 2)), `${i} swapped`);
  }
});

test('a text that was not made here is no typo', () => {
  for (const text of ['', 'mk_', 'mk_demo_bench_0000000000000000000000000', 'a'.repeat(52), `${newKeyText()}x`]) {
    assert.not.ok(isMistyped(text), text);
  }
});

test.run();
