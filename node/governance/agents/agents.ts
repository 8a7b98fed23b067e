import { LRUCache } from 'lru-cache';
import { type Agent, type AgentKey, currentKey, MAX_AGENT_KEYS } from '../../../protocol/agents/agent.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { ComplianceError } from '../compliance-error.ts';
import type { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Draft } from '../../intake/draft.ts';
import type { OpenedPayload } from '../../records/payload/payload-cipher.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { type AgentRequest, deactivationDraft, type NewKey, registrationDraft, rotationDraft } from './agent-drafts.ts';
import { readAgent, requireRecord } from './agent-reader.ts';
import { agentPart, registrationOf } from './agent-tables.ts';
import { keyIdOf, type KeyPurpose, type OwnKey, requireConsent, requireProof } from './key-proof.ts';
import { type Particulars, particularsOf } from './particulars.ts';
import type { ServiceKeys } from './service-keys.ts';

export interface AgentsOptions {
  readonly store: Store;
  readonly node: NodeId;
  readonly keys: ServiceKeys;
  readonly locks: KeyedLock;
  /** Payload of an own record. */
  readonly payload: (record: AttestationRecord) => Promise<OpenedPayload | 'erased'>;
}

/** Records a draft. */
type RecordDraft = (draft: Draft) => Promise<AttestationRecord>;

/** The next key of an agent that holds its own. */
export interface OwnRotation extends OwnKey {
  /** Signature of the key before over the same statement. */
  readonly consent: string | undefined;
  /** Whether the caller may replace a key whose private half is lost, so that it cannot consent. */
  readonly mayReplaceLost: boolean;
}

/** Keys of all agents kept in memory together, each agent counted as one more; each takes about three kilobytes. */
const MAX_CACHED_KEYS = 4_096;

/** Member of a registration by which an agent shows that it holds the key that it brings. */
const PROOF = 'proofOfPossession';

/**
 * The registry of this node's agents. What an agent is follows from its signed records alone; the node adds the private
 * halves that it holds. An agent's records are made one after another, and nothing is signed for it meanwhile.
 */
