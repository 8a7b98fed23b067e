import type { Agent } from './agent.ts';
import { currentKey } from './agent.ts';

/** Where an agent is found: its decentralised identifier, and the address of the document that this resolves to. */
export interface AgentAddress {
  readonly did: string;
  readonly didDocumentUrl: string;
}

const DOCUMENT = 'did.json';
const FOLDER = 'agents';

/**
 * `did:web:{host}:agents:{agentId}` (W3C CCG did:web), of an agent whose node has this public address. Follows from the
 * address and the id alone, so that no rotation changes it.
 */
export function agentAddress(baseUrl: string, agentId: string): AgentAddress {
  const { host, pathname } = new URL(baseUrl);
  const folders = [...pathname.split('/').filter((folder) => folder !== ''), FOLDER];
  const did = ['did:web', segment(host), ...folders.map((folder) => segment(decodeURIComponent(folder)))];
  return {
    did: [...did, segment(agentId)].join(':'),
    didDocumentUrl: `${baseUrl.replace(/\/+$/, '')}/${FOLDER}/${segment(agentId)}/${DOCUMENT}`,
  };
}

/**
 * A verification method of `JsonWebKey` type (W3C Controlled Identifiers §2.2), its key as RFC 7517 by the AKP key
 * type.
 */
export interface DidVerificationMethod {
  readonly id: string;
  readonly type: 'JsonWebKey';
  readonly controller: string;
  readonly publicKeyJwk: {
    readonly kty: 'AKP';
    readonly alg: 'ML-DSA-65';
    readonly kid: string;
    readonly use: 'sig';
    readonly pub: string;
  };
  /** From when on the key signs for the agent. */
  readonly validFrom: string;
  /** From when on it does not any more. */
  readonly revoked?: string;
}

export interface DidDocument {
  readonly id: string;
  /** Every key that the agent ever had, so that what it signed can always be checked. */
  readonly verificationMethod: readonly DidVerificationMethod[];
  /** The key in force; none once the agent is deactivated. */
  readonly assertionMethod: readonly string[];
  readonly deactivated?: true;
}

/** The agent's DID document in plain JSON (`application/did+json`). A key's `kid` is the `agentKeyId` of records. */
export function didDocument(agent: Agent, did: string): DidDocument {
  const current = currentKey(agent);
  return {
    id: did,
    verificationMethod: agent.keys.map(({ keyId, publicKey, validFrom, validUntil }) => ({
      id: methodId(did, keyId),
      type: 'JsonWebKey',
      controller: did,
      publicKeyJwk: { kty: 'AKP', alg: 'ML-DSA-65', kid: keyId, use: 'sig', pub: publicKey },
      validFrom,
      ...(validUntil === null ? {} : { revoked: validUntil }),
    })),
    assertionMethod: current === undefined ? [] : [methodId(did, current.keyId)],
    ...(agent.deactivatedAt === null ? {} : { deactivated: true }),
  };
}

function methodId(did: string, keyId: string): string {
  return `${did}#${keyId}`;
}

/** Percent-encoded but for the few characters that a DID may hold (DID Core §3.1: letters, digits, `.`, `-`, `_`). */
function segment(text: string): string {
  return encodeURIComponent(text).replace(
    /[!~*'()]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
