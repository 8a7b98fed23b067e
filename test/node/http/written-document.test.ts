import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { writtenDocument } from '../../../node/http/written-document.ts';

test('a document is written once for all who ask, again after a move, and again where it failed', async () => {
  let address = 'https://eu.example';
  const written: string[] = [];
  const document = writtenDocument(
    () => address,
    async (named) => {
      written.push(named);
      await Promise.resolve();
      if (written.length === 1) throw new Error('it fails once');
      return `of ${named}`;
    },
  );
  const outcomes = await Promise.allSettled([document(), document()]);
  assert.equal(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  const [one, other] = await Promise.all([document(), document()]);
  assert.is(one, other);
  address = 'https://moved.example';
  assert.is(Buffer.from((await document()).body).toString(), 'of https://moved.example');
  assert.equal(written, ['https://eu.example', 'https://eu.example', address]);
});

test.run();
