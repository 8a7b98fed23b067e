import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { readFile } from 'node:fs/promises';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { SignedRosterShape } from '../../protocol/keys/signed-roster.ts';
import {
  Closed,
  ConsensusTimestampShape,
  CountShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
  TimestampShape,
} from '../../protocol/shapes.ts';
import { SignedStatementShape } from '../../protocol/statement/statement.ts';
import { TopicHeadShape } from '../anchoring/topic-links.ts';
import { replaceDurably } from '../keys/durable-file.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { AlertShape } from './alerts.ts';

const SeenAnchorShape = Closed({
  batch: OrdinalShape,
  envelope: Sha256Shape,
  /** Hash of the message. */
  message: Sha256Shape,
  consensus: ConsensusTimestampShape,
});
/** An anchor message of a batch, read on the ledger. */
export type SeenAnchor = Static<typeof SeenAnchorShape>;

const OpenBatchShape = Closed({
  batch: OrdinalShape,
  envelope: Sha256Shape,
  /** Hash of the one anchor message that is the envelope's. */
  message: Sha256Shape,
  sealedAt: TimestampShape,
  keyId: Sha256Shape,
  /** Epoch milliseconds. */
  seenAt: CountShape,
  anchoredAt: OrNull(ConsensusTimestampShape),
});
/** A batch that is not yet on the ledger. */
export type OpenBatch = Static<typeof OpenBatchShape>;

const ChainStateShape = Closed({
  /** Last batch that was read and follows from all before. */
  batch: CountShape,
  /** The last envelopes of the chain. */
  recent: Type.Array(SignedStatementShape),
  open: Type.Array(OpenBatchShape),
  /** Anchors of batches that were not read yet. */
  ahead: Type.Array(SeenAnchorShape),
  /** Anchors that are not those of the envelopes that nodes show. */
  foreign: Type.Array(SeenAnchorShape),
  /** Its node's misbehaviour is proven: it is not read on. */
  tainted: Type.Boolean(),
});
export type ChainState = Static<typeof ChainStateShape>;

const AwaitedStatementShape = Closed({
  statement: Sha256Shape,
  type: Type.Enum(['revocation', 'roster']),
  /** The member whose account paid for the message. */
  by: NodeIdShape,
  sequence: OrdinalShape,
  /** Epoch milliseconds. */
  seenAt: CountShape,
});
/** A statement that the ledger names and that no node has shown. */
export type AwaitedStatement = Static<typeof AwaitedStatementShape>;

const MonitorStateShape = Closed({
  v: Type.Literal(3),
  /** Fingerprint of the federation. */
  genesis: Sha256Shape,
  topic: TopicHeadShape,
  rosters: Type.Array(SignedRosterShape),
  rivals: Type.Array(SignedRosterShape),
  /** By the hash of a message that names a roster: the sequence number of the first such message. */
  rosterPlaces: Type.Record(Type.String(), OrdinalShape),
  certificates: Type.Array(SignedStatementShape),
  revocations: Type.Array(SignedStatementShape),
  chains: Type.Record(Type.String(), ChainStateShape),
  awaited: Type.Array(AwaitedStatementShape),
  alerts: Type.Array(AlertShape),
  /** Names of the proofs that were written. */
  proofs: Type.Array(Type.String()),
});
export type MonitorState = Static<typeof MonitorStateShape>;

export class StateFileError extends Error {
  override readonly name = 'StateFileError';
}

const FILE_MODE = 0o600;
const compiled = Compile(MonitorStateShape);

export const EMPTY_CHAIN: ChainState = { batch: 0, recent: [], open: [], ahead: [], foreign: [], tainted: false };

/** The state of a file: its hash on the first line, then the text. Null where there is no file. Throws `StateFileError`. */
export async function readState(path: string, genesis: Sha256Hash): Promise<MonitorState | null> {
  let content: string;
  try {
    content = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new StateFileError(`${path} cannot be read`, { cause: error });
  }
  const end = content.indexOf('\n');
  const text = content.slice(end + 1);
  if (end < 0 || content.slice(0, end) !== hashText(nativeSuite, text)) {
    throw new StateFileError(`${path} is damaged; without it the monitor reads everything again`);
  }
  const value: unknown = JSON.parse(text);
  if (!compiled.Check(value)) throw new StateFileError(`${path} is of another version of the monitor`);
  if (value.genesis !== genesis) throw new StateFileError(`${path} is of another federation`);
  return value;
}

/** Puts the state on the disk as a whole, in place of the one before. */
export async function writeState(path: string, state: MonitorState): Promise<void> {
  const text = JSON.stringify(state);
  await replaceDurably(path, `${hashText(nativeSuite, text)}\n${text}`, FILE_MODE);
}
