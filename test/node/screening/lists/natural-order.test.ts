import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readEditionEntries } from '../../../../node/screening/lists/edition-files.ts';
import { editionDirectory, stageEdition } from '../../../../node/screening/lists/edition-staging.ts';
import type { ListId } from '../../../../node/screening/lists/list-id.ts';
import {
  type FileContents,
  incoming,
  namesOf,
  ofacFiles,
  ofacRow,
  unFile,
  unIndividual,
} from '../../../fixtures/lists/list-files.ts';

const root = await mkdtemp(join(tmpdir(), 'meridian-natural-order-'));
test.after(() => rm(root, { recursive: true, force: true }));

/** Names of an edition's entries that are those of the list in another order, and what the edition says of them. */
async function reordered(listId: ListId, contents: FileContents): Promise<readonly string[]> {
  const { fileHash, names, nameCount } = await stageEdition(root, listId, incoming(contents));
  const all: string[] = [];
  for await (const entry of readEditionEntries(editionDirectory(root, listId, fileHash))) all.push(...namesOf(entry));
  const turned = all.filter((name) => name.startsWith('reordered: ')).map((name) => name.slice('reordered: '.length));
  assert.equal([names.reordered, nameCount], [turned.length, all.length - turned.length]);
  return turned;
}

/** Names of one person on OFAC's list. */
const ofPerson = (first: string, ...others: string[]): Promise<readonly string[]> =>
  reordered(
    'us-ofac-sdn',
    ofacFiles([ofacRow(1, first, { type: 'individual' })], {
      alt: others.map((name, i) => `1,${i + 1},"aka","${name}",-0- `),
      add: [],
      comments: [],
    }),
  );

test('an individual whom OFAC names "SURNAME, Given" is named "Given SURNAME" too; no other list is turned round', async () => {
  assert.equal(await ofPerson('PETROVA, Ana', 'Ana Petrova'), ['Ana PETROVA']);
  const alias = (name: string): string => `<INDIVIDUAL_ALIAS><ALIAS_NAME>${name}</ALIAS_NAME></INDIVIDUAL_ALIAS>`;
  const un = unFile(unIndividual(1, 'Ana Petrova', alias('Petrova, Ana Maria')));
  assert.equal(await reordered('un-sc-consolidated', { 'consolidated.xml': un }), []);
  const eu =
    '<export xmlns="http://eu.europa.ec/fpi/fsd/export"><sanctionEntity logicalId="1"><subjectType code="person"/>' +
    '<nameAlias wholeName="Petrova, A."/></sanctionEntity></export>';
  assert.equal(await reordered('eu-consolidated', { 'xmlFullSanctionsList_1_1.xml': eu }), []);
});

test('a suffix ends the name, wherever the list writes it', async () => {
  const names = ['REYES, Feliciano, Jr.', 'KNOWLES, JR., Samuel', 'SANTOS, Hilarion III', 'LEE, Ann, SR. (the elder)'];
  assert.equal(await ofPerson(names[0] ?? '', ...names.slice(1)), [
    'Feliciano REYES Jr.',
    'Samuel KNOWLES JR.',
    'Hilarion SANTOS III',
    'Ann LEE SR. (the elder)',
  ]);
});

test('a name with a suffix alone after its comma, and the name of a company, keep their order', async () => {
  assert.equal(await ofPerson('Hilarion Santos, III (third)', 'Ruben Lavilla, JR', 'Ivan,'), []);
  const company = ofacFiles([ofacRow(1, 'CIMEX, S.A.')], { alt: [], add: [], comments: [] });
  assert.equal(await reordered('us-ofac-sdn', company), []);
});

test.run();
