import { createHash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { Compile } from '../../../protocol/shape-check.ts';
import { type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { Closed, CountShape, OrdinalShape, Sha256Shape } from '../../../protocol/shapes.ts';
import type { EditionFile } from './contract.ts';
import { ListError } from './list-error.ts';
import { LIST_IDS } from './list-id.ts';

/** A folder that holds this file is a sample. It is a file of the edition like the others, so the hash tells. */
export const SAMPLE_FILE = 'SAMPLE';
/** A name that can stand in a folder, in a line of `sha256sum`, and in a message. */
const FILE_NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$';

/** What the files of an edition hold. */
export const ContentShape = Closed({
  fileDate: Type.Union([Type.String({ minLength: 1, maxLength: 40 }), Type.Null()]),
  entryCount: OrdinalShape,
  /** Names as the list writes them. */
  nameCount: OrdinalShape,
  /** Names by kind, those of kind `reordered` too. */
  names: Closed({
    primary: CountShape,
    'strong-alias': CountShape,
    'weak-alias': CountShape,
    'original-script': CountShape,
    reordered: CountShape,
  }),
  addressCount: CountShape,
  /** Rows of a companion file that belong to no entry. */
  unmatchedRows: CountShape,
  /** What a whole list would have, and these files do not; absent: nothing is known to be missing. */
  lacks: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
});
export type EditionContent = Static<typeof ContentShape>;

const ManifestShape = Closed({
  v: Type.Literal(1),
  listId: Type.Enum([...LIST_IDS]),
  fileHash: Sha256Shape,
  ...ContentShape.properties,
  files: Type.Array(Closed({ name: Type.String({ pattern: FILE_NAME }), sha256: Sha256Shape, bytes: CountShape }), {
    minItems: 1,
  }),
});
/** What is known of an edition's files, kept beside them. All of it follows from them. */
export type EditionManifest = Readonly<Static<typeof ManifestShape>>;

const compiled = Compile(ManifestShape);
const NAME = new RegExp(FILE_NAME);

/** Throws `ListError` where the text is no manifest, or not of the hash that it says. */
export function readManifest(text: string): EditionManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ListError('damaged', 'the manifest of an edition does not read', error);
  }
  if (!compiled.Check(value) || hashOfFiles(value.files) !== value.fileHash) {
    throw new ListError('damaged', 'the manifest of an edition does not read');
  }
  return value;
}

export function isFileName(text: string): boolean {
  return NAME.test(text);
}

/** The one file's hash; of several that of the text that `sha256sum` prints for them, names in byte order. */
export function hashOfFiles(files: readonly EditionFile[]): Sha256Hash {
  const [only, ...others] = files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (only === undefined) throw new ListError('files-missing', 'an edition has no files');
  if (others.length === 0) return only.sha256;
  const lines = [only, ...others].map(({ name, sha256 }) => `${sha256.slice('sha256:'.length)}  ${name}\n`);
  return writeSha256(createHash('sha256').update(lines.join('')).digest());
}

export function isSample(files: readonly EditionFile[]): boolean {
  return files.some(({ name }) => name === SAMPLE_FILE);
}
