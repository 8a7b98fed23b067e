import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { EditionManifest } from '../../../../node/screening/lists/edition-manifest.ts';
import { stageEdition } from '../../../../node/screening/lists/edition-staging.ts';
import { euCsv } from '../../../../node/screening/lists/formats/eu-csv.ts';
import { readListFolder } from '../../../../node/screening/lists/list-folder.ts';
import { LIST_IDS, type ListId } from '../../../../node/screening/lists/list-id.ts';
import { readFormat } from '../../../fixtures/lists/list-files.ts';
import { hasRealLists, REAL_LISTS } from '../../../fixtures/real-lists.ts';

/** A file as the manifest beside the lists describes it. */
interface Described {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly entries: number;
  readonly aliases: number | null;
}

if (hasRealLists()) {
  const root = await mkdtemp(join(tmpdir(), 'meridian-lists-'));
  test.after(() => rm(root, { recursive: true, force: true }));
  // Written and hashed beside the files.
  const { files }: { files: Described[] } = JSON.parse(await readFile(join(REAL_LISTS, 'manifest.json'), 'utf8'));
  const described = (file: string): Described => {
    const found = files.find((candidate) => candidate.file === file);
    if (found === undefined) throw new Error(`the manifest has no ${file}`);
    return found;
  };
  const started = performance.now();
  const editions = new Map<ListId, EditionManifest>();
  for (const listId of LIST_IDS) {
    const folder = await readListFolder(REAL_LISTS, listId);
    editions.set(listId, await stageEdition(root, listId, folder?.files ?? []));
  }
  const seconds = (performance.now() - started) / 1000;
  const entries = [...editions.values()].reduce((sum, { entryCount }) => sum + entryCount, 0);
  console.log(`${entries} entries imported in ${seconds.toFixed(1)} s: ${Math.round(entries / seconds)} a second`);

  test('every file that is read has the bytes and the hash of the manifest', () => {
    for (const [listId, { files: read }] of editions) {
      for (const { name, bytes, sha256 } of read) {
        const { bytes: size, sha256: hash } = described(`${listId}/${name}`);
        assert.equal([bytes, sha256], [size, `sha256:${hash}`], name);
      }
    }
  });

  test('the entries of every list are those of the manifest', () => {
    const counts = Object.fromEntries([...editions].map(([listId, { entryCount }]) => [listId, entryCount]));
    assert.equal(counts, {
      'us-ofac-sdn': described('us-ofac-sdn/sdn.csv').entries,
      'us-ofac-consolidated': described('us-ofac-consolidated/cons_prim.csv').entries,
      'un-sc-consolidated': described('un-sc-consolidated/consolidated.xml').entries,
      'uk-sanctions-list': described('uk-sanctions-list/UK-Sanctions-List.csv').entries,
      'eu-consolidated': described('eu-consolidated/xmlFullSanctionsList_1_1.xml').entries,
      'us-bis-entity-list': described('us-bis-entity-list/consolidated.csv.gz').entries,
    });
  });

  test('their other names are those of the manifest', () => {
    const names = (listId: ListId) => editions.get(listId)?.names;
    const others = (listId: ListId): number =>
      (names(listId)?.['strong-alias'] ?? 0) + (names(listId)?.['weak-alias'] ?? 0);
    assert.equal([names('us-ofac-sdn')?.['strong-alias'], names('us-ofac-sdn')?.['weak-alias']], [17_308, 3_698]);
    assert.is(names('us-ofac-consolidated')?.['strong-alias'], described('us-ofac-consolidated/cons_alt.csv').aliases);
    assert.is(names('us-ofac-consolidated')?.['weak-alias'], 72);
    assert.is(others('un-sc-consolidated'), 2_806);
    assert.is(names('un-sc-consolidated')?.['original-script'], 378);
    assert.is(others('uk-sanctions-list'), described('uk-sanctions-list/UK-Sanctions-List.csv').aliases);
    assert.is(others('eu-consolidated'), described('eu-consolidated/xmlFullSanctionsList_1_1.xml').aliases);
    assert.is(others('us-bis-entity-list'), described('us-bis-entity-list/consolidated.csv.gz').aliases);
  });

  test('rows of companion files without an entry are counted: 2,861 aliases, 5,954 addresses, 9 comments', () => {
    assert.is(editions.get('us-ofac-sdn')?.unmatchedRows, 2_861 + 5_954 + 9);
  });

  test('the CSV form of the EU’s list holds the same as the XML form', async () => {
    const name = 'csvFullSanctionsList_1_1.csv';
    const text = await readFile(join(REAL_LISTS, 'eu-consolidated', name));
    const { entries: read } = await readFormat(euCsv, { [name.toLowerCase()]: text });
    const { entries: count, aliases } = described(`eu-consolidated/${name}`);
    assert.equal([read.length, read.reduce((sum, { names }) => sum + names.length - 1, 0)], [count, aliases]);
  });
} else {
  test.skip('the real lists are not there: nothing of them was tested', () => {});
}

test.run();
