import { Compile } from '../../../protocol/shape-check.ts';
import { AgentIdShape } from '../../../protocol/api/agent-fields.ts';
import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import { type Caller, reaches } from '../../accounts/caller.ts';
import { isPublicKey, type OwnKey } from '../../governance/agents/key-proof.ts';
import { fieldProblem } from '../problem.ts';

const compiled = Compile(AgentIdShape);

export const AGENT_PARAMETER = {
  agentId: { description: 'Id of the agent, percent-encoded.', shape: AgentIdShape, example: EXAMPLE_IDS.agent },
};

/** The agent id in a path. Throws `Problem` 400 where it has not the form of one. */
export function agentParameter({ agentId }: Readonly<Record<string, string>>): string {
  if (compiled.Check(agentId)) return agentId;
  throw fieldProblem('agentId', 'pattern', 'is not an agent id');
}

/** An agent's records stand under its id as their source. Throws `Problem` 403 where the key is bound to others. */
export function requireAgentReach({ key }: Caller, agentId: string): void {
  if (reaches(key, agentId)) return;
  throw fieldProblem('agentId', 'scope', 'is not among the sources of this API key', 'scope-forbidden');
}

/** The key that a request brings; null where it brings none. Throws `Problem` 400. */
export function ownKey(publicKey: string | undefined, proof: string | undefined): OwnKey | null {
  if (publicKey === undefined) {
    if (proof === undefined) return null;
    throw fieldProblem('publicKey', 'required', 'is required with proofOfPossession', 'missing-field');
  }
  if (isPublicKey(publicKey)) return { publicKey, proof };
  throw fieldProblem('publicKey', 'format', 'is not an ML-DSA-65 public key in base64url');
}
