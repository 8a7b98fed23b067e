import type { AgentKey } from '../../../protocol/agents/agent.ts';
import { decodeBase64url, utf8 } from '../../../protocol/bytes.ts';
import { commitText, type DecisionTexts, SALT_BYTES } from '../../../protocol/payload/commitment.ts';
import { AGENT_CONTEXT, agentStatementText } from '../../../protocol/statement/agent-statement.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import type { Base64url } from '../../../protocol/shapes.ts';
import { ComplianceError } from '../compliance-error.ts';
import type { Draft } from '../../intake/draft.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { randomBytesPooled } from '../../keys/randomness.ts';
import type { Agents } from './agents.ts';
import { type Demand, requireSignature } from './key-proof.ts';
import type { ServiceKeys } from './service-keys.ts';

/** The agent that a decision is made for; salt and signature come from one that holds its own key. */
export interface SpeakingAgent {
  readonly agentId: string;
  readonly salt: string | undefined;
  readonly signature: string | undefined;
}

/** A decision's draft: what its agent signs is in it. */
type DecisionDraft = Draft & { readonly decision: DecisionTexts };

/** What the agent adds to a draft before it is recorded. */
interface Signed {
  readonly salt: Uint8Array;
  readonly signature: Base64url;
}

/** The draft with what its agent adds. Throws `ComplianceError` `agent-key-unavailable`, `agent-signature-invalid`. */
export type Sign = (speaking: SpeakingAgent, draft: DecisionDraft) => Promise<DecisionDraft>;

/** Puts an agent's own signature beside the node's. */
export class AgentSigning {
  readonly #agents: Agents;
  readonly #keys: ServiceKeys;

  constructor(agents: Agents, keys: ServiceKeys) {
    this.#agents = agents;
    this.#keys = keys;
  }

  /**
   * Records a decision for an agent: its key stays in force until `record` is done, whose result is returned. Throws
   * `ComplianceError` `agent-not-found`, `agent-inactive`, `agent-key-unavailable`, `agent-signature-invalid`; then
   * nothing was recorded.
   */
  record<Result>(
    speaking: SpeakingAgent,
    draft: DecisionDraft,
    record: (draft: Draft) => Promise<Result>,
  ): Promise<Result> {
    return this.signing(draft.account, speaking.agentId, async (sign) => record(await sign(speaking, draft)));
  }

  /**
   * Runs the work while the agent's key stays in force, with what puts its signature into drafts of the account. Throws
   * `ComplianceError` `agent-not-found` and `agent-inactive`, before the work begins.
   */
  signing<Result>(account: string, agentId: string, work: (sign: Sign) => Promise<Result>): Promise<Result> {
    return this.#agents.whileActive(account, agentId, (agent, key) =>
      work(async (speaking, draft) => {
        const byService = agent.custody === 'service';
        const { salt, signature } = byService
          ? await this.#signByService(speaking, draft, key)
          : signedByItself(speaking, draft, key);
        return {
          ...draft,
          salt,
          claims: { ...draft.claims, agentId, agentKeyId: key.keyId, agentSignature: signature },
          links: { ...draft.links, agent: key.record },
        };
      }),
    );
  }

  async #signByService(speaking: SpeakingAgent, draft: DecisionDraft, key: AgentKey): Promise<Signed> {
    for (const [field, value] of [
      ['agentSalt', speaking.salt],
      ['agentSignature', speaking.signature],
    ] as const) {
      if (value !== undefined) throw refused(field, 'the node holds the key of this agent and signs itself');
    }
    const signer = await this.#keys.signer(speaking.agentId, key.keyId);
    if (signer === undefined) {
      throw new ComplianceError('agent-key-unavailable', 'agentId', 'the private key of the agent is not held here');
    }
    const salt = randomBytesPooled(SALT_BYTES);
    const statement = statementOf(speaking.agentId, draft, key, salt);
    return { salt, signature: encodeSignature(await signer.sign(utf8(statement), AGENT_CONTEXT)) };
  }
}

function signedByItself(speaking: SpeakingAgent, draft: DecisionDraft, key: AgentKey): Signed {
  const salt = saltOf(speaking.salt);
  const demand: Demand = {
    field: 'agentSignature',
    context: AGENT_CONTEXT,
    statement: statementOf(speaking.agentId, draft, key, salt),
    publicKey: decodeBase64url(key.publicKey),
  };
  return { salt, signature: requireSignature(demand, speaking.signature) };
}

function statementOf(
  agent: string,
  { sourceId, decision }: DecisionDraft,
  { keyId }: AgentKey,
  salt: Uint8Array,
): string {
  const dataHash = commitText(nativeSuite, 'meridian/data/1', salt, decision.data);
  return agentStatementText({ agent, dataHash, keyId, sourceId });
}

function saltOf(text: string | undefined): Uint8Array {
  if (text === undefined) {
    throw refused('agentSalt', 'is missing: the agent holds its own key, so it chooses the salt and signs beforehand');
  }
  try {
    const salt = decodeBase64url(text);
    if (salt.length === SALT_BYTES) return salt;
  } catch {
    // Refused below like a salt of another length.
  }
  throw refused('agentSalt', `is not base64url of ${SALT_BYTES} bytes`);
}

function refused(field: string, message: string): ComplianceError {
  return new ComplianceError('agent-signature-invalid', field, message);
}
