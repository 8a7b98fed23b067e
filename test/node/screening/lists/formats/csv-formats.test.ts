import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { cslCsv } from '../../../../../node/screening/lists/formats/csl-csv.ts';
import { euCsv } from '../../../../../node/screening/lists/formats/eu-csv.ts';
import type { ListFormat } from '../../../../../node/screening/lists/formats/format.ts';
import { ukCsv } from '../../../../../node/screening/lists/formats/uk-csv.ts';
import { namesOf, readFormat } from '../../../../fixtures/lists/list-files.ts';

const UK = 'uk-sanctions-list.csv';
const EU = 'csvfullsanctionslist_1_1.csv';
const CSL = 'consolidated.csv';
const UK_HEADER =
  'Last Updated,Unique ID,Name 6,Name 1,Name 2,Name 3,Name 4,Name 5,Name type,Alias strength,' +
  'Name non-latin script,Regime Name,Designation Type,Other Information';
const EU_HEADER =
  'fileGenerationDate;Entity_LogicalId;Entity_Remark;Entity_SubjectType;Entity_SubjectType_ClassificationCode;' +
  'Entity_Regulation_Programme;NameAlias_FirstName;NameAlias_MiddleName;NameAlias_LastName;NameAlias_WholeName';
const CSL_HEADER = '_id,source,type,programs,name,federal_register_notice,remarks,alt_names';
const EL = 'Entity List (EL) - Bureau of Industry and Security';

function ukFile(rows: readonly string[], newline = '\r\n'): string {
  return ['Report Date: 29-Apr-2026', UK_HEADER, ...rows, ''].join(newline);
}

async function refusalOf(format: ListFormat, file: string, text: string): Promise<string> {
  try {
    await readFormat(format, { [file]: text });
  } catch (error) {
    return String(error);
  }
  throw new Error('it was read');
}

test('UK: rows of one id are one entry, the sixth name comes last, words are compared without regard to case', async () => {
  const rows = [
    'x,RUS0002,SHIP ONE,,,,,,Primary name,,,R,Ship,',
    'x,RUS0001, EXAMPLE ,Ann, B.,,,,ALIAS,low quality a.k.a,,R,individual,',
    'x,RUS0001,EXAMPLE,Anna,,,,,Primary Name,,Пример,R,Individual,"a, ""b""\nc|d"',
  ];
  for (const text of [ukFile(rows), ukFile(rows, '\n'), `\ufeff${ukFile(rows)}`]) {
    const { entries, notes } = await readFormat(ukCsv, { [UK]: text });
    assert.equal(entries.map(namesOf), [
      ['primary: SHIP ONE'],
      ['primary: Anna EXAMPLE', 'weak-alias: Ann B. EXAMPLE', 'original-script: Пример'],
    ]);
    assert.equal(
      entries.map(({ entryId, type }) => `${entryId} ${type}`),
      ['RUS0002 vessel', 'RUS0001 individual'],
    );
    assert.is(entries[1]?.remarks, 'a, "b"\nc|d');
    assert.is(notes.fileDate, '2026-04-29');
  }
});

test('UK: without its first line, a column or an id it is refused', async () => {
  assert.match(await refusalOf(ukCsv, UK, `${UK_HEADER}\r\n`), 'begins with');
  assert.match(await refusalOf(ukCsv, UK, '<html>'), 'begins with');
  assert.match(await refusalOf(ukCsv, UK, ukFile([]).replace('Name 6', 'Name 7')), 'no column Name 6');
  assert.match(await refusalOf(ukCsv, UK, ukFile(['x,nonsense,A,,,,,,Alias,,,,,'])), 'no Unique ID');
  assert.match(await refusalOf(ukCsv, UK, ukFile(['x,RUS1,A,,,'])), 'fields, not 14');
  assert.match(await refusalOf(ukCsv, UK, 'Report Date: 29-Apr-2026\r\n'), 'no header');
});

test('EU: semicolons, a byte order mark, rows without a name, types the other way round', async () => {
  const rows = [
    '05/06/2026;7;;P;person;PRG;Not;the;whole;"Société ""X""; S.A."',
    '05/06/2026;7;;P;person;PRG;;;;',
    '05/06/2026;7;;P;person;PRG;;;;Пример',
    '05/06/2026;8;;;;;;;;Other',
  ];
  const { entries, notes } = await readFormat(euCsv, { [EU]: `\ufeff${[EU_HEADER, ...rows].join('\r\n')}\r\n` });
  assert.equal(entries.map(namesOf), [['primary: Société "X"; S.A.', 'strong-alias: Пример'], ['primary: Other']]);
  assert.equal(
    entries.map(({ type }) => type),
    ['individual', 'unknown'],
  );
  assert.is(notes.fileDate, '2026-06-05');
});

