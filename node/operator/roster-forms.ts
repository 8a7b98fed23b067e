import Type from 'typebox';
import { SignedRosterShape } from '../../protocol/keys/signed-roster.ts';
import {
  Closed,
  ConsensusTimestampShape,
  NodeIdShape,
  OrdinalShape,
  OrNull,
  Sha256Shape,
} from '../../protocol/shapes.ts';
import { RosterFileShape } from '../../protocol/verdict/bundle.ts';

/** What an operator asks about rosters, and what is answered. Both ends of the socket read these forms. */
const success = Type.Literal(true);

/** `GET /rosters`. */
export const RostersAnswerShape = Closed({
  success,
  node: NodeIdShape,
  genesis: SignedRosterShape,
  /** Texts of the later rosters that this node knows, in order of versions. */
  later: Type.Array(Type.String()),
  /** Of each roster in force, the genesis among them, when it was decided; null at the genesis. */
  decided: Type.Array(OrNull(ConsensusTimestampShape)),
  /** Members that put a next roster in force. */
  majority: OrdinalShape,
  /** What members have named to follow the one in force. */
  named: Type.Array(Closed({ hash: Sha256Shape, by: Type.Array(NodeIdShape) })),
  /** What this node's operator signed last to follow the one in force. */
  vote: OrNull(Closed({ version: OrdinalShape, hash: Sha256Shape })),
});
/** `GET /rosters/decisions`: the rosters in force, as a verifier is given them to know. */
export const DecidedRostersAnswerShape = Closed({ success, rosters: RosterFileShape });
/** `POST /rosters`: this node signs the next roster, and names it on the ledger. */
export const NameRosterShape = Closed({ statement: Type.String() });
export const NameRosterAnswerShape = Closed({ success, node: NodeIdShape, version: OrdinalShape, hash: Sha256Shape });
