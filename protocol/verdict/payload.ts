import { decodeBase64url, EncodingError } from '../bytes.ts';
import { JsonError } from '../json/value.ts';
import { payloadMatches, SALT_BYTES } from '../payload/commitment.ts';
import type { Suite } from '../suite/suite.ts';
import type { Disclosure } from './bundle.ts';
import type { Known } from './known.ts';
import type { OpenedProof } from './opened-proof.ts';
import { messageOf, problem, type Problem } from './problem.ts';

/** What is to be had of a record's payload. Only `damaged` speaks against the record. */
export const PAYLOAD_STATES = ['disclosed', 'withheld', 'erased', 'unreachable', 'damaged'] as const;
export type PayloadState = (typeof PAYLOAD_STATES)[number];

export interface JudgedPayload {
  readonly state: PayloadState;
  readonly problems: readonly Problem[];
}

/**
 * Whether salt and payload, where they are disclosed, are what the record's body commits to: the whole, and each part.
 */
export function judgePayload(suite: Suite, { proof, body }: OpenedProof, hidden: Known['payload']): JudgedPayload {
  const { disclosure } = proof;
  if (disclosure === undefined) {
    if (hidden === 'damaged') {
      return damaged('payload-mismatch', 'the stored payload is not the one that was encrypted');
    }
    return { state: hidden ?? 'withheld', problems: [] };
  }
  if (body === null) return damaged('disclosure-malformed', 'a payload without the body that commits to it');
  try {
    if (payloadMatches(suite, body, saltOf(disclosure), disclosure.payload)) {
      return { state: 'disclosed', problems: [] };
    }
  } catch (error) {
    if (!(error instanceof EncodingError || error instanceof JsonError)) throw error;
    return damaged('disclosure-malformed', messageOf(error));
  }
  return damaged('payload-mismatch', 'salt and payload do not hash to the commitments');
}

function saltOf({ salt }: Disclosure): Uint8Array {
  const bytes = decodeBase64url(salt);
  if (bytes.length !== SALT_BYTES) throw new EncodingError(`a salt has ${SALT_BYTES} bytes`);
  return bytes;
}

function damaged(code: 'disclosure-malformed' | 'payload-mismatch', detail: string): JudgedPayload {
  return { state: 'damaged', problems: [problem('payload', 'payloadHashMatch', code, detail)] };
}
