import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from '../../../protocol/shape-check.ts';
import type { EntityId } from '../../../protocol/ids.ts';
import { RUNNING_HASH_BYTES, RUNNING_HASH_VERSION } from '../../../protocol/ledger/running-hash.ts';
import { ConsensusTimestampShape, EntityIdShape } from '../../../protocol/shapes.ts';
import type { ConsensusTimestamp } from '../../../protocol/time.ts';

/** One message of a topic, as a mirror tells it. Nothing of it is checked yet but its form. */
export interface MirrorMessage {
  readonly sequence: number;
  readonly consensusTimestamp: ConsensusTimestamp;
  readonly payer: EntityId;
  readonly message: Uint8Array;
  /** 48 bytes. */
  readonly runningHash: Uint8Array;
}

/** One way in which a transaction id reached consensus. The same id may do so again as a duplicate. */
export interface LedgerTransaction {
  readonly result: string;
  readonly consensusTimestamp: ConsensusTimestamp;
}

export class MirrorFormatError extends Error {
  override readonly name = 'MirrorFormatError';
}

// A mirror may add members in a later release, so objects are open; every member that is read is strict. `chunk_info`,
// which no running hash covers, is not read.
const MessageShape = Type.Object({
  consensus_timestamp: ConsensusTimestampShape,
  message: Type.String(),
  payer_account_id: EntityIdShape,
  running_hash: Type.String(),
  running_hash_version: Type.Literal(RUNNING_HASH_VERSION),
  sequence_number: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  topic_id: EntityIdShape,
});
const messagesPage = reader('topic messages', Type.Object({ messages: Type.Array(MessageShape) }));
const transactionRows = reader(
  'transactions',
  Type.Object({
    transactions: Type.Array(
      Type.Object({
        result: Type.String({ minLength: 1, maxLength: 100 }),
        consensus_timestamp: ConsensusTimestampShape,
      }),
    ),
  }),
);
const blocksPage = reader(
  'blocks',
  Type.Object({
    blocks: Type.Array(Type.Object({ timestamp: Type.Object({ to: ConsensusTimestampShape }) }), { minItems: 1 }),
  }),
);

/** Messages of the topic in a page. Throws `MirrorFormatError` on any other form, and on a message of another topic. */
export function readMessages(body: unknown, topicId: EntityId): MirrorMessage[] {
  return messagesPage(body).messages.map((row) => {
    if (row.topic_id !== topicId) throw new MirrorFormatError(`a message of topic ${row.topic_id}, not ${topicId}`);
    const runningHash = readBase64(row.running_hash);
    if (runningHash.length !== RUNNING_HASH_BYTES) throw new MirrorFormatError('a running hash of another length');
    return {
      sequence: row.sequence_number,
      consensusTimestamp: row.consensus_timestamp,
      payer: row.payer_account_id,
      message: readBase64(row.message),
      runningHash,
    };
  });
}

/** Every way in which one transaction id reached consensus. Throws `MirrorFormatError`. */
export function readTransactions(body: unknown): LedgerTransaction[] {
  return transactionRows(body).transactions.map((row) => ({
    result: row.result,
    consensusTimestamp: row.consensus_timestamp,
  }));
}

/** Consensus time up to which the mirror has everything, from its latest block. Throws `MirrorFormatError`. */
export function readClock(body: unknown): ConsensusTimestamp {
  const [latest] = blocksPage(body).blocks;
  if (latest === undefined) throw new MirrorFormatError('no block');
  return latest.timestamp.to;
}

/** A strict reader of one form of answer. What it returns throws `MirrorFormatError` on any other. */
export function reader<Shape extends TSchema>(name: string, shape: Shape): (body: unknown) => Static<Shape> {
  const compiled = Compile(shape);
  return (body) => {
    if (compiled.Check(body)) return body;
    const [first] = compiled.Errors(body);
    throw new MirrorFormatError(`${name}: ${first?.instancePath ?? ''} ${first?.message ?? 'has another form'}`);
  };
}

function readBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new MirrorFormatError('not base64');
  return new Uint8Array(bytes);
}
