import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, Sha256Shape } from '../shapes.ts';
import type { SigningContext } from '../suite/suite.ts';
import { statementKind } from './statement.ts';

export const AGENT_PROOF_CONTEXT = 'meridian/agent-proof/1' satisfies SigningContext;

/**
 * Signed by a new key of an agent: anyone who holds its private half means it for this agent of this account on this
 * node. Signed by the key before it as well, where there is one: its holder agrees to be replaced.
 */
const AgentProofShape = Closed({
  v: Type.Literal(1),
  type: Type.Literal('agent-proof'),
  account: Type.String({ minLength: 1 }),
  agent: Type.String({ minLength: 1 }),
  /** Hash of the new raw public key. */
  keyId: Sha256Shape,
  node: NodeIdShape,
  /** Hash of the raw public key that it replaces; null for the agent's first. */
  replaces: Type.Union([Sha256Shape, Type.Null()]),
});
export type AgentProof = Static<typeof AgentProofShape>;

const agentProofStatement = statementKind('agent-proof', AGENT_PROOF_CONTEXT, AgentProofShape);

/** The canonical text that is signed, in the context `AGENT_PROOF_CONTEXT`. */
export function agentProofText(said: Omit<AgentProof, 'v' | 'type'>): string {
  const { account, agent, keyId, node, replaces } = said;
  return agentProofStatement.write({ v: 1, type: 'agent-proof', account, agent, keyId, node, replaces });
}
