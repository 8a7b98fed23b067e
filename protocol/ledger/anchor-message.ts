import Type, { type Static } from 'typebox';
import { hashText } from '../hash.ts';
import { Closed, NodeIdShape, OrdinalShape, Sha256Shape } from '../shapes.ts';
import type { Envelope } from '../statement/envelope.ts';
import { canonicalText, StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';

/** One ledger message, one transaction: small enough that the ledger charges no bytes beyond its base fee. */
export const MAX_ANCHOR_BYTES = 700;

const FederationShape = Type.String({ pattern: '^[0-9a-f]{8}$' });

const BatchAnchorShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('batch'),
  /** The eight hex digits of the federation's digest. */
  federation: FederationShape,
  node: NodeIdShape,
  batch: OrdinalShape,
  size: OrdinalShape,
  root: Sha256Shape,
  /** Hash of the envelope's statement: stands for its signature, which would not fit. */
  envelope: Sha256Shape,
  keyId: Sha256Shape,
});
export type BatchAnchor = Static<typeof BatchAnchorShape>;

const StatementAnchorShape = Closed({
  v: Type.Literal(1),
  type: Type.Enum(['key', 'revocation', 'roster']),
  federation: FederationShape,
  node: NodeIdShape,
  /** Hash of the anchored statement. */
  statement: Sha256Shape,
});
export type StatementAnchor = Static<typeof StatementAnchorShape>;

export type AnchorMessage = BatchAnchor | StatementAnchor;

const batchAnchorText = canonicalText('anchor message', BatchAnchorShape);
const statementAnchorText = canonicalText('anchor message', StatementAnchorShape);

/** The message that anchors a batch: everything a reader needs to match it with the envelope. */
export function batchAnchor(
  suite: Pick<Suite, 'sha256Hex'>,
  federation: string,
  envelope: Envelope,
  text: string,
): BatchAnchor {
  const { node, batch, size, root, keyId } = envelope;
  return { v: 1, type: 'batch', federation, node, batch, size, root, envelope: hashText(suite, text), keyId };
}

export function writeAnchorMessage(message: AnchorMessage): string {
  return message.type === 'batch' ? batchAnchorText.write(message) : statementAnchorText.write(message);
}

/** Reads a ledger message. Throws `StatementError` on anything that is not an anchor message of this protocol. */
export function parseAnchorMessage(text: string): AnchorMessage {
  if (text.length > MAX_ANCHOR_BYTES) throw new StatementError(`anchor message: over ${MAX_ANCHOR_BYTES} bytes`);
  return text.includes('"type":"batch"') ? batchAnchorText.parse(text) : statementAnchorText.parse(text);
}
