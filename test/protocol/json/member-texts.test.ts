import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { memberTexts } from '../../../protocol/json/member-texts.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import { fc } from '../../fixtures/properties.ts';

test('each member of a canonical text is the canonical text of that member', () => {
  const name = fc.oneof(fc.string(), fc.constantFrom('__proto__', '"', '\\', 'a\\"', ',', '}', '10', '9'));
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue()), (made) => {
      const value = JSON.parse(JSON.stringify(made)) as JsonObject;
      const expected = Object.entries(value).map(([key, member]) => [key, canonicalize(member)]);
      assert.equal([...memberTexts(canonicalize(value))].sort(), expected.sort());
    }),
  );
});

test('what is no object has no members', () => {
  for (const text of ['', '1', '[]', '[1,2]', '"text"', 'null', '{}']) assert.is(memberTexts(text).size, 0, text);
});

test.run();
