import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { plainText } from '../../../../node/services/regulatory-feed/plain-text.ts';
import { fc } from '../../../fixtures/properties.ts';

test('tags go, entities are decoded once, white space is one space', () => {
  assert.is(plainText('<p>AT&amp;T\n<b>says</b>&nbsp; &lt;no&gt; &amp;lt;</p>', 100), 'AT&T says <no> &lt;');
  assert.is(plainText('1 < 2, a <- b &#8364; &#x20AC; &unknown;', 100), '1 < 2, a <- b € € &unknown;');
});

test('scripts, styles, comments and what is cut off in a tag are not read', () => {
  assert.is(plainText('a<script>alert(1)</script>b<style>x{}</style><!-- c -->d', 100), 'a b d');
  assert.is(plainText('a<script>never closed', 100), 'a');
  assert.is(plainText('a <img src="x" onerror="alert(1)"', 100), 'a');
});

test('controls and marks that turn the direction of text are taken out', () => {
  assert.is(plainText('a\u0000b\u202ec\u0007', 100), 'abc');
  assert.is(plainText('&#0;&#xD800;x', 100), '\ufffdx');
});

test('a long text is cut at a word', () => {
  assert.is(plainText('one two three four', 12), 'one two…');
  assert.is([...plainText('😀'.repeat(20), 10)].length, 10);
});

test('whatever comes, the text is well formed and no longer than it may be', () => {
  const pieces = fc.constantFrom(
    '<',
    '>',
    '</',
    '<script',
    '&#',
    '&amp;',
    ';',
    '<!--',
    '-->',
    'a',
    ' ',
    '\u{1f600}',
    '\ud800',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const text = plainText(parts.join(''), 20);
      assert.ok([...text].length <= 20);
      assert.ok(text.isWellFormed());
      assert.not.match(text, /[\u0000-\u001f]/);
    }),
  );
});

test('markup that is made to be slow is read in time', () => {
  const started = performance.now();
  for (const bad of ['<script>', '<', '<!--', '&#', '<a ', '</script']) plainText(bad.repeat(200_000), 1000);
  assert.ok(performance.now() - started < 10_000);
});

test.run();
