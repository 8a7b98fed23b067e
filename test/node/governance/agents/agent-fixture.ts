import { randomBytes } from 'node:crypto';
import * as assert from 'uvu/assert';
import { nativeSigner } from '../../../../node/keys/native-suite.ts';
import { DidDocumentShape } from '../../../../protocol/api/agents.ts';
import { encodeBase64url, utf8 } from '../../../../protocol/bytes.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { isJsonObject, type JsonObject } from '../../../../protocol/json/value.ts';
import { commitText, SALT_BYTES } from '../../../../protocol/payload/commitment.ts';
import { AGENT_CONTEXT, agentStatementText } from '../../../../protocol/statement/agent-statement.ts';
import { nobleSuite } from '../../../../protocol/suite/noble.ts';
import type { Signer, SigningContext } from '../../../../protocol/suite/suite.ts';
import type { Ask, HttpAnswer, TestNode } from '../../../fixtures/test-node.ts';
import { shapeCheck } from '../../http/answer-shape.ts';

const requireDocument = shapeCheck(DidDocumentShape);

export const PROOF_CONTEXT = 'meridian/agent-proof/1';

/** Particulars that every registration of a test gives. */
export const PARTICULARS = { displayName: 'Triage', jurisdiction: 'EU', permittedUses: ['sort claims'] };

export function freshKey(): Signer {
  return nativeSigner(randomBytes(32));
}

export function publicKeyOf({ publicKey }: Signer): string {
  return encodeBase64url(publicKey);
}

export async function signed(signer: Signer, text: string, context: SigningContext): Promise<string> {
  return encodeBase64url(await signer.sign(utf8(text), context));
}

/** What the documentation of the endpoint says that an agent signs: written out here once more. */
export function proofText(account: string, agent: string, keyId: string, replaces: string | null): string {
  return canonicalize({ account, agent, keyId, node: 'eu', replaces, type: 'agent-proof', v: 1 });
}

/** Members by which an agent that holds its own key signs a decision. */
export async function spoken(signer: Signer, agentId: string, sourceId: string, data: JsonObject): Promise<JsonObject> {
  const salt = randomBytes(SALT_BYTES);
  const dataHash = commitText(nobleSuite, 'meridian/data/1', salt, canonicalize(data));
  const text = agentStatementText({ agent: agentId, dataHash, keyId: signer.keyId, sourceId });
  return { agentId, agentSalt: encodeBase64url(salt), agentSignature: await signed(signer, text, AGENT_CONTEXT) };
}

/** The text that a refusal says is to be signed. */
export function demandedText({ body }: HttpAnswer): string {
  const sign = body.sign;
  if (sign !== undefined && isJsonObject(sign) && typeof sign.statement === 'string') return sign.statement;
  throw new Error('nothing to sign');
}

/** Endpoints of the registry on a node. */
export class Registry {
  readonly #node: TestNode;

  constructor(node: TestNode) {
    this.#node = node;
  }

  register(body: JsonObject, ask: Ask = {}): Promise<HttpAnswer> {
    return this.#node.post('/v1/agents/register', { ...PARTICULARS, ...body }, ask);
  }

  /** Registers an agent, which must be accepted. */
  async registered(body: JsonObject): Promise<JsonObject> {
    return accepted(await this.register(body));
  }

  /** Registers an agent of the account without limits that holds its own key. */
  async selfHeld(agentId: string): Promise<Signer> {
    const key = freshKey();
    const proofOfPossession = await signed(key, proofText('acc_eu_unmetered', agentId, key.keyId, null), PROOF_CONTEXT);
    await this.registered({ agentId, publicKey: publicKeyOf(key), proofOfPossession });
    return key;
  }

  change(agentId: string, step: 'rotate' | 'deactivate', body: JsonObject = {}, ask: Ask = {}): Promise<HttpAnswer> {
    return this.#node.post(`/v1/agents/${encodeURIComponent(agentId)}/${step}`, body, ask);
  }

  agent(agentId: string, ask: Ask = {}): Promise<HttpAnswer> {
    return this.#node.get(`/v1/agents/${encodeURIComponent(agentId)}`, ask);
  }

  document(agentId: string): Promise<HttpAnswer> {
    return this.#node.get(`/agents/${encodeURIComponent(agentId)}/did.json`, { key: null });
  }

  /** The DID document of an agent, which must be served as one. */
  async documentOf(agentId: string): Promise<JsonObject> {
    const answer = await this.document(agentId);
    assert.is(answer.status, 200, answer.text);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/did\+json/);
    assert.is(answer.headers.get('access-control-allow-origin'), '*');
    requireDocument(answer.body);
    return answer.body;
  }

  /** A further API key of the account without limits. */
  async keyWith(terms: JsonObject): Promise<Ask> {
    const { apiKey } = accepted(await this.#node.post('/v1/keys', terms));
    return { key: String(apiKey) };
  }
}

export function accepted({ status, body, text }: HttpAnswer): JsonObject {
  if (status !== 200) throw new Error(`not accepted: ${text}`);
  return body;
}
