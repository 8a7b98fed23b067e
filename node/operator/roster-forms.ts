import Type from 'typebox';
import { SignedRosterShape } from '../../protocol/keys/signed-roster.ts';
import {
  Base64urlShape,
  Closed,
  ConsensusTimestampShape,
  NodeIdShape,
  OrdinalShape,
  Sha256Shape,
} from '../../protocol/shapes.ts';

/** What an operator asks about rosters, and what is answered. Both ends of the socket read these forms. */
const success = Type.Literal(true);

/** `GET /rosters`. */
export const RostersAnswerShape = Closed({
  success,
  node: NodeIdShape,
  /** From genesis on. */
  rosters: Type.Array(SignedRosterShape),
  /** When the ledger named each of them first; null where it was not seen to, as it is for genesis. */
  anchored: Type.Array(Type.Union([ConsensusTimestampShape, Type.Null()])),
  /** Rosters that a quorum signed beside those in force. */
  rivals: Type.Array(Closed({ version: OrdinalShape, hash: Sha256Shape })),
});
/** `POST /rosters/sign`. `insists`: though the node signed another roster of that version. */
export const SignRosterShape = Closed({ statement: Type.String(), insists: Type.Optional(Type.Boolean()) });
export const SignRosterAnswerShape = Closed({ success, node: NodeIdShape, signature: Base64urlShape });
/** `POST /rosters`. */
export const PublishRosterShape = Closed({ roster: SignedRosterShape });
export const PublishRosterAnswerShape = Closed({
  success,
  outcome: Type.Enum(['added', 'known']),
  version: OrdinalShape,
  hash: Sha256Shape,
});
