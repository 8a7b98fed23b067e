import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ListSearches,
  ListsUnavailableError,
  type Pack,
  type UnavailableList,
} from '../../../node/screening/list-searches.ts';
import type { Edition, ListedEntry, Lists } from '../../../node/screening/lists/contract.ts';
import { MISSING_AFTER_MS, STALE_AFTER_MS } from '../../../node/screening/lists/freshness.ts';
import { LIST_IDS, type ListId } from '../../../node/screening/lists/list-id.ts';
import { packEdition } from '../../../node/screening/pack-edition.ts';
import { referenceDatabase, screenName } from '../../../node/screening/screening.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { editionOf, listedEntry } from '../../fixtures/listed-entries.ts';

const START = Date.parse('2026-11-21T09:00:00.000Z');

/** Lists of a test: editions come into force by `take`. */
class World implements Pick<Lists, 'current' | 'intact' | 'onChange'>, AsyncDisposable {
  now = START;
  /** Awaited before an edition is packed. */
  packing: Promise<void> = Promise.resolve();
  packed: string[] = [];
  readonly searches: ListSearches;
  readonly #current = new Map<ListId, Edition>();
  readonly #entries = new Map<string, readonly ListedEntry[]>();
  #listener: (edition: Edition) => void = () => {};

  constructor() {
    const pack: Pack = async ({ fileHash, listId }, signal) => {
      await this.packing;
      signal.throwIfAborted();
      const entries = this.#entries.get(fileHash);
      if (entries === undefined) throw new Error('the files are damaged');
      this.packed.push(listId);
      return packEdition(entries);
    };
    const log = pino({ level: 'silent' });
    this.searches = new ListSearches({ lists: this, pack, now: () => this.now, log });
  }

  static async start(except: readonly ListId[] = []): Promise<World> {
    const world = new World();
    for (const listId of LIST_IDS.filter((candidate) => !except.includes(candidate))) {
      world.take(listId, [listedEntry('1', [`One of ${listId}`])]);
    }
    world.searches.start();
    await world.searches.settled();
    return world;
  }

  current(): ReadonlyMap<ListId, Edition> {
    return this.#current;
  }

