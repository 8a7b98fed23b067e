import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeItem, encodeItem } from '../../../node/federation/page-forms.ts';
import { recordIndex } from '../../../node/records/record-tables.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { CHAIN_TABLES, rowsOf } from './member-fixture.ts';
import { Pulling } from './pulling.ts';
import { anotherKind } from './rebuilding.ts';

const [EU, US] = [nodeId('eu'), nodeId('us')];
/** Enough for four pages. */
const BATCHES = 4;
const BATCH_RECORDS = 1_200;
const GROUP_RECORDS = 200;

async function startWithPages(holders: readonly string[]): Promise<Pulling> {
  const pulling = await Pulling.start();
  const drafts = Array.from({ length: BATCH_RECORDS }, () => ({}));
  for (let i = 0; i < BATCHES; i++) await pulling.seal('eu', holders, drafts, GROUP_RECORDS);
  return pulling;
}

/** Records from which pages were asked for. */
function startsAsked({ network }: Pulling, of: string): readonly number[] {
  return network.pages.flatMap(({ to, request }) => (to === of && request.want === 'chain' ? [request.seq] : []));
}

async function assertWhole(pulling: Pulling): Promise<void> {
  const [own, origin] = await Promise.all(
    ['jp', 'eu'].map((name) => rowsOf(pulling.fixture(name).store, CHAIN_TABLES)),
  );
  assert.equal(own, origin);
}

test('from the second page on the next is asked for while one is checked; none twice, and one at a time', async () => {
  await using pulling = await startWithPages(['eu']);
  const { store } = pulling.fixture('jp');
  const held: number[] = [];
  pulling.network.distortions.set('eu', async function* (frames) {
    held.push((await rowsOf(store, [recordIndex.name])).size);
    yield* frames;
  });
  pulling.catchUp.lead(EU, EU, BATCHES);
  await pulling.catchUp.settled(EU);
  const starts = startsAsked(pulling, 'eu');
  assert.ok(starts.length > 2, starts.join());
  assert.is(new Set(starts).size, starts.length);
  assert.ok((held[2] ?? 0) < (starts[2] ?? 0) - 1, 'the third was asked for before the second was taken');
  assert.is(pulling.network.mostAtOnce, 1);
  await assertWhole(pulling);
});

test('a lie in a page that was asked for ahead is refused like any other, and the chain comes whole from another peer', async () => {
  await using pulling = await startWithPages(['eu', 'us']);
  let pages = 0;
  pulling.network.distortions.set('eu', async function* (frames) {
    const isFalse = ++pages === 3;
    for await (const frame of frames) {
      const item = decodeItem(frame);
      yield isFalse && item.kind === 'records'
        ? encodeItem({ kind: 'records', records: item.records.map(anotherKind) })
        : frame;
    }
  });
  pulling.catchUp.lead(EU, EU, BATCHES);
  pulling.catchUp.lead(EU, US, BATCHES);
  await pulling.catchUp.settled(EU);
  assert.equal(startsAsked(pulling, 'us')[0], startsAsked(pulling, 'eu')[2], 'what was whole is kept');
  assert.equal(pulling.contradictions, []);
  await assertWhole(pulling);
});

test('a page that does not arrive whole is not taken in part, and asked for again of another', async () => {
  await using pulling = await startWithPages(['eu', 'us']);
  let pages = 0;
  pulling.network.distortions.set('eu', async function* (frames) {
    const isCut = ++pages === 3;
    let sent = 0;
    for await (const frame of frames) {
      if (isCut && ++sent > 20) throw new Error('cut');
      yield frame;
    }
  });
  pulling.catchUp.lead(EU, EU, BATCHES);
  pulling.catchUp.lead(EU, US, BATCHES);
  await pulling.catchUp.settled(EU);
  await assertWhole(pulling);
});

test('a peer that says more than it holds is found out, page ahead or not', async () => {
  await using pulling = await startWithPages(['eu']);
  pulling.catchUp.lead(EU, EU, BATCHES + 1_000);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), BATCHES);
  await assertWhole(pulling);
});

test.run();
