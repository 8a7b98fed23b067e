import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { dataFrame, HEADER_BYTES, isRefusal, lastFrame, parseHeader } from '../../../node/transport/frames.ts';
import { fc } from '../../fixtures/properties.ts';

const MOST = 1000;

function failure(bytes: Uint8Array): string {
  try {
    parseHeader(bytes, MOST);
    return 'none';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

test('a data frame reads back as its length and its body', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: MOST }), (body) => {
      const frame = dataFrame(body);
      assert.equal(parseHeader(frame.subarray(0, HEADER_BYTES), MOST), { kind: 'data', length: body.length });
      assert.equal(frame.subarray(HEADER_BYTES), body);
    }),
  );
});

test('each way to end reads back as itself', () => {
  for (const kind of ['end', 'busy', 'refused', 'too-large', 'malformed', 'failed'] as const) {
    assert.equal(parseHeader(lastFrame(kind), MOST), { kind, length: 0 });
  }
});

test('any other header is malformed, and a body over the limit is too large', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: HEADER_BYTES, maxLength: HEADER_BYTES }), (bytes) => {
      const length = Buffer.from(bytes).readUInt32BE(1);
      const kind = bytes[0] ?? 0;
      const expected = kind > 6 || (kind > 0 && length > 0) ? 'malformed' : length > MOST ? 'too-large' : 'none';
      assert.is(failure(bytes), expected);
    }),
  );
  assert.is(failure(dataFrame(new Uint8Array(MOST + 1))), 'too-large');
  assert.is(failure(dataFrame(new Uint8Array(MOST))), 'none');
});

test('a header is read from a view into a larger buffer', () => {
  const larger = Uint8Array.from([9, 9, 0, 0, 0, 0, 7]);
  assert.equal(parseHeader(larger.subarray(2), MOST), { kind: 'data', length: 7 });
});

test('our own troubles are not a peer’s refusal', () => {
  assert.not.ok(['timeout', 'cut', 'aborted', 'unreachable', 'toString'].some(isRefusal));
});

test.run();
