import { type DecisionState, decisionStateText } from '../../protocol/log/decision-state.ts';
import { type Codec, bytesCodec, numberCodec, Table, textCodec } from '../store/table.ts';

const stateCodec: Codec<DecisionState> = {
  encode: (state) => textCodec.encode(decisionStateText.write(state)),
  decode: (bytes) => decisionStateText.parse(textCodec.decode(bytes)),
};

/** index → text of the decision: the entries of the federation's log. */
export const logEntryTable = new Table('log-entry', textCodec);
/** (level, index) → hashes of a tile of the log's tree, as far as it is filled. */
export const logTileTable = new Table('log-tile', bytesCodec);
/** (node, batch) → index of the decision that names the batch. */
export const decidedBatchTable = new Table('log-batch', numberCodec);
/** One row: what `decide` has to know of the messages before. */
export const decisionStateTable = new Table('log-state', stateCodec);
export const DECISION_STATE_ROW = 'state';
/** hash → text of a roster that a member has brought, in force or not. */
export const rosterTextTable = new Table('log-roster', textCodec);
