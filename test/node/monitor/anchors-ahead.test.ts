import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AnchorsAhead } from '../../../node/monitor/anchors-ahead.ts';
import type { SeenAnchor } from '../../../node/monitor/state.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { consensusOf } from '../../fixtures/federation-topic.ts';

function anchor(batch: number, name = ''): SeenAnchor {
  const hash = hashText(nobleSuite, `${batch} ${name}`);
  return { batch, envelope: hash, message: hash, consensus: consensusOf(1) };
}

test('an anchor is kept once until its batch is read, and of one batch a few', () => {
  const ahead = new AnchorsAhead();
  for (const seen of [anchor(2), anchor(2), anchor(3)]) ahead.add(seen);
  assert.is(ahead.all().length, 2);
  assert.equal(ahead.take(2), [anchor(2)]);
  assert.equal([ahead.take(2), ahead.all()], [[], [anchor(3)]]);
  for (let i = 0; i < 50; i++) ahead.add(anchor(3, `${i}`));
  assert.is(ahead.take(3).length, 8);
});

test('where a stranger names batches far ahead without end, those that come next are kept', () => {
  const ahead = new AnchorsAhead();
  for (let batch = 1_000_000; batch < 1_020_000; batch++) ahead.add(anchor(batch));
  assert.ok(ahead.isMany);
  ahead.add(anchor(2_000_000));
  ahead.add(anchor(7));
  assert.is(ahead.all().length, 20_000);
  assert.equal([ahead.take(7).length, ahead.take(1_000_000).length, ahead.take(2_000_000).length], [1, 1, 0]);
});

test.run();
