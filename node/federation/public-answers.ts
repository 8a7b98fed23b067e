import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { EQUIVOCATIONS_PAGE, MISDEED_PROOFS_SHOWN } from '../../protocol/api/equivocations.ts';
import { PUBLIC_PAGE_ENTRIES } from '../../protocol/api/public-record.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { SignedCheckpointShape } from '../../protocol/log/checkpoint.ts';
import { MisdeedProofShape } from '../../protocol/proof/misdeed.ts';
import { CountShape, NodeIdShape, OrdinalShape, OrNull, Sha256Shape } from '../../protocol/shapes.ts';
import { SignedStatementShape } from '../../protocol/statement/statement.ts';
import { TopicPointShape } from '../anchoring/ledger/topic-point.ts';

/** An answer is not JSON, or lacks what is asked of it. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError';
}

/** Members of a roster, and chains, that are read of one answer at most. */
const MAX_NODES = 4_096;
const MAX_CHECKPOINTS = 1_024;

// A node may say more in a later release, so objects are open; every member that is read is strict.
const Statements = Type.Array(SignedStatementShape, { maxItems: PUBLIC_PAGE_ENTRIES });
const Cursor = OrNull(Type.String({ maxLength: 1024 }));

/** `GET /v1/chains/:node`. */
export const chainAnswer = form(
  'chain',
  Type.Object({
    batches: Type.Array(Type.Object({ batch: OrdinalShape, envelope: SignedStatementShape }), {
      maxItems: PUBLIC_PAGE_ENTRIES,
    }),
  }),
);

/** `GET /v1/signing-keys`. */
export const signingKeysAnswer = form(
  'signing keys',
  Type.Object({ certificates: Statements, revocations: Statements, nextCursor: Cursor }),
);

/** `GET /v1/rosters`. */
export const rostersAnswer = form(
  'rosters',
  Type.Object({
    rosters: Type.Array(Type.String(), { maxItems: PUBLIC_PAGE_ENTRIES }),
    named: Type.Array(Type.String(), { maxItems: 1 }),
    nextFrom: OrNull(OrdinalShape),
  }),
);

/** `GET /v1/log/checkpoints`. */
export const checkpointsAnswer = form(
  'checkpoints',
  Type.Object({ checkpoints: Type.Array(SignedCheckpointShape, { maxItems: MAX_CHECKPOINTS }) }),
);

/** `GET /v1/equivocations`. */
export const equivocationsAnswer = form(
  'equivocations',
  Type.Object({
    equivocations: Type.Array(Type.Object({ node: NodeIdShape, batch: OrdinalShape, stands: Type.Boolean() }), {
      maxItems: EQUIVOCATIONS_PAGE,
    }),
    nextCursor: Cursor,
  }),
);

/** `GET /v1/equivocations/:node`. */
export const misdeedProofsAnswer = form(
  'proofs of misbehaviour',
  Type.Object({ proofs: Type.Array(MisdeedProofShape, { maxItems: MISDEED_PROOFS_SHOWN }), nextCursor: Cursor }),
);

const compiledNode = Compile(NodeIdShape);
const compiledTopic = Compile(Type.Object({ agreed: TopicPointShape }));
const UnderivedShape = Type.Object({ node: NodeIdShape, batch: OrdinalShape, code: Type.String({ maxLength: 64 }) });
const compiledLog = Compile(Type.Object({ underived: Type.Array(UnderivedShape, { maxItems: MAX_NODES }) }));
const compiledClosed = Compile(Type.Object({ closed: Type.Array(NodeIdShape, { maxItems: MAX_NODES }) }));
const compiledRoster = Compile(Type.Object({ hash: Sha256Shape }));
const MemberShape = Type.Object({ node: NodeIdShape, head: Type.Object({ batch: CountShape }) });
const compiledMembers = Compile(Type.Array(MemberShape, { maxItems: MAX_NODES }));

/** What a node says of itself and of what it holds. Nothing of it is signed. */
export interface FederationView {
  readonly node: Static<typeof NodeIdShape>;
  /** Hash of the roster that it takes to be in force. */
  readonly roster: Static<typeof Sha256Shape> | null;
  /** How far its own sources agree on the topic. */
  readonly agreed: Static<typeof TopicPointShape> | null;
  /** Decided batches that it holds and did not derive. */
  readonly underived: readonly Static<typeof UnderivedShape>[];
  /** Nodes whose chain cannot go on, as it says. */
  readonly closed: readonly Static<typeof NodeIdShape>[];
  /** Last batch of each chain that it holds. */
  readonly heads: readonly { readonly node: Static<typeof NodeIdShape>; readonly batch: number }[];
}

/**
 * Reads `GET /v1/federation`. What a node adds is not looked at, and a part that is not there or of another form is as
 * if it had not been said: only its name must be there. Throws `AnswerError`.
 */
export function readFederationView(text: string): FederationView {
  const value = readJson('federation', text);
  if (!isJsonObject(value) || !compiledNode.Check(value.node)) {
    throw new AnswerError('the federation page names no node');
  }
  const { node, topic, log, roster, members } = value;
  return {
    node,
    roster: compiledRoster.Check(roster) ? roster.hash : null,
    agreed: compiledTopic.Check(topic)
      ? { sequence: topic.agreed.sequence, runningHash: topic.agreed.runningHash }
      : null,
    underived: compiledLog.Check(log) ? log.underived : [],
    closed: compiledClosed.Check(log) ? log.closed : [],
    heads: compiledMembers.Check(members) ? members.map(({ node: of, head }) => ({ node: of, batch: head.batch })) : [],
  };
}

function form<Shape extends TSchema>(name: string, shape: Shape): (text: string) => Static<Shape> {
  const compiled = Compile(shape);
  return (text) => {
    const value: unknown = readJson(name, text);
    if (!compiled.Check(value)) throw new AnswerError(`the ${name} has another shape`);
    return value;
  };
}

function readJson(name: string, text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    throw new AnswerError(`the ${name} is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}
