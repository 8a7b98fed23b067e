import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { cachingSuite } from '../../../node/verification/caching-suite.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';

const signer = nativeSigner(new Uint8Array(32).fill(3));
const message = utf8('{"a":1}');

function counting(): { readonly suite: Suite; readonly calls: () => number } {
  let calls = 0;
  const suite: Suite = {
    ...nativeSuite,
    verify(...parts) {
      calls++;
      return nativeSuite.verify(...parts);
    },
  };
  return { suite: cachingSuite(suite), calls: () => calls };
}

test('a signature that held is not computed twice; one with any other byte is', async () => {
  const { suite, calls } = counting();
  const signature = await signer.sign(message, 'meridian/batch/1');
  assert.ok(suite.verify(signer.publicKey, message, signature, 'meridian/batch/1'));
  assert.ok(suite.verify(signer.publicKey, message, signature, 'meridian/batch/1'));
  assert.is(calls(), 1);
  const flipped = Uint8Array.from(signature);
  flipped[100] = (flipped[100] ?? 0) ^ 1;
  assert.not.ok(suite.verify(signer.publicKey, message, flipped, 'meridian/batch/1'));
  assert.not.ok(suite.verify(signer.publicKey, utf8('{"a":2}'), signature, 'meridian/batch/1'));
  assert.not.ok(suite.verify(signer.publicKey, message, signature, 'meridian/group/1'));
  const stranger = nativeSigner(new Uint8Array(32).fill(4));
  assert.not.ok(suite.verify(stranger.publicKey, message, signature, 'meridian/batch/1'));
  assert.is(calls(), 5);
});

test('bytes moved between key, signature and message are another signature', async () => {
  const { suite } = counting();
  const signature = await signer.sign(message, 'meridian/batch/1');
  assert.ok(suite.verify(signer.publicKey, message, signature, 'meridian/batch/1'));
  const joined = Buffer.concat([signature, message]);
  const cut = signature.length - 1;
  assert.not.ok(suite.verify(signer.publicKey, joined.subarray(cut), joined.subarray(0, cut), 'meridian/batch/1'));
});

test('a signature that did not hold is computed again', async () => {
  const { suite, calls } = counting();
  const wrong = new Uint8Array(3309);
  for (let i = 0; i < 2; i++) assert.not.ok(suite.verify(signer.publicKey, message, wrong, 'meridian/batch/1'));
  assert.is(calls(), 2);
});

test.run();
