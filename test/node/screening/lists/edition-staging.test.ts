import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { fileText, readEditionEntries } from '../../../../node/screening/lists/edition-files.ts';
import {
  editionDirectory,
  type IncomingFile,
  removeStaging,
  stageEdition,
} from '../../../../node/screening/lists/edition-staging.ts';
import { ListError, type ListErrorCode } from '../../../../node/screening/lists/list-error.ts';
import type { ListId } from '../../../../node/screening/lists/list-id.ts';
import {
  type FileContents,
  incoming,
  ofacEdition,
  unFile,
  unIndividual,
  zerosInGzip,
} from '../../../fixtures/lists/list-files.ts';
import { fc } from '../../../fixtures/properties.ts';

const root = await mkdtemp(join(tmpdir(), 'meridian-staging-'));
test.after(() => rm(root, { recursive: true, force: true }));

const BIS = 'us-bis-entity-list';
const UN = 'un-sc-consolidated';
const CSL =
  '_id,source,type,programs,name,federal_register_notice,remarks,alt_names\n' +
  '1,Entity List (EL) - Bureau of Industry and Security,,,ONE,84 FR 1,,\n';

/** Which refusal; nothing is left of what was refused. */
async function refusalOf(listId: ListId, files: readonly IncomingFile[]): Promise<ListErrorCode> {
  const before = await readdir(join(root, listId)).catch(() => []);
  try {
    await stageEdition(root, listId, files);
  } catch (error) {
    if (!(error instanceof ListError)) throw error;
    assert.equal(await readdir(join(root, listId)), before, 'something is left');
    return error.code;
  }
  throw new Error('it was taken');
}

test('files are kept byte for byte, under the hash that sha256sum gives for them', async () => {
  const contents = ofacEdition(3);
  const { fileHash, files, entryCount } = await stageEdition(root, 'us-ofac-sdn', incoming(contents));
  assert.is(entryCount, 3);
  const sums = Object.entries(contents)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => `${createHash('sha256').update(text).digest('hex')}  ${name}\n`);
  assert.is(fileHash, `sha256:${createHash('sha256').update(sums.join('')).digest('hex')}`);
  const directory = editionDirectory(root, 'us-ofac-sdn', fileHash);
  for (const { name, bytes } of files) {
    const kept = gunzipSync(await readFile(join(directory, `${name}.gz`)));
    assert.is(kept.toString(), contents[name]);
    assert.is(kept.length, bytes);
  }
});

test('a file that came packed is hashed and kept as it came', async () => {
  const packed = gzipSync(CSL);
  const { fileHash, entryCount } = await stageEdition(root, BIS, incoming({ 'consolidated.csv.gz': packed }));
  assert.is(fileHash, `sha256:${createHash('sha256').update(packed).digest('hex')}`);
  assert.is(entryCount, 1);
  assert.equal(await readFile(join(editionDirectory(root, BIS, fileHash), 'consolidated.csv.gz')), packed);
});

test('an edition that is there is not written again, unless its files were changed', async () => {
  const contents = { 'consolidated.xml': unFile(unIndividual(1, 'ONE')) };
  const first = await stageEdition(root, UN, incoming(contents));
  assert.equal(await stageEdition(root, UN, incoming(contents)), first);
  const directory = editionDirectory(root, UN, first.fileHash);
  await writeFile(join(directory, 'consolidated.xml.gz'), gzipSync(unFile(unIndividual(1, 'TWO'))));
  const read = async () => {
    for await (const _ of readEditionEntries(directory)) continue;
  };
  const error: unknown = await read().catch((thrown: unknown) => thrown);
  assert.match(String(error), 'is not the file that was taken');
  await stageEdition(root, UN, incoming(contents));
  await read();
});

test('what a crash left half-way is removed, whole editions are not', async () => {
  const before = await readdir(join(root, UN));
  await writeFile(join(root, UN, '.incoming-x'), '');
  await removeStaging(root, UN);
  assert.equal(await readdir(join(root, UN)), before);
});

test('two gigabytes of zeros in a small gzip are refused at the first of them', async () => {
  const bytes = (): AsyncIterable<Uint8Array> => zerosInGzip(2 ** 31);
  const started = performance.now();
  assert.is(await refusalOf(BIS, [{ name: 'consolidated.csv.gz', bytes }]), 'malformed');
  assert.ok(performance.now() - started < 10_000);
});

test('text that unpacks without end is refused at the bound', async () => {
  const member = gzipSync('x,y\n'.repeat(100_000), { level: 9 });
  async function* bytes(): AsyncGenerator<Uint8Array> {
    for (;;) yield member;
  }
  let length = 0;
  const read = async () => {
    for await (const text of fileText('a.csv.gz', bytes(), 2 << 20)) length += text.length;
  };
  const error: unknown = await read().catch((thrown: unknown) => thrown);
  assert.ok(error instanceof ListError && error.code === 'too-large');
  assert.ok(length <= 2 << 20);
});

test('a file larger than any list is refused while it comes', async () => {
  let sent = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) {
      sent += 1 << 20;
      yield Buffer.alloc(1 << 20, 0x41);
    }
  }
  assert.is(await refusalOf(UN, [{ name: 'consolidated.xml', bytes: endless }]), 'too-large');
  assert.ok(sent < 80 << 20);
});

test('a gzip that is cut off, or none at all, is refused', async () => {
  const packed = gzipSync(CSL);
  for (const bytes of [packed.subarray(0, -8), packed.subarray(0, 20), Buffer.from(CSL)]) {
    assert.is(await refusalOf(BIS, incoming({ 'consolidated.csv.gz': bytes })), 'malformed');
  }
});

test('a list without entries is refused, and one without its files', async () => {
  assert.is(await refusalOf('us-ofac-sdn', incoming(ofacEdition(0))), 'malformed');
  const { 'alt.csv': _, ...others } = ofacEdition(2);
  assert.is(await refusalOf('us-ofac-sdn', incoming(others)), 'files-missing');
});

test('whatever the bytes are, they are read or refused, and never anything else', async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      CSL,
      unFile(unIndividual(1, 'X')),
      '"',
      '\r',
      '\0',
      '\u001a',
      '<',
      '>',
      '&',
      ']]>',
      '<!--',
      '-0- ,',
    ),
    fc.string({ unit: 'binary' }),
  );
  const files: readonly [ListId, string][] = [
    [BIS, 'consolidated.csv'],
    [UN, 'consolidated.xml'],
    ['uk-sanctions-list', 'UK-Sanctions-List.csv'],
    ['eu-consolidated', 'csvFullSanctionsList_1_1.csv'],
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), fc.constantFrom(...files), async (pieces, [listId, name]) => {
      const contents: FileContents = { [name]: pieces.join('') };
      await stageEdition(root, listId, incoming(contents)).catch((error: unknown) => {
        if (!(error instanceof ListError)) throw error;
      });
    }),
    { numRuns: 60 },
  );
});

test.run();