  async intact(listId: ListId): Promise<Edition | undefined> {
    const edition = this.#current.get(listId);
    if (edition === undefined || this.#entries.has(edition.fileHash)) return edition;
    this.#current.delete(listId);
    return undefined;
  }

  onChange(listener: (edition: Edition) => void): () => void {
    this.#listener = listener;
    return () => (this.#listener = () => {});
  }

  /** `isDamaged`: it cannot be read. */
  take(listId: ListId, entries: readonly ListedEntry[], { isDamaged = false } = {}): Edition {
    const edition = editionOf(listId, entries, { retrievedAt: timestampOf(this.now) });
    if (!isDamaged) this.#entries.set(edition.fileHash, entries);
    this.#current.set(listId, edition);
    this.#listener(edition);
    return edition;
  }

  unavailable(): readonly UnavailableList[] {
    try {
      this.searches.usable();
    } catch (error) {
      if (error instanceof ListsUnavailableError) return error.lists;
      throw error;
    }
    return [];
  }

  screen(name: string) {
    return screenName(name, this.searches.usable().values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.searches[Symbol.asyncDispose]();
  }
}

test('all lists are screened, in one order, and named with their hashes', async () => {
  await using world = await World.start();
  const { lists, result, matchCount, totalEntries } = world.screen('one of un sc consolidated');
  assert.equal(
    lists.map(({ listId }) => listId),
    LIST_IDS,
  );
  assert.equal([result, matchCount, totalEntries], ['match', 1, LIST_IDS.length]);
  assert.equal(
    lists.filter((list) => list.result === 'match').map(({ listId }) => listId),
    ['un-sc-consolidated'],
  );
  const named = referenceDatabase(world.searches.usable().values());
  assert.equal(
    named.map(({ id, sha256 }) => [id, sha256]),
    lists.map(({ listId, fileHash }) => [listId, fileHash]),
  );
  assert.match(named[0]?.version ?? '', /^sample /);
});

test('a list that is missing is named, and nothing is screened', async () => {
  await using world = await World.start(['uk-sanctions-list']);
  assert.equal(world.unavailable(), [{ listId: 'uk-sanctions-list', state: 'missing' }]);
  assert.throws(() => world.screen('nobody'), /uk-sanctions-list \(missing\)/);
  world.take('uk-sanctions-list', []);
  await world.searches.settled();
  assert.is(world.screen('nobody').result, 'no-match');
});

test('a list grows stale, then too old, and is fresh again once it was found unchanged', async () => {
  await using world = await World.start();
  const stale = (): number => world.screen('x1').lists.filter((list) => list.stale).length;
  assert.is(stale(), 0);
  world.now += STALE_AFTER_MS + 1;
  assert.is(stale(), LIST_IDS.length);
  world.now += MISSING_AFTER_MS - STALE_AFTER_MS;
  assert.equal(
    world.unavailable().map(({ state }) => state),
    LIST_IDS.map(() => 'too-old'),
  );
  world.packed = [];
  for (const listId of LIST_IDS) world.take(listId, [listedEntry('1', [`One of ${listId}`])]);
  await world.searches.settled();
  assert.is(stale(), 0);
  assert.equal(world.packed, [], 'what is unchanged is not read again');
});

test('until a new edition is ready the old one answers, under its own hash; then the new one at once', async () => {
  await using world = await World.start();
  const sdn = () => world.screen('newly listed').lists.find(({ listId }) => listId === 'us-ofac-sdn');
  const before = sdn();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.packing = promise;
  const { fileHash } = world.take('us-ofac-sdn', [listedEntry('9', ['Newly Listed'])]);
  for (let i = 0; i < 20; i++) {
    await yieldToEventLoop();
    assert.equal(sdn(), before);
  }
  resolve();
  await world.searches.settled();
  const after = sdn();
  assert.equal([after?.fileHash, after?.matchCount], [fileHash, 1]);
  assert.is.not(before?.fileHash, fileHash);
});

test('an address that a newer edition dropped comes back clean', async () => {
  await using world = await World.start();
  const address = '0x07687e702b410Fa43f4cB4Af7FA097918ffD2730';
  const listed = (): number =>
    [...world.searches.usable().values()].flatMap(({ search }) => search.byAddress(address)).length;
  world.take('us-ofac-sdn', [listedEntry('1', ['A']), listedEntry('2', ['B'], { addresses: [address] })]);
  await world.searches.settled();
  assert.is(listed(), 1);
  world.take('us-ofac-sdn', [listedEntry('1', ['A']), listedEntry('2', ['B'])]);
  await world.searches.settled();
  assert.is(listed(), 0);
});

test('an edition that cannot be read leaves the old one in place', async () => {
  await using world = await World.start();
  world.take('us-ofac-sdn', [listedEntry('9', ['Newly Listed'])], { isDamaged: true });
  await world.searches.settled();
  assert.is(world.screen('one of us ofac sdn').matchCount, 1);
  assert.is(world.screen('newly listed').matchCount, 0);
});

test('a list whose only edition is damaged is missing before a price is named, until it is taken again', async () => {
  await using world = await World.start(['us-ofac-sdn']);
  const entries = [listedEntry('9', ['Newly Listed'])];
  world.take('us-ofac-sdn', entries, { isDamaged: true });
  await world.searches.settled();
  assert.throws(() => world.searches.requireLists(), /us-ofac-sdn \(missing\)/);
  world.take('us-ofac-sdn', entries);
  await world.searches.settled();
  assert.is(world.screen('newly listed').matchCount, 1);
});

test('an edition that came while another was being made ready is made ready too', async () => {
  await using world = await World.start();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.packing = promise;
  world.take('us-ofac-sdn', [listedEntry('1', ['First'])]);
  await yieldToEventLoop();
  world.take('us-ofac-sdn', [listedEntry('1', ['Second'])]);
  resolve();
  await world.searches.settled();
  assert.equal([world.screen('first').matchCount, world.screen('second').matchCount], [0, 1]);
});

test('what was never ready is loading, and a disposed object makes nothing ready any more', async () => {
  await using world = new World();
  const { promise, resolve } = Promise.withResolvers<void>();
  world.packing = promise;
  for (const listId of LIST_IDS) world.take(listId, []);
  world.searches.start();
  await yieldToEventLoop();
  assert.equal(new Set(world.unavailable().map(({ state }) => state)), new Set(['loading']));
  const disposed = world.searches[Symbol.asyncDispose]();
  resolve();
  await disposed;
  assert.equal(world.packed, []);
});

test.run();