export class Agents {
  readonly #options: AgentsOptions;
  /** Moved inside the agents' lanes only, so that none is older than the last record of its agent. */
  readonly #cache = new LRUCache<string, Agent>({
    maxSize: MAX_CACHED_KEYS,
    sizeCalculation: ({ keys }) => keys.length + 1,
  });

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  /** The agent of this id, whosever it is. */
  find(agentId: string): Promise<Agent | undefined> {
    return this.#options.locks.shared(lockKeyOf(agentId), () => this.#read(agentId));
  }

  /** Throws `ComplianceError` `agent-not-found` where the account has no such agent. */
  async require(account: string, agentId: string): Promise<Agent> {
    return requireOwn(await this.find(agentId), account);
  }

  /** What the account said of its agent; null once the payload of the registration is erased. */
  async particulars({ registration }: Agent): Promise<Particulars | null> {
    const opened = await this.#options.payload(registration);
    return opened === 'erased' ? null : particularsOf(opened);
  }

  /** Runs the work while the agent has this key in force. Throws `ComplianceError`. */
  whileActive<Result>(
    account: string,
    agentId: string,
    work: (agent: Agent, key: AgentKey) => Promise<Result>,
  ): Promise<Result> {
    return this.#options.locks.shared(lockKeyOf(agentId), async () => {
      const agent = requireOwn(await this.#read(agentId), account);
      return work(agent, requireActive(agent));
    });
  }

  /**
   * The same request of the same account is answered with the first registration, as long as that one's payload is
   * there to compare with. Throws `ComplianceError`.
   */
  async register(request: AgentRequest, own: OwnKey | null, record: RecordDraft): Promise<AttestationRecord> {
    const { store, node, locks } = this.#options;
    const { account, agentId } = request;
    if (own !== null) requireProof(own, { account, agentId, node, replaces: null });
    return locks.exclusive(lockKeyOf(agentId), async () => {
      const taken = await registrationOf(store, agentId);
      if (taken === undefined) return record(registrationDraft(request, this.#newKey(agentId, own)));
      const first = await requireRecord(store, taken);
      if (first.account === account && (await this.#repeats(request, first))) return first;
      throw new ComplianceError('agent-exists', 'agentId', 'an agent of this id is registered already');
    });
  }

  /** Puts another key into force. `own`: null where the node holds the agent's keys. Throws `ComplianceError`. */
  rotate(
    request: AgentRequest,
    own: OwnRotation | null,
    record: (draft: Draft, replaced: AgentKey) => Promise<AttestationRecord>,
  ): Promise<AttestationRecord> {
    return this.#changing(request, async (agent, last) => {
      if (agent.keys.length >= MAX_AGENT_KEYS) {
        throw new ComplianceError('agent-keys-exhausted', 'agentId', `the agent has had ${MAX_AGENT_KEYS} keys`);
      }
      if (own !== null) this.#requireAgreement(own, agent, last);
      return record(rotationDraft(request, agent, this.#newKey(agent.agentId, own), this.#ending(agent, last)), last);
    });
  }

  /** Ends the agent: nothing is signed for it any more, ever. Throws `ComplianceError`. */
  deactivate(request: AgentRequest, record: RecordDraft): Promise<AttestationRecord> {
    return this.#changing(request, (agent, last) =>
      record(deactivationDraft(request, agent, last, this.#ending(agent, last))),
    );
  }

  /** Runs work that ends the agent's key, alone. */
  #changing(
    { account, agentId }: AgentRequest,
    work: (agent: Agent, last: AgentKey) => Promise<AttestationRecord>,
  ): Promise<AttestationRecord> {
    const { locks, keys } = this.#options;
    return locks.exclusive(lockKeyOf(agentId), async () => {
      const agent = requireOwn(await this.#read(agentId), account);
      const last = requireActive(agent);
      const made = await work(agent, last).finally(() => this.#cache.delete(agentId));
      if (agent.custody === 'service') keys.noteEnded(last.keyId);
      return made;
    });
  }

  /** A proof of possession is another at every signing, so it is no part of what is asked. */
  async #repeats({ payload }: AgentRequest, first: AttestationRecord): Promise<boolean> {
    const opened = await this.#options.payload(first);
    return opened !== 'erased' && withoutProof(opened.text) === withoutProof(payload);
  }

  #requireAgreement(own: OwnRotation, { account, agentId }: Agent, last: AgentKey): void {
    const purpose: KeyPurpose = { account, agentId, node: this.#options.node, replaces: last };
    requireProof(own, purpose);
    if (own.consent === undefined && own.mayReplaceLost) return;
    requireConsent(own.publicKey, purpose, own.consent);
  }

  #newKey(agentId: string, own: OwnKey | null): NewKey {
    if (own !== null) {
      return { keyId: keyIdOf(own.publicKey), publicKey: own.publicKey, custody: 'self', rows: [] };
    }
    const { signer, row } = this.#options.keys.make(agentId);
    return { keyId: signer.keyId, publicKey: encodeSignature(signer.publicKey), custody: 'service', rows: [row] };
  }

  #ending({ agentId, custody }: Agent, { keyId }: AgentKey): readonly Operation[] {
    return custody === 'service' ? this.#options.keys.end(agentId, keyId) : [];
  }

  /** Only inside the agent's lane. */
  async #read(agentId: string): Promise<Agent | undefined> {
    const cached = this.#cache.get(agentId);
    if (cached !== undefined) return cached;
    const id = await registrationOf(this.#options.store, agentId);
    const agent = id && (await readAgent(this.#options.store, id));
    if (agent !== undefined) this.#cache.set(agentId, agent);
    return agent;
  }
}

function requireOwn(agent: Agent | undefined, account: string): Agent {
  if (agent?.account === account) return agent;
  throw new ComplianceError('agent-not-found', 'agentId', 'the account has no agent of this id');
}

function requireActive(agent: Agent): AgentKey {
  const key = currentKey(agent);
  if (key !== undefined) return key;
  throw new ComplianceError('agent-inactive', 'agentId', 'the agent was deactivated', {
    deactivatedAt: agent.deactivatedAt,
  });
}

function withoutProof(text: string): string {
  const asked: Record<string, JsonValue> = JSON.parse(text);
  return canonicalize(Object.fromEntries(Object.entries(asked).filter(([name]) => name !== PROOF)));
}

function lockKeyOf(agentId: string): string {
  return `agent/${agentPart(agentId)}`;
}
