import { createHash } from 'node:crypto';
import { wordlist } from '@scure/bip39/wordlists/english';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { sha256Hash } from '../../../protocol/hash.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import {
  FingerprintWordsError,
  fingerprintWords,
  readFingerprintWords,
} from '../../../protocol/verdict/fingerprint-words.ts';
import { fc } from '../../fixtures/properties.ts';

const fingerprint = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => sha256Hash(`sha256:${Buffer.from(bytes).toString('hex')}`));
const repeated = (word: string, last: string) => [...Array.from({ length: 23 }, () => word), last].join(' ');

test('the list is the English one of BIP-39', () => {
  const digest = createHash('sha256')
    .update(`${wordlist.join('\n')}\n`)
    .digest('hex');
  assert.is(digest, '2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda');
});

test('fingerprints have the words of the vectors of BIP-39', () => {
  const vectors = [
    ['00'.repeat(32), repeated('abandon', 'art')],
    [
      '7f'.repeat(32),
      'legal winner thank year wave sausage worth useful legal winner thank year wave sausage worth useful legal winner ' +
        'thank year wave sausage worth title',
    ],
    ['ff'.repeat(32), repeated('zoo', 'vote')],
    [
      'f585c11aec520db57dd353c69554b21a89b20fb0650966fa0a9d6f74fd989d8f',
      'void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing screen patrol group ' +
        'space point ten exist slush involve unfold',
    ],
  ] as const;
  for (const [hex, words] of vectors) {
    const hash = sha256Hash(`sha256:${hex}`);
    assert.is(fingerprintWords(nobleSuite, hash).join(' '), words);
    assert.is(readFingerprintWords(nobleSuite, `  ${words.toUpperCase().replaceAll(' ', '\n')} `), hash);
  }
});

test('words lead back to their fingerprint, and words in another order or a word too few to none', () => {
  fc.assert(
    fc.property(fingerprint, (hash) => {
      const words = fingerprintWords(nobleSuite, hash);
      assert.is(readFingerprintWords(nobleSuite, words.join(' ')), hash);
      assert.throws(
        () => readFingerprintWords(nobleSuite, words.slice(1).join(' ')),
        (error: unknown) => error instanceof FingerprintWordsError,
      );
    }),
    { numRuns: 50 },
  );
  const wrong = repeated('abandon', 'abandon');
  assert.throws(() => readFingerprintWords(nobleSuite, wrong), /do not go together/);
  assert.throws(() => readFingerprintWords(nobleSuite, wrong.replace('abandon', 'meridian')), /word 1 is not/);
});

test.run();
