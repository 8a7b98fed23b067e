import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  MAX_PADDED_TEXT_BYTES,
  PayloadCipher,
  PayloadDamagedError,
  type SealedPayload,
} from '../../../../node/records/payload/payload-cipher.ts';
import { newRecordId } from '../../../../node/records/record-id.ts';
import { nodeId, type RecordId, recordId } from '../../../../protocol/ids.ts';
import { fc } from '../../../fixtures/properties.ts';

const EU = nodeId('eu');
/** Of 32 bytes 7 and a text, under the seed below, as stores of format 3 hold it. */
const EARLIER_CIPHERTEXT =
  'a2e0e993e60df00a8ecbda95dec5306fd004c3641473f852f8aee8169897baa69831a77c21750bbebd0e7cf63daafe5f208c60b10516b87ca11d1dbf976539f9b404517f';
const cipher = new PayloadCipher(new Uint8Array(32).fill(3));
const id = (): RecordId => newRecordId(EU, 1_763_717_400_000);

const salt = fc.uint8Array({ minLength: 32, maxLength: 32 });
const text = fc.string({ unit: 'grapheme', maxLength: 300 });

function changed(bytes: Uint8Array, at: number, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const index = at % copy.length;
  copy[index] = (copy[index] ?? 0) ^ (1 << bit);
  return copy;
}

function refuses(from: PayloadCipher, of: RecordId, sealed: SealedPayload): void {
  assert.throws(
    () => from.open(of, sealed),
    (error: unknown) => error instanceof PayloadDamagedError,
  );
}

/** Both ways to seal. */
const way = fc.constantFrom('seal', 'sealPacked');

test('a sealed payload opens to the salt and text that were sealed', () => {
  fc.assert(
    fc.property(salt, text, way, (saltBytes, payload, how) => {
      const record = id();
      const opened = cipher.open(record, cipher[how](record, saltBytes, payload));
      assert.equal([...opened.salt], [...saltBytes]);
      assert.is(opened.text, payload);
    }),
  );
});

test('another id, another payload key, another seed or any changed bit never opens', () => {
  const other = new PayloadCipher(new Uint8Array(32).fill(4));
  fc.assert(
    fc.property(salt, text, way, fc.nat(), fc.nat(7), (saltBytes, payload, how, at, bit) => {
      const record = id();
      const sealed = cipher[how](record, saltBytes, payload);
      refuses(cipher, id(), sealed);
      refuses(other, record, sealed);
      refuses(cipher, record, { ...sealed, seed: cipher.seal(record, saltBytes, payload).seed });
      refuses(cipher, record, { ...sealed, seed: changed(sealed.seed, at, bit) });
      refuses(cipher, record, { ...sealed, ciphertext: changed(sealed.ciphertext, at, bit) });
    }),
  );
});

test('a cut ciphertext or seed never opens', () => {
  const record = id();
  const sealed = cipher.seal(record, new Uint8Array(32), 'a payload of some length');
  for (let length = 0; length < sealed.ciphertext.length; length++) {
    refuses(cipher, record, { ...sealed, ciphertext: sealed.ciphertext.subarray(0, length) });
  }
  refuses(cipher, record, { ...sealed, seed: sealed.seed.subarray(1) });
  refuses(cipher, record, { ...sealed, seed: new Uint8Array(0) });
});

test('a payload that an earlier version sealed opens', () => {
  const seed = Buffer.from('5f'.repeat(32), 'hex');
  const record = recordId('att_eu_01M7Y82XBT6DYXP8Y3D6SYTJ5H');
  const opened = cipher.open(record, { seed, ciphertext: Buffer.from(EARLIER_CIPHERTEXT, 'hex') });
  assert.equal([[...opened.salt], opened.text], [Array(32).fill(7), '{"data":"ünïcode"}']);
  refuses(cipher, record, { seed: changed(seed, 3, 1), ciphertext: Buffer.from(EARLIER_CIPHERTEXT, 'hex') });
});

test('the same payload sealed twice shares neither seed nor ciphertext', () => {
  const record = id();
  const [a, b] = [cipher.seal(record, new Uint8Array(32), 'same'), cipher.seal(record, new Uint8Array(32), 'same')];
  assert.not.equal([...a.seed], [...b.seed]);
  assert.not.equal([...a.ciphertext], [...b.ciphertext]);
});

test('what is packed is not taken for what is not, nor the other way round', () => {
  const record = id();
  const one = cipher.seal(record, new Uint8Array(32), 'a text');
  const packed = cipher.sealPacked(record, new Uint8Array(32), 'a text');
  assert.equal([one.seed[0], packed.seed[0]], [1, 3]);
  for (const kind of [0, 1, 2, 3, 4]) {
    for (const sealed of [one, packed]) {
      const seed = Uint8Array.from(sealed.seed);
      seed[0] = kind;
      if (kind !== sealed.seed[0]) refuses(cipher, record, { ...sealed, seed });
    }
  }
});

test('a packed payload takes half the room of one that repeats itself, and one too long for it is sealed as it is', () => {
  const record = id();
  const long = 'decision '.repeat(100);
  const { ciphertext } = cipher.sealPacked(record, new Uint8Array(32), long);
  assert.ok(ciphertext.length * 2 < long.length, `${ciphertext.length} bytes`);
  const longest = 'x'.repeat(MAX_PADDED_TEXT_BYTES + 1);
  const sealed = cipher.sealPacked(record, new Uint8Array(32), longest);
  assert.is(sealed.seed[0], 1);
  assert.is(cipher.open(record, sealed).text.length, longest.length);
});

test('payloads that are sealed one after another, short and long, open each to its own', () => {
  const sealed = Array.from({ length: 300 }, (_, i) => {
    const payload = String(i).repeat(1 + ((i * 37) % 4_000));
    const given = { record: id(), saltBytes: new Uint8Array(32).fill(i), payload };
    return { ...given, sealed: cipher.seal(given.record, given.saltBytes, given.payload) };
  });
  for (const { record, saltBytes, payload, sealed: one } of sealed) {
    const opened = cipher.open(record, one);
    assert.is(opened.text, payload);
    assert.equal([...opened.salt], [...saltBytes]);
  }
});

test('what was opened stays as it was while others are opened', () => {
  const [short, long] = ['one', 'another '.repeat(20_000)];
  const given = [short, long, short].map((payload, i) => {
    const [record, saltBytes] = [id(), new Uint8Array(32).fill(i + 1)];
    return { record, saltBytes, payload, sealed: cipher.seal(record, saltBytes, payload) };
  });
  const opened = given.map(({ record, sealed }) => cipher.open(record, sealed));
  opened.forEach(({ salt: openedSalt, text: openedText }, i) => {
    assert.is(openedText, given[i]?.payload);
    assert.equal([...openedSalt], [...(given[i]?.saltBytes ?? [])]);
  });
});

test('nothing of the plain text is in the ciphertext', () => {
  const word = 'confidential';
  const { ciphertext } = cipher.seal(id(), new Uint8Array(32), word.repeat(20));
  assert.is(Buffer.from(ciphertext).includes(word), false);
});

test.run();
