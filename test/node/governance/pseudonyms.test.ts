import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Pseudonyms } from '../../../node/governance/subjects.ts';
import { PSEUDONYM_PATTERN } from '../../../protocol/chain/asserted.ts';
import { fc } from '../../fixtures/properties.ts';

const pseudonyms = new Pseudonyms(new Uint8Array(32).fill(7));
const elsewhere = new Pseudonyms(new Uint8Array(32).fill(8));
const name = fc.string({ minLength: 1 });

test('a person has one pseudonym in an account, and two persons have two', () => {
  fc.assert(
    fc.property(name, name, name, (account, a, b) => {
      assert.match(pseudonyms.reviewer(account, a), new RegExp(PSEUDONYM_PATTERN));
      assert.is(pseudonyms.reviewer(account, a) === pseudonyms.reviewer(account, b), a === b);
    }),
  );
});

test('in another account, on another node, in another part, a person has another pseudonym', () => {
  fc.assert(
    fc.property(name, name, (account, person) => {
      const all = [
        pseudonyms.reviewer(account, person),
        pseudonyms.holder(account, person),
        `hmac-sha256:${pseudonyms.subject(account, person)}`,
        pseudonyms.reviewer(`${account}x`, person),
        elsewhere.reviewer(account, person),
      ];
      assert.is(new Set(all).size, all.length);
    }),
  );
});

test('account and name do not run into each other', () => {
  assert.is.not(pseudonyms.reviewer('a', 'bc'), pseudonyms.reviewer('ab', 'c'));
});

test.run();
