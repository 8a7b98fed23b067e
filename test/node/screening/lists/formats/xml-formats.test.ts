import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { euXml } from '../../../../../node/screening/lists/formats/eu-xml.ts';
import type { ListFormat } from '../../../../../node/screening/lists/formats/format.ts';
import { unXml } from '../../../../../node/screening/lists/formats/un-xml.ts';
import { namesOf, readFormat, unFile, unIndividual } from '../../../../fixtures/lists/list-files.ts';

const UN = 'consolidated.xml';
const EU = 'xmlfullsanctionslist_1_1.xml';

function euFile(entities: string): string {
  const root = 'xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="2026-11-01T00:00:00.000+01:00"';
  return `<?xml version="1.0" encoding="UTF-8"?><export ${root}>${entities}</export>`;
}

async function refusalOf(format: ListFormat, file: string, text: string | Uint8Array): Promise<string> {
  try {
    await readFormat(format, { [file]: text });
  } catch (error) {
    return String(error);
  }
  throw new Error('it was read');
}

test('UN: parts of a name are joined, packed names split, `na` and empty aliases left out, low quality is weak', async () => {
  const more = `<SECOND_NAME> Bin </SECOND_NAME><THIRD_NAME/><FOURTH_NAME>na</FOURTH_NAME>
    <UN_LIST_TYPE>X</UN_LIST_TYPE><NAME_ORIGINAL_SCRIPT>مثال</NAME_ORIGINAL_SCRIPT>
    <INDIVIDUAL_ALIAS><QUALITY>Good</QUALITY><ALIAS_NAME>One; Two ; Three</ALIAS_NAME></INDIVIDUAL_ALIAS>
    <INDIVIDUAL_ALIAS><QUALITY>Low</QUALITY><ALIAS_NAME>Four &amp; Co</ALIAS_NAME></INDIVIDUAL_ALIAS>
    <INDIVIDUAL_ALIAS><QUALITY/><ALIAS_NAME/></INDIVIDUAL_ALIAS>`;
  const { entries, notes } = await readFormat(unXml, { [UN]: unFile(unIndividual(5, 'Abu', more)) });
  assert.equal(namesOf(entries[0]), [
    'primary: Abu Bin',
    'original-script: مثال',
    'strong-alias: One',
    'strong-alias: Two',
    'strong-alias: Three',
    'weak-alias: Four & Co',
  ]);
  assert.is(notes.fileDate, '2026-11-01T00:00:00.000Z');
});

test('EU: every name is a nameAlias, the first is the title, a weak one says so, a person is P or person', async () => {
  const entity = `<sanctionEntity logicalId="3"><subjectType code="person" classificationCode="P"/>
    <nameAlias wholeName="Société “X”; S.A." strong="true"/><nameAlias wholeName="Пример" strong="false"/></sanctionEntity>
    <sanctionEntity logicalId="4"><nameAlias wholeName="No type"/></sanctionEntity>`;
  const { entries } = await readFormat(euXml, { [EU]: euFile(entity) });
  assert.equal(entries.map(namesOf), [['primary: Société “X”; S.A.', 'weak-alias: Пример'], ['primary: No type']]);
  assert.equal(
    entries.map(({ type }) => type),
    ['individual', 'unknown'],
  );
});

test('EU: a name in parts is read, and an entry without any is noted', async () => {
  const entity = `<sanctionEntity logicalId="3"><nameAlias wholeName="" firstName="Ann" middleName="B." lastName="Example"/>
    </sanctionEntity><sanctionEntity logicalId="4"><nameAlias lastName="Example"/></sanctionEntity>
    <sanctionEntity logicalId="5"><nameAlias function="judge"/></sanctionEntity>`;
  const { entries, notes } = await readFormat(euXml, { [EU]: euFile(entity) });
  assert.equal(entries.map(namesOf), [['primary: Ann B. Example'], ['primary: Example']]);
  assert.equal(notes.lacks, ['1 of its entries have no name']);
});

