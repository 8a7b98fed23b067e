import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { utf8 } from '../../../protocol/bytes.ts';
import { bodyHash, entityTag, heldBody, heldTag } from '../../../node/http/entity-tag.ts';
import { fc } from '../../fixtures/properties.ts';

const ENCODINGS = ['br', 'gzip'];
const HASH = bodyHash(utf8('a body'));

test('the same bytes have the same validator, others another, and each encoding its own', () => {
  assert.is(heldBody('a body').bodyHash, HASH);
  assert.is.not(bodyHash(utf8('a bodY')), HASH);
  const tags = [null, ...ENCODINGS].map((encoding) => entityTag(HASH, encoding));
  assert.is(new Set(tags).size, 3);
  for (const tag of tags) assert.match(tag, /^"[A-Za-z0-9_-]{32}(-br|-gzip)?"$/);
});

test('a caller holds what one of its tags names, weak or strong, in an encoding that there is', () => {
  const held = (text: string) => heldTag(text, HASH, ENCODINGS);
  const gzip = entityTag(HASH, 'gzip');
  assert.is(held(gzip), gzip);
  assert.is(held(`W/${gzip}`), gzip);
  assert.is(held(`"other" ,"",${gzip}`), gzip);
  assert.is(held(entityTag(HASH, null)), entityTag(HASH, null));
  assert.is(held(' * '), entityTag(HASH, null));
  assert.is(heldTag(gzip, HASH, []), null);
});

test('anything else is not held', () => {
  for (const text of [
    '',
    HASH,
    `"${HASH}`,
    `"${HASH}-zstd"`,
    `"${HASH} "`,
    '"*"',
    `'${HASH}'`,
    '"'.repeat(9_000),
    entityTag(bodyHash(utf8('x')), null),
  ]) {
    assert.is(heldTag(text, HASH, ENCODINGS), null, text);
  }
});

test('whatever stands in the header, what is held is a tag of this body that stands there', () => {
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom(...[null, ...ENCODINGS].map((encoding) => entityTag(HASH, encoding))),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const header = parts.join(', ');
      const tag = heldTag(header, HASH, ENCODINGS);
      if (tag !== null && header.trim() !== '*') assert.ok(header.includes(tag));
    }),
  );
});

test.run();
