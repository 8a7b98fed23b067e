import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ProgressLine } from '../../../node/fsck/progress-line.ts';

class Screen {
  text = '';
  readonly isTTY: boolean;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(more: string): void {
    this.text += more;
  }
}

test('a terminal has a bar with what is done, how fast, and the time left', () => {
  const screen = new Screen(true);
  let now = 0;
  const line = new ProgressLine(screen, 'records', () => now);
  now = 10_000;
  line.show(500, 2_000);
  assert.match(screen.text, '[######..................] 500 of 2000 records, 50/s, 0:30 left');
  now += 100;
  line.show(600, 2_000);
  assert.not.match(screen.text, '600');
  line.clear();
  assert.ok(screen.text.endsWith('\r\u001b[2K'));
});

test('elsewhere it is a line every few seconds, and none of what is soon done', () => {
  const screen = new Screen(false);
  let now = 0;
  const line = new ProgressLine(screen, 'rows', () => now);
  for (; now < 12_000; now += 1_000) line.show(now, 0);
  line.clear();
  assert.equal(screen.text, '5000 rows, 1000/s\n10000 rows, 1000/s\n');
});

test.run();
