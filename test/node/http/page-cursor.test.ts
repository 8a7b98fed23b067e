import Type from 'typebox';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FilteredCursor, PageCursor, RowPlaceShape } from '../../../node/http/page-cursor.ts';
import { Problem } from '../../../node/http/problem.ts';
import { encodeBase64url, utf8 } from '../../../protocol/bytes.ts';
import { MAX_CURSOR_CHARACTERS, OrdinalShape } from '../../../protocol/shapes.ts';
import { fc } from '../../fixtures/properties.ts';

const cursor = new PageCursor(Type.Tuple([RowPlaceShape, OrdinalShape]), ['eu/x', 7]);

const filtered = new FilteredCursor(Type.Tuple([OrdinalShape]), [7]);

function refusalOf(text: string, read: (text: string) => unknown = (given) => cursor.read(given)): Problem | null {
  try {
    read(text);
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function textOf(value: unknown): string {
  return encodeBase64url(utf8(JSON.stringify(value)));
}

test('a place is read as it was written, and the first page has none', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 64 }), fc.integer({ min: 1 }), (row, number) => {
      const place: [string, number] = [row, number];
      assert.equal(cursor.read(cursor.write(place)), place);
    }),
  );
  assert.is(cursor.read(undefined), undefined);
  assert.equal(cursor.read(cursor.parameter.example), ['eu/x', 7]);
});

test('what is no place of the list is refused, by the name of the parameter', () => {
  const others = [
    textOf([7, 'eu/x']),
    textOf(['eu/x']),
    textOf(['eu/x', 7, 7]),
    textOf(['eu/x', 0]),
    textOf(['eu/x', 1.5]),
    textOf({ 0: 'eu/x', 1: 7 }),
    encodeBase64url(utf8('["\\ud800",7]')),
    encodeBase64url(Uint8Array.of(0xff)),
    'no base64url!',
    '',
    textOf(['x'.repeat(MAX_CURSOR_CHARACTERS), 7]),
  ];
  for (const text of others) {
    const refusal = refusalOf(text);
    assert.equal([refusal?.code, refusal?.errors[0]?.field], ['invalid-field', 'cursor'], text.slice(0, 40));
  }
});

test('a cursor of a list with filters is good under the same ones alone, in whatever order they are named', () => {
  const text = filtered.write([7], { state: 'open', sourceId: 'loans', from: undefined });
  assert.equal(filtered.read(text, { sourceId: 'loans', state: 'open' }), [7]);
  assert.is(filtered.read(undefined, { state: 'open' }), undefined);
  const others = [{}, { state: 'open' }, { state: 'due', sourceId: 'loans' }, { state: 'loans', sourceId: 'open' }];
  for (const filters of others) {
    const refusal = refusalOf(text, (given) => filtered.read(given, filters));
    assert.equal([refusal?.code, refusal?.errors[0]?.field], ['invalid-field', 'cursor'], JSON.stringify(filters));
  }
  const [placed = ''] = text.split('.');
  for (const other of [placed, `${placed}.`, `${text}.x`, `.${text}`, cursor.write(['eu/x', 7])]) {
    assert.is(
      refusalOf(other, (given) => filtered.read(given, { state: 'open', sourceId: 'loans' }))?.code,
      'invalid-field',
    );
  }
});

test.run();
