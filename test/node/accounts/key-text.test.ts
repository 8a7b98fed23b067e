import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { homeOfKey, isMistyped, isStrongEnough, newKeyText } from '../../../node/accounts/key-text.ts';
import { nodeId } from '../../../protocol/ids.ts';

const [EU, SG2] = [nodeId('eu'), nodeId('sg2')];
const KEY_TEXT = /^mk_eu_[A-Za-z0-9_-]{49}$/;
/** Made by a release before keys named their home. */
const EARLIER = `mk_${'A'.repeat(43)}DCtZhg`;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

test('keys are 256 random bits and a checksum, fit for a header', () => {
  const keys = Array.from({ length: 1000 }, () => newKeyText(EU));
  assert.is(new Set(keys).size, keys.length);
  for (const key of keys) {
    assert.match(key, KEY_TEXT);
    assert.ok(isStrongEnough(key));
    assert.not.ok(isMistyped(key));
    assert.is(homeOfKey(key), EU);
  }
});

test('every single wrong character, and every pair that changed places, is a typo', () => {
  const key = newKeyText(EU);
  for (let i = 'mk_eu_'.length; i < key.length; i++) {
    for (const letter of LETTERS) {
      if (letter === key[i]) continue;
      assert.ok(isMistyped(key.slice(0, i) + letter + key.slice(i + 1)), `${i} ${letter}`);
    }
    const [a = '', b = ''] = key.slice(i, i + 2);
    if (b !== '' && a !== b) assert.ok(isMistyped(key.slice(0, i) + b + a + key.slice(i + 2)), `${i} swapped`);
  }
});

test('a text that was not made here is no typo', () => {
  for (const text of ['', 'mk_', 'mk_demo_bench_0000000000000000000000000', 'a'.repeat(52), `${newKeyText(EU)}x`]) {
    assert.not.ok(isMistyped(text), text);
  }
});

test('a key says its home, and another home is a typo; keys of earlier releases say none', () => {
  const key = newKeyText(SG2);
  assert.is(homeOfKey(key), SG2);
  const moved = key.replace('sg2', 'sg1');
  assert.equal([isMistyped(moved), homeOfKey(moved)], [true, undefined]);
  assert.equal([isMistyped(EARLIER), homeOfKey(EARLIER)], [false, undefined]);
  assert.ok(isMistyped(EARLIER.replace('A', 'B')));
  for (const brought of [
    'mk_demo_bench_0000000000000000000000000',
    `mk_demo_bench_${'x'.repeat(43)}`,
    'k'.repeat(40),
  ]) {
    assert.equal([isMistyped(brought), homeOfKey(brought)], [false, undefined]);
  }
});

test.run();
