import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { keptFrames } from '../../../node/federation/page-ahead.ts';
import { encodeRow, PAGE_BYTES } from '../../../node/federation/page-forms.ts';

/** A frame of a row that says to open to so many bytes. */
function rowOf(bytes: number, opened: number): Uint8Array {
  const row = Buffer.alloc(bytes, 0xff);
  row.writeUInt32BE(opened, 5);
  return encodeRow(row);
}

async function keptOf(frame: Uint8Array, frames: number): Promise<number | null> {
  const page = async function* () {
    for (let i = 0; i < frames; i++) yield frame;
  };
  return (await keptFrames(page()))?.length ?? null;
}

test('a page that waits takes eight pages of memory at most, by its frames and by what they say to open to', async () => {
  for (const frame of [rowOf(PAGE_BYTES / 2, 0), rowOf(100, PAGE_BYTES / 2), Buffer.alloc(PAGE_BYTES / 2, 'R')]) {
    assert.is(await keptOf(frame, 15), 15);
    assert.is(await keptOf(frame, 17), null);
  }
});

test.run();