test('EU: a name in parts is read, and an entry without any is noted', async () => {
  const rows = ['05/06/2026;7;;P;person;PRG;Ann;;Example; ', '05/06/2026;8;;;;;;;;'];
  const { entries, notes } = await readFormat(euCsv, { [EU]: `${[EU_HEADER, ...rows].join('\r\n')}\r\n` });
  assert.equal(entries.map(namesOf), [['primary: Ann Example']]);
  assert.equal(notes.lacks, ['1 of its entries have no name']);
});

test('UK and BIS: an entry without a name is noted', async () => {
  const names = ['RUS1,A', 'RUS2,', 'RUS2, '].map((idAndName) => `x,${idAndName},,,,,,Primary name,,,R,Ship,`);
  const uk = await readFormat(ukCsv, { [UK]: ukFile(names) });
  assert.equal([uk.entries.length, uk.notes.lacks], [1, ['1 of its entries have no name']]);
  const rows = [`1,${EL},,,ONE,84 FR 1,,`, `2,${EL},,, ,84 FR 2,,`, '3,Other - Treasury Department,,,,,,'];
  const bis = await readFormat(cslCsv, { [CSL]: `${[CSL_HEADER, ...rows].join('\n')}\n` });
  assert.equal([bis.entries.length, bis.notes.lacks], [1, ['1 of its entries have no name']]);
});

test('BIS: rows of other agencies are left out, aliases split, `and` before the last dropped, ids made of the row', async () => {
  const rows = [
    `1,${EL},,, Institute ,84 FR 1,,One; Two; and Three`,
    `2,${EL},,,Institute,84 FR 2,,and Then Some`,
    '3,Specially Designated Nationals (SDN) - Treasury Department,,,OTHER,,,',
  ];
  const { entries } = await readFormat(cslCsv, { [CSL]: `${[CSL_HEADER, ...rows].join('\n')}\n` });
  assert.equal(entries.map(namesOf), [
    ['primary: Institute', 'strong-alias: One', 'strong-alias: Two', 'strong-alias: Three'],
    ['primary: Institute', 'strong-alias: and Then Some'],
  ]);
  assert.match(entries[0]?.entryId ?? '', /^[0-9a-f]{16}$/);
  assert.is.not(entries[0]?.entryId, entries[1]?.entryId);
  const without = [CSL_HEADER, ...rows].map((line) => line.slice(line.indexOf(',') + 1));
  assert.is((await readFormat(cslCsv, { [CSL]: without.join('\r\n') })).entries.length, 2);
});

test('BIS: a list that the bureau renames, or adds, is read', async () => {
  const rows = [
    `1,${EL},,,ONE,84 FR 1,,`,
    '2,Unverified List - Bureau of Industry and Security,,,TWO,84 FR 2,,',
    '3,Military End-User List (MEU) - Bureau of Industry And Security ,,,THREE,84 FR 3,,',
    '4,Palestinian Legislative Council List (PLC) - Treasury Department,,,OTHER,,,',
  ];
  const { entries } = await readFormat(cslCsv, { [CSL]: `${[CSL_HEADER, ...rows].join('\n')}\n` });
  assert.equal(
    entries.map(({ names, programs }) => `${names[0]?.text}: ${programs.join()}`),
    ['ONE: Entity List (EL)', 'TWO: Unverified List', 'THREE: Military End-User List (MEU)'],
  );
});

test('a field of a megabyte is refused in every CSV format', async () => {
  const long = 'x'.repeat(1 << 20);
  assert.match(await refusalOf(ukCsv, UK, ukFile([`x,RUS1,${long},,,,,,Alias,,,,,`])), /max record size/);
  assert.match(await refusalOf(euCsv, EU, `${EU_HEADER}\n05/06/2026;7;;;;;;;;"${long}"\n`), /max record size/);
  assert.match(await refusalOf(cslCsv, CSL, `${CSL_HEADER}\n1,${EL},,,"${long}`), /max record size/);
});

test.run();
