import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ArrivingBytes, giveBack } from '../../../node/http/arriving-bytes.ts';
import { fc } from '../../fixtures/properties.ts';

const KIB = 1 << 10;

/** A piece as the server hands it out: in memory of its own. */
function piece(bytes: Uint8Array | number): Buffer<ArrayBuffer> {
  const own = Buffer.allocUnsafeSlow(typeof bytes === 'number' ? bytes : bytes.length);
  if (typeof bytes === 'number') own.fill(7);
  else own.set(bytes);
  return own;
}

test('however a body is cut, it is put together as it came', async () => {
  const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 9_000 }), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(pieces, fc.boolean(), async (parts, isNow) => {
      const arriving = new ArrivingBytes();
      for (const part of parts) arriving.push(piece(part));
      const whole = Buffer.concat(parts);
      assert.is(arriving.length, whole.length);
      assert.equal(isNow ? arriving.joinNow() : await arriving.join(), whole);
      assert.is(arriving.length, 0);
    }),
  );
});

test('a body of several parts is put together too', async () => {
  const body = Buffer.from(Array.from({ length: 5_000 * KIB }, (_, n) => n % 251));
  for (const isNow of [true, false]) {
    const arriving = new ArrivingBytes();
    for (let at = 0; at < body.length; at += 64 * KIB) arriving.push(piece(body.subarray(at, at + 64 * KIB)));
    assert.ok(body.equals(isNow ? arriving.joinNow() : await arriving.join()));
  }
});

test('all pieces but the first are free once they are taken, and the first once the body is put together', async () => {
  const arriving = new ArrivingBytes();
  const pieces = Array.from({ length: 3 }, () => piece(64 * KIB));
  for (const each of pieces) arriving.push(each);
  assert.equal(
    pieces.map(({ buffer }) => buffer.detached),
    [false, true, true],
  );
  await arriving.join();
  assert.is(pieces[0]?.buffer.detached, true);
});

test('what was given up is free, and takes nothing more', () => {
  const arriving = new ArrivingBytes();
  const first = piece(64 * KIB);
  arriving.push(first);
  arriving.push(piece(64 * KIB));
  arriving.clear();
  assert.is(first.buffer.detached, true);
  assert.equal([arriving.length, arriving.joinNow().length], [0, 0]);
});

test('memory of others, and small memory, is left to its owners', () => {
  const shared = piece(64 * KIB);
  giveBack(shared.subarray(1));
  giveBack(new Uint8Array(new SharedArrayBuffer(64 * KIB)));
  const small = piece(100);
  giveBack(small);
  assert.equal([shared.buffer.detached, small.buffer.detached], [false, false]);
  giveBack(shared);
  assert.is(shared.buffer.detached, true);
  giveBack(shared);
});

test.run();
