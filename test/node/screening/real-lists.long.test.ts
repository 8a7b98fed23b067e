import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_MATCHES } from '../../../node/screening/edition-search.ts';
import { ListSearches } from '../../../node/screening/list-searches.ts';
import { packInThread } from '../../../node/screening/packing-thread.ts';
import { screenName } from '../../../node/screening/screening.ts';
import { nameKey, normalizedName } from '../../../protocol/screening/name-key.ts';
import { directoryUnder, hasRealLists, REAL_LISTS, keepRealLists } from '../../fixtures/real-lists.ts';

type Ids = Readonly<Partial<Record<string, readonly string[]>>>;

interface NameCase {
  readonly id: string;
  readonly query: string;
  readonly normalised: string;
  readonly expect: { readonly exact: Ids; readonly substring: Ids };
}

interface AddressCase {
  readonly id: string;
  readonly address: string;
  readonly expect: {
    readonly status: 'listed' | 'clean' | 'invalid';
    readonly entries: readonly { readonly id: string }[];
  };
}

async function casesOf<Case>(file: string): Promise<readonly Case[]> {
  return JSON.parse(await readFile(join(REAL_LISTS, file), 'utf8')).cases;
}

if (hasRealLists()) {
  const root = await mkdtemp(join(tmpdir(), 'meridian-lists-'));
  const editions = await keepRealLists(root);
  const searches = new ListSearches({
    lists: { current: () => editions, intact: async (listId) => editions.get(listId), onChange: () => () => {} },
    pack: packInThread({ directoryOf: directoryUnder(root) }),
    now: Date.now,
    log: pino({ level: 'silent' }),
  });
  searches.start();
  await searches.settled();

  test.after(async () => {
    await searches[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  });

  /** The cases know the entries of the BIS list, which have no id, by their names, as they are in the file. */
  const idOf = (listId: string, { entryId, name }: { entryId: string; name: string }): string =>
    listId === 'us-bis-entity-list' ? name : entryId;
  const expected = (ids: Ids, listId: string): string[] =>
    (ids[listId] ?? []).map((id) => id.replace(/\s+/g, ' ')).sort();

  for (const { id, query, normalised, expect } of await casesOf<NameCase>('cases.json')) {
    test(`${id}: ${query}`, () => {
      assert.is(normalizedName(nameKey(query)), normalised);
      if (normalised === '') return;
      for (const { listId, matches, matchCount } of screenName(query, searches.usable().values()).lists) {
        const ids = (found: typeof matches): string[] => [...new Set(found.map((match) => idOf(listId, match)))].sort();
        const all = expected(expect.substring, listId);
        assert.equal(ids(matches.filter(({ matchType }) => matchType === 'exact')), expected(expect.exact, listId));
        if (matchCount <= MAX_MATCHES) assert.equal(ids(matches), all, listId);
        else assert.is(matchCount, all.length, listId);
        assert.ok(ids(matches).every((match) => all.includes(match)));
      }
    });
  }

  for (const { id, address, expect } of await casesOf<AddressCase>('evm-cases.json')) {
    test(`${id}: ${address} is ${expect.status}`, () => {
      const found = [...searches.usable()].flatMap(([listId, { search }]) =>
        search.byAddress(address).map(({ entryId }) => `${listId} ${entryId}`),
      );
      assert.equal(found.sort(), expect.entries.map((entry) => `us-ofac-sdn ${entry.id}`).sort());
    });
  }

  test('every list is ready', () => {
    assert.is(searches.usable().size, editions.size);
  });
}

test.run();
