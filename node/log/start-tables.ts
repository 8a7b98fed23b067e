import Type, { type Static } from 'typebox';
import { isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import { Closed, CountShape, OrdinalShape } from '../../protocol/shapes.ts';
import { type Codec, jsonTable, numberCodec, Table, textCodec } from '../store/table.ts';

/** The row that says that the last run of the store ended in order. No copy of it has it. */
export const STOPPED_ROW = 'stopped';

/**
 * What a start has to know of the runs before. `signed`: 1 once this store may have signed a group or an envelope ·
 * `stopped`: 1 where the last run ended in order · `taken-back`: the last own batch that was taken back from another
 * member.
 */
export const START_ROWS = ['signed', STOPPED_ROW, 'taken-back'] as const;

/** (row) → its number. */
export const startTable = new Table('start', numberCodec);

const StartToldShape = Closed({
  /** The node's last batch that it was told of at its newest start; 0 for none. */
  batch: CountShape,
  /** Batches that came from the node itself since then, without a gap; null for none. */
  since: Type.Union([Closed({ first: OrdinalShape, last: OrdinalShape }), Type.Null()]),
});
export type StartTold = Static<typeof StartToldShape>;

/** (node) → what this member told it when it asked at its newest start, and had from it since. */
export const startToldTable = jsonTable('start-told', StartToldShape);

const keyIdCodec: Codec<Sha256Hash> = {
  encode: textCodec.encode,
  decode(bytes) {
    const text = textCodec.decode(bytes);
    if (!isSha256Hash(text)) throw new RangeError('a stored key id is no SHA-256 hash');
    return text;
  },
};

/**
 * (batch) → key id of the last name by this node's own account on the ledger's topic, of batches that are not decided.
 */
export const ownNameTable = new Table('own-name', keyIdCodec);
