import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { crc32 as zlibCrc32 } from 'node:zlib';
import { utf8 } from '../../../protocol/bytes.ts';
import { ContainerError, directory, localHeader, readContainer } from '../../../protocol/pack/container.ts';
import { crc32 } from '../../../protocol/pack/crc32.ts';
import { containerOf, sourceOf } from '../../fixtures/judged-pack.ts';
import { fc } from '../../fixtures/properties.ts';

const FILES = new Map([
  ['a.txt', utf8('one\n')],
  ['folder/b.json', utf8('{"two":2}')],
  ['empty', new Uint8Array()],
]);

async function isRefused(bytes: Uint8Array): Promise<boolean> {
  try {
    await readContainer(sourceOf(bytes));
    return false;
  } catch (error) {
    if (error instanceof ContainerError) return true;
    throw error;
  }
}

test('the check of some bytes is that of zlib, in one piece or several', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, at) => {
      assert.is(crc32(bytes), zlibCrc32(bytes));
      assert.is(crc32(bytes.subarray(at), crc32(bytes.subarray(0, at))), zlibCrc32(bytes));
    }),
  );
});

test('files are found where they stand', async () => {
  const bytes = containerOf(FILES);
  const found = await readContainer(sourceOf(bytes));
  assert.equal(
    found.map(({ name }) => name),
    [...FILES.keys()],
  );
  for (const { name, from, size } of found) assert.equal(bytes.slice(from, from + size), FILES.get(name));
});

test('one flipped bit anywhere but in a file makes it no container', async () => {
  const bytes = containerOf(FILES);
  const inFile = new Set<number>();
  for (const { from, size } of await readContainer(sourceOf(bytes))) {
    for (let at = from; at < from + size; at++) inFile.add(at);
  }
  for (let at = 0; at < bytes.length; at++) {
    if (inFile.has(at)) continue;
    for (let bit = 0; bit < 8; bit++) {
      const flipped = Uint8Array.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
      assert.ok(await isRefused(flipped), `bit ${bit} of byte ${at}`);
    }
  }
});

test('bytes before, between, behind, or missing make it none', async () => {
  const bytes = containerOf(FILES);
  const one = Uint8Array.of(0);
  assert.ok(await isRefused(Uint8Array.from([...one, ...bytes])));
  assert.ok(await isRefused(Uint8Array.from([...bytes, ...one])));
  for (let length = 0; length < bytes.length; length += 7) assert.ok(await isRefused(bytes.slice(0, length)));
});

test('a file of over four gigabytes, and what stands behind it, is named by ZIP64 alone', async () => {
  const large = { name: 'large', size: 5 * 2 ** 30, crc: 7 };
  const small = { name: 'small', size: 3, crc: crc32(utf8('abc')) };
  const first = localHeader(large);
  const second = localHeader(small);
  const tail = directory([large, small]);
  const at = first.length + large.size;
  const size = at + second.length + small.size + tail.length;
  // Bytes of the large file are zeros that nobody stores.
  const read = async (from: number, to: number): Promise<Uint8Array> => {
    const bytes = new Uint8Array(to - from);
    const put = (part: Uint8Array, place: number): void => {
      for (let i = Math.max(from, place); i < Math.min(to, place + part.length); i++) {
        bytes[i - from] = part[i - place] ?? 0;
      }
    };
    put(first, 0);
    put(second, at);
    put(utf8('abc'), at + second.length);
    put(tail, at + second.length + small.size);
    return bytes;
  };
  const found = await readContainer({ size, read });
  assert.equal(
    found.map((file) => file.size),
    [large.size, 3],
  );
});

test.run();
