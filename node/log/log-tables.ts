import { hashBytes, type Sha384Hash, writeSha384 } from '../../protocol/hash.ts';
import { RUNNING_HASH_BYTES } from '../../protocol/ledger/running-hash.ts';
import { type DecisionState, decisionStateText } from '../../protocol/log/decision-state.ts';
import { type Codec, bytesCodec, numberCodec, Table, textCodec } from '../store/table.ts';

const stateCodec: Codec<DecisionState> = {
  encode: (state) => textCodec.encode(decisionStateText.write(state)),
  decode: (bytes) => decisionStateText.parse(textCodec.decode(bytes)),
};

/** An entry of the federation's log, with all that its message's place on the topic can be proven by. */
export interface LogEntry {
  /** Text of the decision. */
  readonly text: string;
  /** Running hash of the topic before the deciding message: the one after it, which the text says, follows from it. */
  readonly before: Sha384Hash;
}

const entryCodec: Codec<LogEntry> = {
  encode: ({ text, before }) => Buffer.concat([hashBytes(before), textCodec.encode(text)]),
  decode: (bytes) => ({
    before: writeSha384(bytes.subarray(0, RUNNING_HASH_BYTES)),
    text: textCodec.decode(bytes.subarray(RUNNING_HASH_BYTES)),
  }),
};

/** index → the decision there. */
export const logEntryTable = new Table('log-entry', entryCodec);
/** (level, index) → hashes of a tile of the log's tree, as far as it is filled. */
export const logTileTable = new Table('log-tile', bytesCodec);
/** (node, batch) → index of the decision that names the batch. */
export const decidedBatchTable = new Table('log-batch', numberCodec);
/** One row: what `decide` has to know of the messages before. */
export const decisionStateTable = new Table('log-state', stateCodec);
export const DECISION_STATE_ROW = 'state';
/** hash → text of a roster that a member has brought, in force or not. */
export const rosterTextTable = new Table('log-roster', textCodec);
