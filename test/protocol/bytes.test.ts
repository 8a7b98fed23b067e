import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  concatBytes,
  decodeBase64url,
  decodeHex,
  decodeUtf8,
  encodeBase64url,
  encodeHex,
  EncodingError,
  equalBytes,
  utf8,
} from '../../protocol/bytes.ts';
import { fc } from '../fixtures/properties.ts';

const bytes = fc.uint8Array({ maxLength: 80 });
const isEncodingError = (error: unknown) => error instanceof EncodingError;

test('hex round-trips, and is what Node writes', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      assert.is(encodeHex(value), Buffer.from(value).toString('hex'));
      assert.equal(decodeHex(encodeHex(value)), value);
    }),
  );
});

test('base64url round-trips, and is what Node writes', () => {
  fc.assert(
    fc.property(bytes, (value) => {
      assert.is(encodeBase64url(value), Buffer.from(value).toString('base64url'));
      assert.equal(decodeBase64url(encodeBase64url(value)), value);
    }),
  );
});

test('UTF-8 round-trips, byte order marks included', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => assert.is(decodeUtf8(utf8(text)), text)));
  assert.is(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x41)), '\ufeffA');
});

test('hex that is odd, prefixed, upper case or otherwise strange is refused, never cut short', () => {
  for (const text of ['a', 'abc', '0xab', 'AB', 'aB', ' ab', 'ab ', 'ab\n', 'zz', 'a-', 'ab:cd', 'ａb', '٠٠']) {
    assert.throws(() => decodeHex(text), isEncodingError, text);
  }
});

test('base64url with padding, another alphabet, an impossible length or stray bits is refused', () => {
  for (const text of ['A', 'AAAAA', 'AA==', 'AAA=', 'A+AA', 'A/AA', 'AA AA', 'AAAA\n', 'AB', 'AAB', 'Ąaaa', 'A.AA']) {
    assert.throws(() => decodeBase64url(text), isEncodingError, text);
  }
});

test('every text decodes to bytes that encode to it again, or is refused', () => {
  const decoders = [
    { decode: decodeHex, encode: encodeHex, unit: fc.constantFrom(...'0123456789abcdefABxg ') },
    { decode: decodeBase64url, encode: encodeBase64url, unit: fc.constantFrom(...'ABCDxyz0189-_+/= ') },
  ];
  for (const { decode, encode, unit } of decoders) {
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 9 }), (text) => {
        let decoded: Uint8Array;
        try {
          decoded = decode(text);
        } catch (error) {
          assert.ok(isEncodingError(error));
          return;
        }
        assert.is(encode(decoded), text);
      }),
      { numRuns: 2000 },
    );
  }
});

test('text with a lone surrogate has no UTF-8, and malformed UTF-8 no text', () => {
  assert.throws(() => utf8('a\ud800'), isEncodingError);
  for (const malformed of [[0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]) {
    assert.throws(() => decodeUtf8(Uint8Array.from(malformed)), isEncodingError);
  }
});

test('concatenation and equality go by content and length', () => {
  fc.assert(
    fc.property(bytes, bytes, (a, b) => {
      const joined = concatBytes(a, b);
      assert.equal(Buffer.from(joined), Buffer.concat([a, b]));
      assert.is(equalBytes(a, b), Buffer.compare(a, b) === 0);
      assert.ok(equalBytes(joined, concatBytes(joined)));
      assert.not(equalBytes(joined, concatBytes(joined, Uint8Array.of(0))));
    }),
  );
});

test.run();
