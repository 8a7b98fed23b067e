import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ofacCsv } from '../../../../../node/screening/lists/formats/ofac-csv.ts';
import { type FileContents, namesOf, ofacFiles, ofacRow, readFormat } from '../../../../fixtures/lists/list-files.ts';

const format = ofacCsv({ main: 'sdn.csv', aliases: 'alt.csv', addresses: 'add.csv', comments: 'sdn_comments.csv' });
const NOTHING = { alt: [], add: [], comments: [] };

async function refusalOf(files: FileContents): Promise<string> {
  try {
    await readFormat(format, files);
  } catch (error) {
    return String(error);
  }
  throw new Error('it was read');
}

test('an entry has its name, strong aliases of the alias file, weak ones of its remarks, and their other order', async () => {
  const files = ofacFiles(
    [
      ofacRow(7, 'DELOS REYES, Feliciano, Jr.', {
        type: 'individual',
        programs: 'SDGT] [SYRIA',
        remarks: "DOB 1972; a.k.a. 'ABU-'UMAR'; f.k.a. 'BNC'; supports 'Russia's base'; nationality X.",
      }),
    ],
    { ...NOTHING, alt: ['7,1,"aka","REYES, F.",-0- ', '7,2,"fka","OLD NAME",-0- '] },
  );
  const { entries } = await readFormat(format, files);
  assert.is(entries.length, 1);
  assert.equal(namesOf(entries[0]), [
    'primary: DELOS REYES, Feliciano, Jr.',
    'strong-alias: REYES, F.',
    'strong-alias: OLD NAME',
    "weak-alias: ABU-'UMAR",
    'weak-alias: BNC',
    'reordered: Feliciano DELOS REYES Jr.',
    'reordered: F. REYES',
  ]);
  assert.equal(entries[0]?.programs, ['SDGT', 'SYRIA']);
});

test('a null type is a company, whose name keeps its order; null fields, trimmed or not, are empty', async () => {
  const rows = [ofacRow(1, 'ACME CO., LTD.'), ofacRow(2, 'MV STAR', { type: 'vessel' }).replaceAll('-0- ', '-0-')];
  const { entries } = await readFormat(format, ofacFiles(rows, NOTHING));
  assert.equal(
    entries.map(({ type, names, programs, remarks }) => ({ type, names: names.length, programs, remarks })),
    [
      { type: 'entity', names: 1, programs: [], remarks: undefined },
      { type: 'vessel', names: 1, programs: [], remarks: undefined },
    ],
  );
});

test('remarks that are cut inside an address go on in the comments file', async () => {
  const rows = [ofacRow(1, 'MIXER', { remarks: "a.k.a. 'MIX'; Digital Currency Address - ETH 0xABCDEF" })];
  const rest = '0123456789012345678901234567890123; alt. Digital Currency Address - XBT 1abcdefghijk.';
  const { entries } = await readFormat(format, ofacFiles(rows, { ...NOTHING, comments: [`1,"${rest}"`] }));
  assert.equal(entries[0]?.addresses, ['0xABCDEF0123456789012345678901234567890123', '1abcdefghijk']);
});

test('rows of companion files that belong to no entry are counted and make none', async () => {
  const companions = {
    alt: ['1,1,"aka","KNOWN",-0- ', '9,2,"aka","UNKNOWN",-0- '],
    add: ['1,1,"Street","City","Land",-0- ', '8,2,-0- ,-0- ,"Land",-0- '],
    comments: ['9,"more"'],
  };
  const { entries, notes } = await readFormat(format, ofacFiles([ofacRow(1, 'ONE')], companions));
  assert.equal(entries.flatMap(namesOf), ['primary: ONE', 'strong-alias: KNOWN']);
  assert.is(notes.unmatchedRows, 3);
});

test('a file without the end mark is read and noted, one that is cut inside a row is not read', async () => {
  const whole = ofacFiles([ofacRow(1, 'ONE', { remarks: 'a remark.' }), ofacRow(2, 'TWO')], NOTHING);
  const main = String(whole['sdn.csv']).slice(0, -1);
  assert.equal((await readFormat(format, whole)).notes.lacks, []);
  const { entries, notes } = await readFormat(format, { ...whole, 'sdn.csv': main });
  assert.is(entries.length, 2);
  assert.match(notes.lacks.join(), /^sdn.csv does not end with the end mark/);
  for (const cut of [1, 2, 3, 40]) {
    const refusal = await refusalOf({ ...whole, 'sdn.csv': main.slice(0, -cut) });
    assert.match(refusal, /ListError: sdn.csv/, `${cut}`);
  }
});

test('an alias file without rows beside many entries, and a comments file without rows beside cut remarks, are noted', async () => {
  const lacksOf = async (rows: readonly string[], companions: Parameters<typeof ofacFiles>[1]) =>
    (await readFormat(format, ofacFiles(rows, companions))).notes.lacks;
  const many = Array.from({ length: 200 }, (_, i) => ofacRow(i + 1, `COMPANY ${i + 1}`));
  assert.equal(await lacksOf(many, NOTHING), ['alt.csv has no rows, and sdn.csv has 200 entries']);
  assert.equal(await lacksOf(many.slice(1), NOTHING), [], 'few may have none');
  assert.equal(await lacksOf(many, { ...NOTHING, alt: ['1,1,"aka","OTHER",-0- '] }), []);
  const cut = [ofacRow(1, 'ONE', { remarks: 'x'.repeat(1_000) }), ofacRow(2, 'TWO', { remarks: 'x'.repeat(999) })];
  assert.equal(await lacksOf(cut, NOTHING), ['sdn_comments.csv has no rows, and the remarks of 1 entries are cut']);
  assert.equal(await lacksOf(cut, { ...NOTHING, comments: ['1,"more"'] }), []);
});

test('a row with another number of fields, a number that is none, a type that is unknown, an id that repeats: refused', async () => {
  const bad = [
    ['1,"ONE"', /has 2 fields, not 12/],
    [ofacRow(1, 'ONE').replace('1,', 'x,'), /no entry number/],
    [ofacRow(1, 'ONE', { type: 'robot' }), /type "robot"/],
    [`${ofacRow(1, 'ONE')}\r\n${ofacRow(1, 'ONE')}`, /twice/],
    ['<!DOCTYPE html><html><body>Moved</body></html>', /fields/],
    [ofacRow(1, 'ONE').replace('"ONE"', '"ONE'), /row|quote/],
  ] as const;
  for (const [row, reason] of bad) assert.match(await refusalOf(ofacFiles([row], NOTHING)), reason);
});

test.run();
