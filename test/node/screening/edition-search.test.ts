import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ListedEntry } from '../../../node/screening/lists/contract.ts';
import { EditionSearch, MAX_MATCHES, MIN_SUBSTRING } from '../../../node/screening/edition-search.ts';
import { packEdition } from '../../../node/screening/pack-edition.ts';
import { nameKey } from '../../../protocol/screening/name-key.ts';
import { editionOf, listedEntry } from '../../fixtures/listed-entries.ts';
import { fc } from '../../fixtures/properties.ts';

async function searchOf(...entries: ListedEntry[]): Promise<EditionSearch> {
  return new EditionSearch(editionOf('us-ofac-sdn', entries), await packEdition(entries));
}

const search = await searchOf(
  listedEntry('1', ['Northwind Trading Co., Ltd.', ['strong-alias', 'NTC'], ['weak-alias', 'Northwind']]),
  listedEntry('2', ['PETROVA, Ana', ['reordered', 'Ana PETROVA'], ['original-script', 'Ана Петрова']], {
    type: 'individual',
  }),
  listedEntry('3', ['Bank of Northwind Trading'], { remarks: 'r'.repeat(1_000) }),
  listedEntry('4', ['Northwinds'], { addresses: ['0xABCDEF0000000000000000000000000000000001', 'bc1qxyz'] }),
  listedEntry('5', ['习近', ['strong-alias', 'Ali']], { addresses: ['0xabcdef0000000000000000000000000000000001'] }),
  listedEntry('6', ['...', ['strong-alias', 'Ali Alinejad']]),
);

const found = (name: string): string[] =>
  search
    .byName(nameKey(name))
    .matches.map(({ entryId, matchType, matchedOn }) => `${entryId} ${matchType} ${matchedOn}`);

test('a whole name is an exact match, and says which name of the entry it is', () => {
  assert.equal(found('NORTHWIND TRADING CO LTD'), ['1 exact primary']);
  assert.equal(found('ntc'), ['1 exact strong-alias']);
  assert.equal(found('ana petrova'), ['2 exact reordered']);
  assert.equal(found('АНА ПЕТРОВА'), ['2 exact original-script']);
});

test('an exact match comes before others, and is not counted again as a part', () => {
  assert.equal(found('Northwind'), ['1 exact weak-alias', '3 substring primary']);
});

test('tokens that stand together in a name are a match; parts of tokens and other orders are none', () => {
  assert.equal(found('northwind trading'), ['1 substring primary', '3 substring primary']);
  assert.equal(found('of Northwind'), ['3 substring primary']);
  assert.equal(found('orthwind'), []);
  assert.equal(found('northwin'), []);
  assert.equal(found('trading northwind'), []);
  assert.equal(found('northwind trading co ltd and more'), []);
});

test('a sign inside a word of a listed name is a space or nothing; in the query quotes and apostrophes alone are', async () => {
  const names = ['CIMEX, S.A.', 'AL-ZAWAHIRI, Ayman', 'VEB.RF', 'EP-GDS', 'ООО "Ромашка"', "Jama'at", 'Alqaida', 'S A'];
  const signed = await searchOf(...names.map((name, i) => listedEntry(String(i), [name])));
  const matches = (name: string): string[] =>
    signed.byName(nameKey(name)).matches.map(({ matchedName, matchType }) => `${matchedName} ${matchType}`);
  assert.equal(['Cimex SA', 'CIMEX S/A'].flatMap(matches), ['CIMEX, S.A. exact', 'CIMEX, S.A. exact']);
  assert.equal(matches('alzawahiri'), ['AL-ZAWAHIRI, Ayman substring']);
  assert.equal(matches('zawahiri'), ['AL-ZAWAHIRI, Ayman substring']);
  assert.equal(matches('VEBRF'), ['VEB.RF exact']);
  assert.equal(matches('EPGDS'), ['EP-GDS exact']);
  assert.equal(['ООО"Ромашка"', 'ООО Ромашка'].flatMap(matches), ['ООО "Ромашка" exact', 'ООО "Ромашка" exact']);
  assert.equal(matches('ромашка'), ['ООО "Ромашка" substring']);
  assert.equal(matches('Jama at'), ["Jama'at exact"]);
  assert.equal(["Al'Qaida", 'Al"Qaida"'].flatMap(matches), ['Alqaida exact', 'Alqaida exact']);
  // A space is more than nothing, an apostrophe ends no word, and a short query is a whole name.
  assert.equal(['Al Qaida', 'Al-Qaida', 'Al/Qaida', 'Jama', 'SA', 'cime', 'zawa'].flatMap(matches), []);
  assert.equal(["veb'", "ve'b"].flatMap(matches), []);
  assert.equal(matches('S.A'), ['S A exact']);
});

