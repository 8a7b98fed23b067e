import { LRUCache } from 'lru-cache';
import type { Static } from 'typebox';
import { type Agent, type AgentKey, currentKey, MAX_AGENT_KEYS } from '../../../protocol/agents/agent.ts';
import { RegisterAgentRequestShape } from '../../../protocol/api/agents.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { parseText } from '../../../protocol/json/text.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { Compile } from '../../../protocol/shape-check.ts';
import type { Base64url } from '../../../protocol/shapes.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import type { Custody } from '../../../protocol/statement/vocabulary.ts';
import type { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Draft } from '../../intake/draft.ts';
import { type OpenedPayload, PayloadDamagedError } from '../../records/payload/payload-cipher.ts';
import type { Operation } from '../../store/operation.ts';
import type { Store } from '../../store/store.ts';
import { ComplianceError } from '../compliance-error.ts';
import { agentPart, readAgent, registrationOf, requireRecord } from './agent-tables.ts';
import { keyIdOf, type KeyPurpose, type OwnKey, requireConsent, requireProof } from './key-proof.ts';
import type { ServiceKeys } from './service-keys.ts';

/** What an account says of its agent. Stands in the payload of the registration alone. */
type Particulars = Pick<
  Static<typeof RegisterAgentRequestShape>,
  'displayName' | 'jurisdiction' | 'permittedUses' | 'metadata'
>;

const compiled = Compile(RegisterAgentRequestShape);

/** Throws `PayloadDamagedError` where the payload is no registration's. */
function particularsOf({ text }: OpenedPayload): Particulars {
  const value: unknown = parseText(text);
  if (compiled.Check(value)) return value;
  throw new PayloadDamagedError('the payload is not that of a registration');
}

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
  /**
   * Moved only while the agent's lock is held, so that none is older than the last record of its agent; `forget` tells of
   * records that come without it.
   */
  readonly #cache = new LRUCache<string, Agent>({
    maxSize: MAX_CACHED_KEYS,
    sizeCalculation: ({ keys }) => keys.length + 1,
  });
  #forgotten = 0;

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

  /** Records of agents were taken back from peers: what was read before, or is being read, is not remembered. */
  forget(): void {
    this.#forgotten++;
    this.#cache.clear();
  }

  /** Only while the agent's lock is held. */
  async #read(agentId: string): Promise<Agent | undefined> {
    const cached = this.#cache.get(agentId);
    if (cached !== undefined) return cached;
    const before = this.#forgotten;
    const id = await registrationOf(this.#options.store, agentId);
    const agent = id && (await readAgent(this.#options.store, id));
    if (agent !== undefined && this.#forgotten === before) this.#cache.set(agentId, agent);
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

/** What a caller asks about an agent, its form already checked. */
export interface AgentRequest {
  readonly account: string;
  readonly agentId: string;
  /** RFC 8785 text of all of the request. */
  readonly payload: string;
  /** Names of the documented members that were given. */
  readonly given: readonly string[];
}

/** A key that a record makes known. */
interface NewKey {
  readonly keyId: Sha256Hash;
  readonly publicKey: Base64url;
  readonly custody: Custody;
  /** Rows that keep its private half, where the node holds it. */
  readonly rows: readonly Operation[];
}

/** The draft of a registration. */
function registrationDraft(request: AgentRequest, key: NewKey): Draft {
  return {
    kind: 'agent_registration',
    ...sharedParts(request),
    claims: { channel: 'direct', ...namesOf(request), ...claimsOfKey(key) },
    links: {},
    besides: () => key.rows,
  };
}

/** The draft of a rotation. `ended`: rows whose deletion destroys the private half of the key before. */
function rotationDraft(
  request: AgentRequest,
  { registration }: Agent,
  key: NewKey,
  ended: readonly Operation[],
): Draft {
  return {
    kind: 'key_event',
    ...sharedParts(request),
    claims: { channel: 'direct', keyEvent: 'agent-rotated', ...namesOf(request), ...claimsOfKey(key) },
    links: { agent: registration.id },
    besides: () => [...key.rows, ...ended],
  };
}

/** The draft of a deactivation. It names the agent's last key and makes none known. */
function deactivationDraft(
  request: AgentRequest,
  { registration, custody }: Agent,
  last: AgentKey,
  ended: readonly Operation[],
): Draft {
  return {
    kind: 'key_event',
    ...sharedParts(request),
    claims: {
      channel: 'direct',
      keyEvent: 'agent-deactivated',
      ...namesOf(request),
      agentKeyId: last.keyId,
      custody,
    },
    links: { agent: registration.id },
    besides: () => ended,
  };
}

/** What is recorded about an agent stands under the agent's own id as its source. */
function sharedParts({ account, agentId, payload }: AgentRequest): Pick<Draft, 'account' | 'sourceId' | 'payload'> {
  return { account, sourceId: agentId, payload };
}

function namesOf({ agentId, given }: AgentRequest): { agentId: string; given: string[] } {
  return { agentId, given: [...given] };
}

function claimsOfKey({ keyId, publicKey, custody }: NewKey) {
  return { agentKeyId: keyId, agentPublicKey: publicKey, custody };
}
