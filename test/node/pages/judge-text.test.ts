import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { judgeText, readPinnedRosters } from '../../../node/pages/browser/judge-text.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { FileError } from '../../../protocol/verdict/file-reader.ts';
import { bundleOf, rosterEntries } from '../../fixtures/federation-log-bundle.ts';
import { FederationLog } from '../../fixtures/federation-log.ts';

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const log = await FederationLog.create();

/** The same bytes with one that is never part of UTF-8 in the place of the first U+FFFD. */
function damaged(text: string): Uint8Array {
  const bytes = Buffer.from(text);
  const at = bytes.indexOf('\ufffd');
  assert.ok(at > 0);
  return Buffer.concat([bytes.subarray(0, at), Uint8Array.of(0xff), bytes.subarray(at + 3)]);
}

test('a page judges the bytes of a file, not what a browser would show of them', async () => {
  const sealed = await log.record('eu', [{ payload: { data: { name: 'caf\ufffd' } } }]);
  const text = JSON.stringify(await bundleOf(log, sealed, 0, { disclosed: true }));
  const judged = await judgeText(utf8(text), { pin: log.genesis });
  assert.is(judged.kind === 'bundle' && judged.verdict.word, 'verified');
  for (const bytes of [damaged(text), Uint8Array.of(...BYTE_ORDER_MARK, ...utf8(text))]) {
    assert.is((await judgeText(bytes, { pin: log.genesis })).kind, 'unreadable');
  }
});

test('nor pins a page by what a browser would show of a file of rosters', () => {
  const text = JSON.stringify(rosterEntries(log, []));
  assert.ok(readPinnedRosters(utf8(text)));
  const bytes = Uint8Array.of(...utf8(text), 0xff);
  assert.throws(
    () => readPinnedRosters(bytes),
    (error: unknown) => error instanceof FileError,
  );
});

test.run();
