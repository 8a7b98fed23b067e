import Type, { type Static } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { decodeUtf8, utf8 } from '../../protocol/bytes.ts';
import { SignedCheckpointShape } from '../../protocol/log/checkpoint.ts';
import { Closed, CountShape, NodeIdShape } from '../../protocol/shapes.ts';
import { SignedStatementShape } from '../../protocol/statement/statement.ts';
import { TopicPointShape } from '../anchoring/ledger/topic-point.ts';
import { EquivocationShape } from './equivocations.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import type { Topic } from '../transport/contract.ts';

const MessageShape = Type.Union([
  Closed({ type: Type.Literal('envelope'), signed: SignedStatementShape }),
  Closed({ type: Type.Literal('equivocation'), proof: EquivocationShape }),
  Closed({ type: Type.Literal('certificate'), signed: SignedStatementShape }),
  Closed({ type: Type.Literal('revocation'), signed: SignedStatementShape }),
  /**
   * How far the sender's own sources agree on the ledger's topic. Gossip passes the same bytes on once: two members
   * that tell the same, or one that tells it again, must not send the same message. `at`: its clock, or later, so that
   * each is after the one before; an earlier one says nothing any more.
   */
  Closed({ type: Type.Literal('told'), node: NodeIdShape, at: CountShape, point: TopicPointShape }),
  Closed({ type: Type.Literal('checkpoint'), signed: SignedCheckpointShape }),
]);
export type GossipMessage = Static<typeof MessageShape>;

/** Which topic each message travels on. */
export const TOPIC_OF: Readonly<Record<GossipMessage['type'], Topic>> = {
  envelope: 'batch',
  equivocation: 'batch',
  certificate: 'keys',
  revocation: 'keys',
  told: 'batch',
  checkpoint: 'checkpoint',
};

const compiled = Compile(MessageShape);

export function encodeGossip(message: GossipMessage): Uint8Array {
  return utf8(JSON.stringify(message));
}

/** Throws `PeerStatementError` `malformed`. */
export function decodeGossip(data: Uint8Array): GossipMessage {
  let value: unknown;
  try {
    value = JSON.parse(decodeUtf8(data));
  } catch {
    throw new PeerStatementError('malformed', 'gossip that is not JSON');
  }
  if (!compiled.Check(value)) throw new PeerStatementError('malformed', 'gossip of no known shape');
  return value;
}
