import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Problem } from '../../../node/http/problem.ts';
import { queryOf } from '../../../node/http/query.ts';

test('a query is read as forms write it', () => {
  const query = queryOf('?sourceId=caf%C3%A9+1&q=100%25&empty=&%F0%9F%9A%80=x');
  assert.equal(
    [...query],
    [
      ['sourceId', 'café 1'],
      ['q', '100%'],
      ['empty', ''],
      ['🚀', 'x'],
    ],
  );
  assert.equal([...queryOf('')], []);
});

test('what is not UTF-8 in percent escapes is refused with its name', () => {
  for (const search of [
    '?from=1&sourceId=%FF',
    '?sourceId=%C3',
    '?sourceId=%ED%A0%80',
    '?sourceId=100%',
    '?sourceId=%zz',
  ]) {
    assert.throws(
      () => queryOf(search),
      (error: unknown) =>
        error instanceof Problem && error.code === 'invalid-field' && error.detail.startsWith('sourceId '),
      search,
    );
  }
});

test.run();
