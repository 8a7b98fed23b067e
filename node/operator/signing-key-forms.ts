import Type from 'typebox';
import { REVOCATION_REASONS } from '../../protocol/log/revocation.ts';
import {
  Closed,
  ConsensusTimestampShape,
  CountShape,
  NodeIdShape,
  OrdinalShape,
  RecordIdShape,
  Sha256Shape,
  TimestampShape,
} from '../../protocol/shapes.ts';
import { RevocationsFileShape } from '../../protocol/verdict/bundle.ts';

/**
 * What an operator asks about the node's signing keys, and what is answered. Both ends of the socket read these forms.
 */
const success = Type.Literal(true);
const consensusOrNull = Type.Union([ConsensusTimestampShape, Type.Null()]);
/** Null of a key that was rotated. */
const sinceOrNull = Type.Union([TimestampShape, Type.Null()]);
/** Longest note for the node's log, in characters. */
const MAX_NOTE = 256;

/** `GET /signing-keys`. */
export const SigningKeysAnswerShape = Closed({
  success,
  node: NodeIdShape,
  /** The key that signs. */
  inUse: Sha256Shape,
  /** All keys that the node ever certified. `inForceSince`: when the ledger decided the revocation. */
  keys: Type.Array(
    Closed({
      keyId: Sha256Shape,
      validFrom: TimestampShape,
      seqFrom: OrdinalShape,
      revoked: Type.Union([
        Closed({
          compromisedSince: sinceOrNull,
          reason: Type.Enum([...REVOCATION_REASONS]),
          issuedAt: TimestampShape,
          inForceSince: consensusOrNull,
        }),
        Type.Null(),
      ]),
    }),
  ),
});
/** `GET /revocations`: of all members, those in force, with what proves them to who verifies offline. */
export const RevocationsAnswerShape = Closed({
  success,
  file: RevocationsFileShape,
  /** Keys that are known to be revoked and not in the file, since too few members show by now that they are. */
  notShown: CountShape,
});
/** `GET /fallen-records?cursor=…&key=…`: own records that count no more because a key under them was revoked. */
export const FallenRecordsAnswerShape = Closed({
  success,
  node: NodeIdShape,
  records: Type.Array(
    Closed({
      id: RecordIdShape,
      seq: OrdinalShape,
      /** Null while it is not sealed. */
      batch: Type.Union([OrdinalShape, Type.Null()]),
      /** When the ledger decided its batch; null where it decided none. */
      consensus: consensusOrNull,
      keyId: Sha256Shape,
      /** From when on what the key signed falls, as far as its revocations reach. */
      fallsFrom: TimestampShape,
    }),
  ),
  /** Null after the last page. A page may be empty and not the last. */
  nextCursor: Type.Union([Type.String(), Type.Null()]),
});
/** `POST /signing-keys/rotate`. */
export const RotateSigningKeyShape = Closed({});
export const RotateSigningKeyAnswerShape = Closed({
  success,
  node: NodeIdShape,
  before: Sha256Shape,
  keyId: Sha256Shape,
});
/**
 * `POST /signing-keys/revoke`. Without `keyId` the key in use; without `compromisedSince` compromised from now on, with
 * null rotated. `note` is for the node's log alone.
 */
export const RevokeSigningKeyShape = Closed({
  keyId: Type.Optional(Sha256Shape),
  compromisedSince: Type.Optional(sinceOrNull),
  note: Type.String({ maxLength: MAX_NOTE }),
});
export const RevokeSigningKeyAnswerShape = Closed({
  success,
  node: NodeIdShape,
  keyId: Sha256Shape,
  compromisedSince: sinceOrNull,
  /** From when on what it signed falls: later where the revocation does not reach as far back. Null where all stands. */
  fallsFrom: sinceOrNull,
  /** The key that signs in its place; null where it was not in use. */
  replacedBy: Type.Union([Sha256Shape, Type.Null()]),
});
