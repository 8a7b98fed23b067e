import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, OrdinalShape, Sha256Shape } from '../shapes.ts';
import { canonicalText, StatementError } from '../statement/statement.ts';

/**
 * Longest message that is read, in UTF-8 bytes: one ledger transaction whose size costs nothing beyond the base fee.
 */
export const MAX_MESSAGE_BYTES = 700;

/** Names the envelope of a batch. By the batch's own node it decides; by others it is a rescue. */
const BatchMessageShape = Closed({
  v: Type.Literal(2),
  type: Type.Literal('batch'),
  /** Hash of the genesis roster, whole. */
  federation: Sha256Shape,
  node: NodeIdShape,
  batch: OrdinalShape,
  /** Hash of the envelope's text. */
  envelope: Sha256Shape,
  /** The key that signed the envelope. */
  keyId: Sha256Shape,
});
export type BatchMessage = Static<typeof BatchMessageShape>;

/** Names the roster that its sender wants in force after `previous`, the one in force. */
const RosterMessageShape = Closed({
  v: Type.Literal(2),
  type: Type.Literal('roster'),
  federation: Sha256Shape,
  previous: Sha256Shape,
  /** Hash of the roster's text. */
  statement: Sha256Shape,
});
export type RosterMessage = Static<typeof RosterMessageShape>;

/** Names a revocation of one key of one node. */
const RevocationMessageShape = Closed({
  v: Type.Literal(2),
  type: Type.Literal('revocation'),
  federation: Sha256Shape,
  node: NodeIdShape,
  keyId: Sha256Shape,
  /** Hash of the revocation's text. */
  statement: Sha256Shape,
});
export type RevocationMessage = Static<typeof RevocationMessageShape>;

/** A message of a federation on its ledger topic (protocol §2). */
export type LedgerMessage = BatchMessage | RosterMessage | RevocationMessage;

const MESSAGE_TEXTS = {
  batch: canonicalText('batch message', BatchMessageShape),
  roster: canonicalText('roster message', RosterMessageShape),
  revocation: canonicalText('revocation message', RevocationMessageShape),
} as const;

/** Canonical text of a message: what its sender writes to the topic. */
export function writeLedgerMessage(message: LedgerMessage): string {
  switch (message.type) {
    case 'batch':
      return MESSAGE_TEXTS.batch.write(message);
    case 'roster':
      return MESSAGE_TEXTS.roster.write(message);
    case 'revocation':
      return MESSAGE_TEXTS.revocation.write(message);
  }
}

/**
 * The message of a text from the topic. Throws `StatementError` on a text that is too long, not canonical or of another
 * shape: anyone may write to a topic.
 */
export function parseLedgerMessage(text: string): LedgerMessage {
  if (text.length > MAX_MESSAGE_BYTES) throw new StatementError(`ledger message: over ${MAX_MESSAGE_BYTES} bytes`);
  if (text.includes('"type":"batch"')) return MESSAGE_TEXTS.batch.parse(text);
  if (text.includes('"type":"roster"')) return MESSAGE_TEXTS.roster.parse(text);
  return MESSAGE_TEXTS.revocation.parse(text);
}