test('short queries are exact only', () => {
  assert.equal(found('Ali'), ['5 exact strong-alias']);
  assert.equal(found('习近'), ['5 exact primary']);
  assert.equal(found('Co'), []);
});

test('a match shows the title of its entry, the name that was found, and short remarks', () => {
  const [match] = search.byName('bank of northwind trading').matches;
  assert.is(match?.name, 'Bank of Northwind Trading');
  assert.is([...(match?.remarks ?? '')].length, 301);
  const [alias] = search.byName('ntc').matches;
  assert.equal([alias?.name, alias?.matchedName], ['Northwind Trading Co., Ltd.', 'NTC']);
});

test('no more than fifty matches are given, and all are counted', async () => {
  const many = await searchOf(...Array.from({ length: 120 }, (_, i) => listedEntry(String(i), [`Common Name ${i}`])));
  const { count, matches } = many.byName('common name');
  assert.equal([count, matches.length], [120, MAX_MATCHES]);
  assert.equal(
    matches.slice(0, 3).map(({ entryId }) => entryId),
    ['0', '1', '2'],
  );
});

test('addresses are found in either case, for every entry that lists them, and are counted once', () => {
  assert.equal(
    search.byAddress('0xABCDEF0000000000000000000000000000000001').map(({ entryId }) => entryId),
    ['4', '5'],
  );
  assert.equal(search.byAddress('0xabcdef0000000000000000000000000000000002'), []);
  assert.equal(search.byAddress('0xabcdef'), []);
  assert.is(search.addressCount, 1);
});

test('an empty edition has no matches', async () => {
  const none = await searchOf();
  assert.is(none.byName('northwind').count, 0);
  assert.equal(none.byAddress('0x'), []);
});

/**
 * Few words, so that they meet; among them beginnings of others, the same with signs and without, and bytes on both
 * sides of the separators.
 */
const word = fc.constantFrom(
  ...'a ab abc abcd b ltd é ана 习 𝟘a 0 9z'.split(' '),
  ...`a.b a'b a-b-c a'bcd ab/cd a"b ab"cd а'на 9'z 0.9z`.split(' '),
);
const phrase = fc.array(word, { minLength: 1, maxLength: 5 }).map((words) => words.join(' '));

test('it finds what a plain scan of all names finds', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(phrase, { minLength: 1, maxLength: 3 }), { maxLength: 12 }),
      phrase,
      async (lists, query) => {
        const entries = lists.map(([title = '', ...others], i) =>
          listedEntry(String(i), [title, ...others.map((text) => ['strong-alias', text] as const)]),
        );
        const { count, matches } = (await searchOf(...entries)).byName(nameKey(query));
        assert.equal(
          matches.map(({ entryId, matchType }) => `${entryId} ${matchType}`).sort(),
          scan(entries, nameKey(query)).sort(),
        );
        assert.is(count, matches.length);
      },
    ),
    { numRuns: 500 },
  );
});

function scan(entries: readonly ListedEntry[], query: string): string[] {
  const sought = patternOf(query);
  const whole = new RegExp(`^${sought}$`, 'u');
  const part = new RegExp(`(?<=^|[ "-])${sought}(?=$|[ "-])`, 'u');
  return entries.flatMap(({ entryId, names }) => {
    const keys = names.map(({ text }) => nameKey(text));
    if (keys.some((key) => whole.test(key))) return [`${entryId} exact`];
    const isPart = [...query.replace(/['"]/gu, '')].length >= MIN_SUBSTRING && keys.some((key) => part.test(key));
    return isPart ? [`${entryId} substring`] : [];
  });
}

/** Of the listed keys that a key finds: a sign may stand between any two letters; quotes may be missing. */
function patternOf(key: string): string {
  const parts = key.split(/([ '"-])/u).map((part) => {
    if (part === ' ' || part === '-') return `[ '"-]`;
    return part === '"' || part === "'" ? `[ '"-]?` : [...part].join(`['"-]?`);
  });
  return parts.join('');
}

test.run();
