import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeItem, encodeItem, PAGE_ENVELOPES } from '../../../node/federation/page-forms.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { CHAIN_TABLES, rowsOf } from './member-rooms.ts';
import { Pulling } from './pulling.ts';
import { anotherKind } from './rebuilding.ts';

const [EU, US] = [nodeId('eu'), nodeId('us')];
/** Of one record each: pages are full of envelopes. */
const PAGES = 4;
const BATCHES = (PAGES - 1) * PAGE_ENVELOPES + 10;

async function startWithPages(holders: readonly string[]): Promise<Pulling> {
  const pulling = await Pulling.start();
  for (let i = 0; i < BATCHES; i++) await pulling.seal('eu', holders, [{}], 1);
  return pulling;
}

/** Batches from which pages were asked for. */
function startsAsked({ network }: Pulling, of: string): readonly number[] {
  return network.pages.flatMap(({ to, request }) => (to === of && request.want === 'chain' ? [request.batch] : []));
}

async function isWhole(pulling: Pulling): Promise<boolean> {
  const [own, origin] = await Promise.all(['jp', 'eu'].map((name) => rowsOf(pulling.room(name).store, CHAIN_TABLES)));
  return JSON.stringify(own) === JSON.stringify(origin);
}

test('from the second page on the next is asked for while one is checked; none twice, none past the end, one at a time', async () => {
  await using pulling = await startWithPages(['eu']);
  const heads: number[] = [];
  pulling.network.distortions.set('eu', (frames) => {
    heads.push(pulling.head('eu'));
    return frames;
  });
  pulling.catchUp.lead(EU, EU, BATCHES);
  await pulling.catchUp.settled(EU);
  assert.equal(startsAsked(pulling, 'eu'), Array.from({ length: PAGES }, (_, i) => i * PAGE_ENVELOPES + 1));
  assert.ok((heads[2] ?? BATCHES) < 2 * PAGE_ENVELOPES, 'the third was asked for before the second was taken');
  assert.is(pulling.network.mostAtOnce, 1);
  assert.ok(await isWhole(pulling));
});

test('a lie in a page that was asked for ahead is refused like any other, and the chain comes whole from another peer', async () => {
  await using pulling = await startWithPages(['eu', 'us']);
  let pages = 0;
  pulling.network.distortions.set('eu', async function* (frames) {
    const isFalse = ++pages === 3;
    for await (const frame of frames) {
      const item = decodeItem(frame);
      yield isFalse && item.kind === 'records' ? encodeItem({ ...item, records: item.records.map(anotherKind) }) : frame;
    }
  });
  pulling.catchUp.lead(EU, EU, BATCHES);
  pulling.catchUp.lead(EU, US, BATCHES);
  await pulling.catchUp.settled(EU);
  assert.equal(startsAsked(pulling, 'us')[0], 2 * PAGE_ENVELOPES + 1, 'what was whole is kept');
  assert.equal(pulling.contradictions, []);
  assert.ok(await isWhole(pulling));
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
  assert.ok(await isWhole(pulling));
});

test('a peer that says more than it holds is found out, page ahead or not', async () => {
  await using pulling = await startWithPages(['eu']);
  pulling.catchUp.lead(EU, EU, BATCHES + 1_000);
  await pulling.catchUp.settled(EU);
  assert.is(pulling.head('eu'), BATCHES);
  assert.ok(await isWhole(pulling));
});

test.run();
