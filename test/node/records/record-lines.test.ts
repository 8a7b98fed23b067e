import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { joinTexts, splitTexts } from '../../../node/records/record-lines.ts';
import { fc } from '../../fixtures/properties.ts';

const line = fc.json().map((text) => text.replaceAll('\n', ''));
const record = fc.record({ head: line, body: line }, { noNullPrototype: true });

test('records come out of their lines as they went in, in order', () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 70 }), (records) => {
      assert.equal(splitTexts(joinTexts(records)), records);
      assert.is(joinTexts(records).split('\n').length, 2 * records.length);
    }),
    { numRuns: 200 },
  );
});

test('a head whose body is cut off has none that it could name, and the others stay in their places', () => {
  const records = [
    { head: '{"a":1}', body: '{"b":1}' },
    { head: '{"a":2}', body: '{"b":2}' },
  ];
  const lines = joinTexts(records);
  assert.equal(splitTexts(lines.slice(0, lines.lastIndexOf('\n'))), [records[0], { head: '{"a":2}', body: '' }]);
  assert.equal(splitTexts(''), [{ head: '', body: '' }]);
});

test.run();
