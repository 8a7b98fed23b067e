import { EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

/** 1952 bytes that are nobody's key, and their hash. */
const PUBLIC_KEY = `${'AQID'.repeat(650)}AQI`;
const KEY_ID = 'sha256:475dd5bef15fa678ed5fb2ddf70a2f87a526da1081552413612c4e100e09f99e';
const NEXT_PUBLIC_KEY = `${'BAUG'.repeat(650)}BAU`;
const NEXT_KEY_ID = 'sha256:c4d9e58487b196b223147386a43f4cc1d2b9afa02bec09f3f9a577676f449cf0';
const LATER = '2026-11-21T10:15:00.000Z';
const DID = `did:web:eu.example:agents:${EXAMPLE_IDS.agent}`;

const IDENTITY = {
  success: true,
  registrationId: EXAMPLE_IDS.registration,
  agentId: EXAMPLE_IDS.agent,
  did: DID,
  didDocumentUrl: `https://eu.example/agents/${EXAMPLE_IDS.agent}/did.json`,
} as const;
const PARTICULARS = {
  displayName: 'Claims triage',
  jurisdiction: 'EU',
  permittedUses: ['sort incoming claims by urgency', 'draft a letter for a person to send'],
  metadata: { team: 'claims', contact: 'claims-desk' },
};
const KEY = {
  publicKey: PUBLIC_KEY,
  publicKeyEncoding: 'base64url',
  keyId: KEY_ID,
  algorithm: 'ML-DSA-65',
  custody: 'service',
} as const;
const RECORDED = { status: 'pending', warnings: [] } as const;
const FIRST_KEY = {
  keyId: KEY_ID,
  publicKey: PUBLIC_KEY,
  validFrom: EXAMPLE_SUBMITTED_AT,
  validUntil: null,
  attestationId: EXAMPLE_IDS.registrationRecord,
};

/** Requests and answers around one agent whose key the node holds. */
export const AGENT_EXAMPLES = {
  register: {
    request: { agentId: EXAMPLE_IDS.agent, ...PARTICULARS },
    answer: {
      ...IDENTITY,
      ...KEY,
      createdAt: EXAMPLE_SUBMITTED_AT,
      attestationId: EXAMPLE_IDS.registrationRecord,
      ...RECORDED,
    },
  },
  rotate: {
    request: { reason: 'yearly rotation' },
    answer: {
      ...IDENTITY,
      ...KEY,
      publicKey: NEXT_PUBLIC_KEY,
      keyId: NEXT_KEY_ID,
      previousKeyId: KEY_ID,
      rotatedAt: LATER,
      attestationId: EXAMPLE_IDS.decision,
      ...RECORDED,
    },
  },
  deactivate: {
    request: { reason: 'replaced by another agent' },
    answer: {
      ...IDENTITY,
      agentStatus: 'deactivated',
      deactivatedAt: LATER,
      keyId: KEY_ID,
      attestationId: EXAMPLE_IDS.decision,
      ...RECORDED,
    },
  },
  agent: {
    ...IDENTITY,
    agentStatus: 'active',
    ...PARTICULARS,
    payloadState: 'available',
    custody: 'service',
    algorithm: 'ML-DSA-65',
    publicKeyEncoding: 'base64url',
    currentKey: FIRST_KEY,
    keys: [FIRST_KEY],
    createdAt: EXAMPLE_SUBMITTED_AT,
    deactivatedAt: null,
    attestationId: EXAMPLE_IDS.registrationRecord,
  },
  document: {
    id: DID,
    verificationMethod: [
      {
        id: `${DID}#${KEY_ID}`,
        type: 'JsonWebKey',
        controller: DID,
        publicKeyJwk: { kty: 'AKP', alg: 'ML-DSA-65', kid: KEY_ID, use: 'sig', pub: PUBLIC_KEY },
        validFrom: EXAMPLE_SUBMITTED_AT,
      },
    ],
    assertionMethod: [`${DID}#${KEY_ID}`],
  },
};
