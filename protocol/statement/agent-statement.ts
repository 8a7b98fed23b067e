import Type, { type Static } from 'typebox';
import { Closed, Sha256Shape } from '../shapes.ts';
import type { SigningContext } from '../suite/suite.ts';
import { statementKind } from './statement.ts';

export const AGENT_CONTEXT = 'meridian/agent/1' satisfies SigningContext;

/** By its own key, an agent says that this data of this source is its own: what stands beside the node's signature. */
const AgentStatementShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('agent'),
  agent: Type.String({ minLength: 1 }),
  /** Commitment of the record's `claims.dataHash`. */
  dataHash: Sha256Shape,
  /** Hash of the agent's raw public key. */
  keyId: Sha256Shape,
  sourceId: Type.String({ minLength: 1 }),
});
export type AgentStatement = Static<typeof AgentStatementShape>;

export const agentStatement = statementKind('agent', AGENT_CONTEXT, AgentStatementShape);

/** The canonical text that an agent signs, in the context `AGENT_CONTEXT`. */
export function agentStatementText(said: Omit<AgentStatement, 'v' | 'type'>): string {
  const { agent, dataHash, keyId, sourceId } = said;
  return agentStatement.write({ v: 1, type: 'agent', agent, dataHash, keyId, sourceId });
}
