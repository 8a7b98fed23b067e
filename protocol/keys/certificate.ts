import Type, { type Static } from 'typebox';
import { Base64urlShape, Closed, NodeIdShape, OrdinalShape, Sha256Shape, TimestampShape } from '../shapes.ts';
import { statementKind } from '../statement/statement.ts';

const KEY_PURPOSES = ['signing', 'agent'] as const;

/** A node's identity key says that `publicKey` signs for the node from `validFrom` and record `seqFrom` on. */
const KeyCertificateShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('key'),
  node: NodeIdShape,
  /** Hash of the raw public key. */
  keyId: Sha256Shape,
  publicKey: Base64urlShape,
  purpose: Type.Enum([...KEY_PURPOSES]),
  validFrom: TimestampShape,
  seqFrom: OrdinalShape,
});
export type KeyCertificate = Static<typeof KeyCertificateShape>;

export const keyCertificateStatement = statementKind('key certificate', 'meridian/key/1', KeyCertificateShape);
