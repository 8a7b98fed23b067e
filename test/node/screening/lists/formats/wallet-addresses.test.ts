import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { euCsv } from '../../../../../node/screening/lists/formats/eu-csv.ts';
import { euXml } from '../../../../../node/screening/lists/formats/eu-xml.ts';
import { ukCsv } from '../../../../../node/screening/lists/formats/uk-csv.ts';
import { walletAddresses } from '../../../../../node/screening/lists/formats/wallet-addresses.ts';
import { readFormat } from '../../../../fixtures/lists/list-files.ts';

const A = `0x${'Aa'.repeat(20)}`;
const B = `0x${'b1'.repeat(20)}`;

test('an address is read where a currency is named directly before it, or before its series', () => {
  const read = [
    `ETH: ${A}`,
    `Digital Currency Address - ETH ${A};`,
    `USDT (ERC20) wallet address: ${A}.`,
    `(Ethereum address ${A})`,
    `Tether - ${A}`,
  ];
  for (const text of read) assert.equal(walletAddresses(text), [A], text);
  assert.equal(walletAddresses(`ETH addresses: ${A}, ${B}`), [A, B]);
  assert.equal(walletAddresses(`USDC wallets ${A} and ${B}; USDT ${B}`), [A, B, B]);
});

test('no address is made of what is none, or of what nobody says to be a wallet of the listed party', () => {
  const passed = [
    A,
    `Website: example.test/${A}`,
    `the USDT contract ${A}`,
    `ETH was sent by him to the exchange at ${A}`,
    `the token SOMETH ${A}`,
    `ETH ${A}${'0'.repeat(24)}`,
    `ETH ${A.slice(0, -1)}`,
    `eth ${A.replace('0x', '')}`,
    `Passport: ETH 1234567, phone ${A}`,
    'Digital currency: XBT 12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h',
  ];
  for (const text of passed) assert.equal(walletAddresses(text), [], text);
});

test('UK and EU: addresses in the other information and in the remarks of an entry are its addresses', async () => {
  const header =
    'Unique ID,Name 6,Name 1,Name 2,Name 3,Name 4,Name 5,Name type,Alias strength,Name non-latin script,' +
    'Regime Name,Designation Type,Other Information';
  const rows = [`RUS1,X,,,,,,Primary Name,,,R,Entity,ETH: ${A}`, `RUS1,Y,,,,,,Alias,,,R,Entity,"ETH: ${A}; USDT ${B}"`];
  const uk = await readFormat(ukCsv, {
    'uk-sanctions-list.csv': ['Report Date: 29-Apr-2026', header, ...rows, ''].join('\r\n'),
  });
  const entity = `<sanctionEntity logicalId="3"><remark>ETH: ${A}</remark><nameAlias wholeName="X"/></sanctionEntity>`;
  const xml = `<export xmlns="http://eu.europa.ec/fpi/fsd/export" generationDate="2026-11-01">${entity}</export>`;
  const euOfXml = await readFormat(euXml, { 'xmlfullsanctionslist_1_1.xml': xml });
  const csv =
    'fileGenerationDate;Entity_LogicalId;Entity_Remark;Entity_SubjectType;Entity_SubjectType_ClassificationCode;' +
    'Entity_Regulation_Programme;NameAlias_FirstName;NameAlias_MiddleName;NameAlias_LastName;NameAlias_WholeName\r\n' +
    `05/06/2026;7;ETH: ${A};P;person;PRG;;;;X\r\n`;
  const euOfCsv = await readFormat(euCsv, { 'csvfullsanctionslist_1_1.csv': csv });
  const addresses = [uk, euOfXml, euOfCsv].map(({ entries }) => entries.map((entry) => entry.addresses));
  assert.equal(addresses, [[[A, B]], [[A]], [[A]]]);
});

test.run();
