import Type, { type Static } from 'typebox';
import { encodeHex } from '../../../protocol/bytes.ts';
import { hashBytes, type Sha256Hash } from '../../../protocol/hash.ts';
import { Closed, Sha256Shape, TimestampShape } from '../../../protocol/shapes.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Projection } from '../../records/projection.ts';
import { jsonTable, Table, textCodec } from '../../store/table.ts';
import { isListId, type ListId } from './list-id.ts';

/** (list, seq) → record that attests an edition. The last of a list names the edition in force. */
export const listImportTable = new Table('list-import', textCodec);
/** (list, hash of the edition in hex, seq) → record that attests it. */
export const listEditionTable = new Table('list-edition', textCodec);

const Validator = Closed({
  name: Type.String(),
  /** Hash of the address that gave it, which may hold a token. Absent in rows of releases before: of unknown address. */
  urlHash: Type.Optional(Sha256Shape),
  etag: Type.Union([Type.String(), Type.Null()]),
  lastModified: Type.Union([Type.String(), Type.Null()]),
});
const SourceRowShape = Closed({
  checkedAt: TimestampShape,
  /** Why the last look took nothing; null where it did not fail. */
  failure: Type.Union([Type.String(), Type.Null()]),
  /** The edition that the validators belong to. */
  fileHash: Type.Union([Sha256Shape, Type.Null()]),
  validators: Type.Array(Validator),
});
/** How the last look at a list's source went, and what to send along with the next. */
export type SourceRow = Readonly<Static<typeof SourceRowShape>>;

/** (list) → how the last look at its source went. Lost, the next one downloads everything. */
export const listSourceTable = jsonTable('list-source', SourceRowShape);

export const LIST_PROJECTIONS: readonly Projection[] = [
  {
    table: listImportTable,
    rowsOf: (record) => {
      const attested = attestedEdition(record);
      return attested === undefined ? [] : [listImportTable.put([attested.listId, record.seq], record.id)];
    },
  },
  {
    table: listEditionTable,
    rowsOf: (record) => {
      const attested = attestedEdition(record);
      if (attested === undefined) return [];
      return [listEditionTable.put([attested.listId, hashPart(attested.fileHash), record.seq], record.id)];
    },
  },
];

/** The edition that a record says this node took or found unchanged; undefined for any other record. */
export function attestedEdition({
  kind,
  claims: { keyEvent, rawHash, referenceDatabase },
}: AttestationRecord): { readonly listId: ListId; readonly fileHash: Sha256Hash } | undefined {
  if (kind !== 'key_event' || keyEvent !== 'list-edition' || rawHash === undefined) return undefined;
  const listId = referenceDatabase?.[0]?.id ?? '';
  return isListId(listId) ? { listId, fileHash: rawHash } : undefined;
}

/** A hash as part of a key, and as the name of a folder. */
export function hashPart(hash: Sha256Hash): string {
  return encodeHex(hashBytes(hash));
}