test('EU: all remarks of an entry are read, each by itself', async () => {
  const addresses = ['1', '2'].map((digit) => `0x${digit.repeat(40)}`);
  const remarks = ['Listed by the UN', `ETH: ${addresses[0]}`, ' ', 'paid in ETH', `${addresses[1]} is a contract`];
  const entity = `<sanctionEntity logicalId="3"><nameAlias wholeName="X"/>
    ${remarks.map((text) => `<remark>${text}</remark>`).join('')}</sanctionEntity>`;
  const [entry] = (await readFormat(euXml, { [EU]: euFile(entity) })).entries;
  assert.equal(entry?.addresses, [addresses[0]]);
  assert.is(entry?.remarks, remarks.filter((text) => text !== ' ').join('\n'));
});

test('a document type is refused wherever it stands, and what it names is never opened', async () => {
  const bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
  const external = '<!DOCTYPE x SYSTEM "file:///etc/passwd">';
  for (const doctype of [bomb, external, '<!DOCTYPE html>']) {
    const text = unFile(unIndividual(1, 'X')).replace('?>', `?>${doctype}`);
    assert.match(await refusalOf(unXml, UN, text), 'document type');
  }
  assert.match(await refusalOf(unXml, UN, unFile(unIndividual(1, '&xxe;'))), /entity/);
});

test('a document type that never ends is given up', async () => {
  const text = `<?xml version="1.0"?><!DOCTYPE x [${'<!ENTITY a "b">'.repeat(200_000)}`;
  assert.match(await refusalOf(unXml, UN, text), /too long|document type/);
});

test('a file that is cut off, of another root, of another namespace, or malformed is refused', async () => {
  const whole = unFile(unIndividual(1, 'X') + unIndividual(2, 'Y'));
  for (const cut of [1, 10, 60, 100]) assert.match(await refusalOf(unXml, UN, whole.slice(0, -cut)), 'ListError');
  assert.match(await refusalOf(unXml, UN, '<html><body>Moved</body></html>'), 'its root is "html"');
  assert.match(await refusalOf(euXml, EU, euFile('').replace('/fsd/', '/other/')), 'its root');
  assert.match(await refusalOf(unXml, UN, whole.replace('</INDIVIDUALS>', '')), 'ListError');
  assert.match(await refusalOf(unXml, UN, unFile(unIndividual(1, 'X') + unIndividual(1, 'X'))), 'twice');
  assert.match(await refusalOf(unXml, UN, unFile('<INDIVIDUAL><DATAID>1</DATAID></INDIVIDUAL>')), 'has no name');
});

test('texts, attributes, nesting and entries without measure are refused', async () => {
  const long = 'x'.repeat(1 << 20);
  assert.match(await refusalOf(unXml, UN, unFile(unIndividual(1, long))), 'too long');
  assert.match(await refusalOf(unXml, UN, unFile(unIndividual(1, 'X'), `dateGenerated="${long}"`)), 'too long');
  assert.match(await refusalOf(unXml, UN, `<?xml version="1.0"?><${long}`), 'too long');
  assert.match(await refusalOf(unXml, UN, unFile(unIndividual(1, 'X', '<A>'.repeat(40)))), 'nests too deeply');
  assert.match(await refusalOf(unXml, UN, unFile(unIndividual(1, 'X', '<A/>'.repeat(30_000)))), 'too large');
});

test('an encoding other than UTF-8 is refused, said or not', async () => {
  const said = unFile(unIndividual(1, 'X')).replace('UTF-8', 'ISO-8859-1');
  assert.match(await refusalOf(unXml, UN, said), 'not in UTF-8');
  assert.match(await refusalOf(unXml, UN, Buffer.from(unFile(unIndividual(1, 'é')), 'latin1')), 'not UTF-8');
  assert.match(await refusalOf(unXml, UN, Buffer.from(unFile(unIndividual(1, 'X')), 'utf16le')), 'ListError');
});

test.run();
