import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { decodeBase64url, decodeHex, utf8 } from '../../../protocol/bytes.ts';
import { nobleSigner, nobleSuite } from '../../../protocol/suite/noble.ts';
import { PUBLIC_KEY_BYTES, SEED_BYTES, SIGNATURE_BYTES, type SigningContext } from '../../../protocol/suite/suite.ts';
import { repeatableSigner } from '../../fixtures/federation-member.ts';

interface Vectors {
  readonly keys: readonly string[];
  readonly cases: readonly {
    readonly id: number;
    readonly what: string;
    readonly key: number;
    readonly message: string;
    readonly context: string;
    readonly signature: string;
    readonly valid: boolean;
  }[];
  readonly seeds: readonly { readonly seed: string; readonly publicKeySha256: string }[];
}

const CONTEXTS: readonly SigningContext[] = [
  'meridian/group/1',
  'meridian/batch/1',
  'meridian/checkpoint/1',
  'meridian/key/1',
  'meridian/revocation/1',
  'meridian/roster/1',
];

const vectors: Vectors = JSON.parse(readFileSync(new URL('../../vectors/ml-dsa-65.json', import.meta.url), 'utf8'));
const suites = [nobleSuite, nativeSuite];
const signers = { noble: nobleSigner, native: nativeSigner, repeatable: repeatableSigner };
const seed = Uint8Array.from({ length: SEED_BYTES }, (_, i) => i);

for (const suite of suites) {
  test(`${suite.name} answers every published verification vector as published`, () => {
    assert.ok(vectors.cases.length >= 20);
    for (const { id, what, key, message, context, signature, valid } of vectors.cases) {
      const publicKey = decodeBase64url(vectors.keys[key] ?? '');
      // The vectors have contexts of their own; an implementation takes any text of up to 255 bytes.
      const answer = suite.verify(publicKey, decodeHex(message), decodeBase64url(signature), context as SigningContext);
      assert.is(answer, valid, `${id}: ${what}`);
    }
  });
}

for (const [name, signerOf] of Object.entries(signers)) {
  test(`${name} makes the published public key of every published seed`, () => {
    for (const { seed: text, publicKeySha256 } of vectors.seeds) {
      const signer = signerOf(decodeHex(text));
      assert.is(signer.keyId, `sha256:${publicKeySha256}`);
      assert.is(signer.publicKey.length, PUBLIC_KEY_BYTES);
    }
  });

  test(`what ${name} signs, both suites accept in that context and in no other`, async () => {
    const signer = signerOf(seed);
    const message = utf8('{"any":"message"}');
    for (const context of CONTEXTS) {
      const signature = await signer.sign(message, context);
      assert.is(signature.length, SIGNATURE_BYTES);
      for (const suite of suites) {
        for (const tried of CONTEXTS) {
          assert.is(
            suite.verify(signer.publicKey, message, signature, tried),
            tried === context,
            `${suite.name} ${tried}`,
          );
        }
      }
    }
  });

  test(`${name} refuses a seed of another length`, () => {
    for (const length of [0, 31, 33, 64]) assert.throws(() => signerOf(new Uint8Array(length)));
  });
}

test('both suites give the same answer on every changed message, signature and key', async () => {
  const signer = nativeSigner(seed);
  const message = utf8('{"any":"message"}');
  const signature = await signer.sign(message, 'meridian/group/1');
  for (const suite of suites) {
    const verify = (key: Uint8Array, text: Uint8Array, signed: Uint8Array) =>
      suite.verify(key, text, signed, 'meridian/group/1');
    assert.ok(verify(signer.publicKey, message, signature));
    for (const at of [0, 47, 48, 2000, 3248, 3303, SIGNATURE_BYTES - 1]) {
      assert.not(verify(signer.publicKey, message, flipped(signature, at)), `${suite.name}: signature byte ${at}`);
    }
    for (const at of [0, 31, 32, 1000, PUBLIC_KEY_BYTES - 1]) {
      assert.not(verify(flipped(signer.publicKey, at), message, signature), `${suite.name}: key byte ${at}`);
    }
    for (let at = 0; at < message.length; at++) assert.not(verify(signer.publicKey, flipped(message, at), signature));
    assert.not(verify(signer.publicKey, new Uint8Array(), signature));
  }
});

test('keys and signatures of a wrong length are false, not an error', async () => {
  const signer = nobleSigner(seed);
  const message = utf8('message');
  const signature = await signer.sign(message, 'meridian/batch/1');
  const lengthened = (bytes: Uint8Array) => Uint8Array.from([...bytes, 0]);
  for (const suite of suites) {
    for (const wrong of [new Uint8Array(), signature.subarray(1), lengthened(signature)]) {
      assert.is(suite.verify(signer.publicKey, message, wrong, 'meridian/batch/1'), false);
    }
    for (const wrong of [new Uint8Array(), signer.publicKey.subarray(1), lengthened(signer.publicKey)]) {
      assert.is(suite.verify(wrong, message, signature, 'meridian/batch/1'), false);
    }
  }
});

test('signing is hedged: two signatures of one message differ, and both hold', async () => {
  const message = utf8('message');
  for (const signer of [nobleSigner(seed), nativeSigner(seed)]) {
    const one = await signer.sign(message, 'meridian/group/1');
    const two = await signer.sign(message, 'meridian/group/1');
    assert.not.equal(Buffer.from(one), Buffer.from(two));
    for (const suite of suites) {
      assert.ok(suite.verify(signer.publicKey, message, one, 'meridian/group/1'));
      assert.ok(suite.verify(signer.publicKey, message, two, 'meridian/group/1'));
    }
  }
});

test('both suites hash the concatenation of the parts', () => {
  const parts = [utf8('a'), new Uint8Array(), utf8('bc')];
  for (const hash of ['sha256', 'sha384'] as const) {
    const expected = nobleSuite[hash](utf8('abc'));
    for (const suite of suites) {
      assert.equal(Buffer.from(suite[hash](...parts)), Buffer.from(expected));
      assert.equal(Buffer.from(suite[hash]()), Buffer.from(nobleSuite[hash](new Uint8Array())));
    }
  }
});

function flipped(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

test.run();
