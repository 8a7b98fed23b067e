import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSigner, nativeSuite, verifyApart } from '../../../node/keys/native-suite.ts';
import { type CachingSuite, cachingSuite } from '../../../node/keys/caching-suite.ts';
import { encodeBase64url, utf8 } from '../../../protocol/bytes.ts';
import type { Suite } from '../../../protocol/suite/suite.ts';

const signer = nativeSigner(new Uint8Array(32).fill(3));
const message = utf8('{"a":1}');

function counting(): { readonly suite: CachingSuite; readonly calls: () => number } {
  let calls = 0;
  const suite: Suite = {
    ...nativeSuite,
    verify(...parts) {
      calls++;
      return nativeSuite.verify(...parts);
    },
  };
  const apart = (...parts: Parameters<Suite['verify']>) => {
    calls++;
    return verifyApart(...parts);
  };
  return { suite: cachingSuite(suite, apart), calls: () => calls };
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

test('a signature of a text is remembered as one of bytes is, and one with any other character is another', async () => {
  const { suite, calls } = counting();
  const statement = '{"a":1}';
  const signature = encodeBase64url(await signer.sign(message, 'meridian/batch/1'));
  for (let i = 0; i < 2; i++) assert.ok(suite.holds(signer.publicKey, { statement, signature }, 'meridian/batch/1'));
  assert.is(calls(), 1);
  const last = signature.at(-2) === 'A' ? 'B' : 'A';
  const changed = `${signature.slice(0, -2)}${last}${signature.slice(-1)}`;
  assert.not.ok(suite.holds(signer.publicKey, { statement, signature: changed }, 'meridian/batch/1'));
  assert.not.ok(suite.holds(signer.publicKey, { statement: '{"a":2}', signature }, 'meridian/batch/1'));
  assert.not.ok(suite.holds(signer.publicKey, { statement, signature }, 'meridian/group/1'));
  for (const text of ['no base64', '', '\ud800']) {
    assert.not.ok(suite.holds(signer.publicKey, { statement, signature: text }, 'meridian/batch/1'));
    assert.not.ok(suite.holds(signer.publicKey, { statement: '\ud800', signature: text }, 'meridian/batch/1'));
  }
});

test('what was checked apart is known, if it held', async () => {
  const { suite, calls } = counting();
  const signature = encodeBase64url(await signer.sign(message, 'meridian/batch/1'));
  const good = { statement: '{"a":1}', signature };
  const bad = { statement: '{"a":2}', signature };
  await Promise.all([good, good, bad].map((signed) => suite.checkApart(signer.publicKey, signed, 'meridian/batch/1')));
  const before = calls();
  assert.ok(suite.holds(signer.publicKey, good, 'meridian/batch/1'));
  assert.is(calls(), before);
  assert.not.ok(suite.holds(signer.publicKey, bad, 'meridian/batch/1'));
  assert.is(calls(), before + 1);
});

test.run();
