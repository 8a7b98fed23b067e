import Type from 'typebox';
import { documented } from '../shapes.ts';
import { PUBLIC_KEY_BYTES, SIGNATURE_BYTES } from '../suite/suite.ts';
import { TextShape } from './fields.ts';

const MAX_AGENT_ID = 256;
/** The last character of base64url that ends with two bytes beyond a multiple of three: its lowest bits are zero. */
const LAST_OF_TWO_BYTES = '[AEIMQUYcgkosw048]';
/** No control character, no space around it, and none of the two names that addresses take for folders. */
const AGENT_ID_PATTERN = '^(?!\\.{1,2}$)(?!\\s)[^\\u0000-\\u001f\\u007f-\\u009f]*(?<!\\s)$';

export const AgentIdShape = Type.String({ minLength: 1, maxLength: MAX_AGENT_ID, pattern: AGENT_ID_PATTERN });

/** Base64url text of an ML-DSA-65 signature, and of a public key. */
export const SignatureTextShape = base64urlOf(SIGNATURE_BYTES);
export const PublicKeyTextShape = base64urlOf(PUBLIC_KEY_BYTES);

/**
 * Members by which a decision names the agent that it is made for. An agent that holds its own key brings the last two.
 */
export const SPEAKING_AGENT_MEMBERS = {
  agentId: Type.Optional(AgentIdShape),
  /** Base64url of 32 bytes: the salt of the record's commitments, which the agent has signed one of. */
  agentSalt: Type.Optional(TextShape(1, 64, documented({ pattern: `^[A-Za-z0-9_-]{42}${LAST_OF_TWO_BYTES}$` }))),
  agentSignature: Type.Optional(SignatureTextShape),
};

/** Salt and signature are those of an agent that is named. */
export const AGENT_CONDITIONS = documented({
  dependentRequired: { agentSalt: ['agentId'], agentSignature: ['agentId'] },
});

/** A proof is that of a key that comes along. */
export const OWN_KEY_CONDITIONS = documented({ dependentRequired: { proofOfPossession: ['publicKey'] } });

function base64urlOf(bytes: number) {
  const characters = Math.ceil((bytes * 4) / 3);
  const words = bytes % 3 === 2 ? documented({ pattern: `^[A-Za-z0-9_-]*${LAST_OF_TWO_BYTES}$` }) : {};
  return Type.String({ minLength: characters, maxLength: characters, pattern: '^[A-Za-z0-9_-]*$', ...words });
}
