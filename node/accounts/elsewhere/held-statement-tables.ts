import Type, { type Static } from 'typebox';
import { Closed, RecordIdShape } from '../../../protocol/shapes.ts';
import { jsonTable, Table, textCodec } from '../../store/table.ts';

const HeldStatementShape = Closed({
  /** The record of this version. */
  id: RecordIdShape,
  /** Of the record's payload, base64url. */
  salt: Type.String(),
  /** Canonical text of the statement: the record's payload. */
  text: Type.String(),
});
export type HeldStatement = Readonly<Static<typeof HeldStatementShape>>;

/** (home, account, seq of the record) → a version of the account's statement, as its home or a named node gave it. */
export const heldStatementTable = jsonTable('account-statement', HeldStatementShape);

const ForeignKeyShape = Closed({
  /** Of which a held statement states the key. */
  accounts: Type.Array(Type.String(), { minItems: 1 }),
  /** Two accounts stated it at the same time, so that it is neither's for as long as one of them does. */
  contested: Type.Boolean(),
});
export type ForeignKey = Readonly<Static<typeof ForeignKeyShape>>;

/** (SHA-256 of a key, hex) → the accounts of other nodes whose it is. */
export const foreignKeyTable = jsonTable('foreign-key', ForeignKeyShape);

/**
 * (home, account, seq of the record) → id of the record: this version of the account's statement has arrived, and
 * nobody has given its payload yet, or the log has not decided it. Lands in the write of the version's record.
 */
export const wantedStatementTable = new Table('statement-wanted', textCodec);
