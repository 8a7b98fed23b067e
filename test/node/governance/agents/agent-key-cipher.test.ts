import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AgentKeyDamagedError, AgentKeyCipher } from '../../../../node/governance/agents/agent-key-cipher.ts';
import { openSigner } from '../../../../node/governance/agents/service-keys.ts';
import { nativeSigner } from '../../../../node/keys/native-suite.ts';

const ROW = 'agent-key/a/b';
const seed = new Uint8Array(32).map((_, i) => i);
const cipher = new AgentKeyCipher(new Uint8Array(32).fill(7));
const { keyId } = nativeSigner(seed);

function isDamaged(error: unknown): boolean {
  return error instanceof AgentKeyDamagedError;
}

test('a sealed seed opens in its row, and is another text each time', () => {
  const [once, twice] = [cipher.seal(ROW, seed), cipher.seal(ROW, seed)];
  assert.equal(cipher.open(ROW, once), seed);
  assert.equal(cipher.open(ROW, twice), seed);
  assert.not.equal(once, twice);
  assert.is(openSigner(cipher, ROW, keyId, once).keyId, keyId);
});

test('under another payload key, in another row, or with one bit changed, it does not open', () => {
  const sealed = cipher.seal(ROW, seed);
  assert.throws(() => new AgentKeyCipher(new Uint8Array(32).fill(8)).open(ROW, sealed), isDamaged);
  assert.throws(() => cipher.open('agent-key/a/c', sealed), isDamaged);
  assert.throws(() => cipher.open(ROW, sealed.subarray(1)), isDamaged);
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.map((byte, i) => (i === at ? byte ^ 1 : byte));
    assert.throws(() => cipher.open(ROW, changed), isDamaged, `byte ${at}`);
  }
});

test('a seed of another key is not taken for this one', () => {
  const other = cipher.seal(ROW, new Uint8Array(32));
  assert.throws(() => openSigner(cipher, ROW, keyId, other), isDamaged);
});

test('no error shows the seed', () => {
  try {
    cipher.open(ROW, cipher.seal('agent-key/x/y', seed));
  } catch (error) {
    assert.not.match(String(error), Buffer.from(seed).toString('hex'));
  }
});

test.run();
