interface ProblemKind {
  /** HTTP status code. */
  readonly status: number;
  /** The same for every occurrence of the code (RFC 9457 §3.1.3). */
  readonly title: string;
  /** What happened, and what a caller does about it: the page `/problems/:code`. */
  readonly meaning: string;
}

/** Every error code that a caller can see, with its one status. 422 is never used. */
const KINDS = {
  'missing-field': {
    status: 400,
    title: 'Required field missing',
    meaning: 'A required member of the body, or a required query parameter, is not there. `errors` names each one.',
  },
  'invalid-field': {
    status: 400,
    title: 'Field has an invalid value',
    meaning:
      'A member or parameter has the wrong type, form, length or value. `errors` names each one and says what is wrong.',
  },
  'invalid-json': {
    status: 400,
    title: 'Body is not acceptable JSON',
    meaning:
      'The body is not one JSON object in UTF-8: a syntax error, a doubled member name, nesting over 32, a byte order mark, or another type at the top.',
  },
  'model-binding-invalid': {
    status: 400,
    title: 'Model binding is malformed',
    meaning:
      '`model_ref` is not of the documented form. A binding is never dropped silently: correct it, or leave it out.',
  },
  'source-mismatch': {
    status: 400,
    title: 'Source differs from that of the linked record',
    meaning: 'The record that you link to belongs to another source than the one you name.',
  },
  'time-order': {
    status: 400,
    title: 'Times are out of order',
    meaning: 'One time lies before another that it must follow.',
  },
  'time-in-future': {
    status: 400,
    title: 'Time lies in the future',
    meaning: 'A time lies more than five minutes after the clock of the node.',
  },
  'same-person': {
    status: 400,
    title: 'Two different persons are needed',
    meaning: 'This step needs a second person: another name, by another API key, than made the first.',
  },
  'agent-signature-invalid': {
    status: 400,
    title: 'Signature of the agent does not hold',
    meaning:
      'The signature that comes with the request does not hold under the key of the agent. `detail` says what must be signed.',
  },
  'retention-below-minimum': {
    status: 400,
    title: 'Retention period is below the minimum',
    meaning: 'A retention lock lasts at least 1825 days.',
  },
  'bundle-malformed': {
    status: 400,
    title: 'Bundle is malformed',
    meaning:
      'The text is no bundle: an unknown member, a wrong type or a bad encoding. A well-formed bundle that does not verify is answered with 200.',
  },
  'payment-invalid': {
    status: 400,
    title: 'Payment header is malformed',
    meaning: 'The payment header cannot be read. Take the terms from the 402 answer and build it anew.',
  },
  'request-malformed': {
    status: 400,
    title: 'Request is not well-formed HTTP',
    meaning: 'The bytes are no HTTP/1.1 request.',
  },
  'request-aborted': {
    status: 400,
    title: 'Request ended before its body did',
    meaning: 'The connection ended before the announced body did. Nothing was recorded.',
  },

  'api-key-missing': { status: 401, title: 'API key missing', meaning: 'Send your API key in the `x-api-key` header.' },
  'api-key-invalid': {
    status: 401,
    title: 'API key invalid',
    meaning: 'No such API key is known on this node. Keys work on the nodes that issued them.',
  },
  'api-key-revoked': {
    status: 401,
    title: 'API key revoked',
    meaning: 'The API key was revoked, replaced, or has expired.',
  },

  'payment-required': {
    status: 402,
    title: 'Payment required',
    meaning: 'Pay for the call as the answer says, and send it again with the payment.',
  },
  'payment-resource-mismatch': {
    status: 402,
    title: 'Payment is for another resource',
    meaning: 'The payment was made out for another resource. It can still be used there.',
  },
  'payment-settlement-failed': {
    status: 402,
    title: 'Payment could not be settled',
    meaning: 'The work was done and the payment could not be settled. Nothing was charged, and the result is withheld.',
  },

  'scope-forbidden': {
    status: 403,
    title: 'API key lacks the scope',
    meaning: 'The API key is not allowed to do this, not for this source, or not from this address.',
  },
  'tier-forbidden': {
    status: 403,
    title: 'Not included in the tier',
    meaning: 'The tier of the account does not include this.',
  },
  'proof-window-expired': {
    status: 403,
    title: 'Proof window has expired',
    meaning:
      'Hosted proofs of the Developer tier are served for seven days. Public verification never expires, nor does a bundle that was downloaded.',
  },

  'route-not-found': {
    status: 404,
    title: 'No such route',
    meaning: 'There is nothing under this path. `/openapi.json` lists what there is.',
  },
  'attestation-not-found': {
    status: 404,
    title: 'Attestation not found',
    meaning: 'No node at hand knows an attestation of this id.',
  },
  'session-not-found': {
    status: 404,
    title: 'Session not found',
    meaning: 'The account has no session of this id on this node.',
  },
  'incident-not-found': {
    status: 404,
    title: 'Incident not found',
    meaning: 'The account has no incident of this id on this node.',
  },
  'corrective-action-not-found': {
    status: 404,
    title: 'Corrective action not found',
    meaning: 'The account has no corrective action of this id on this node.',
  },
  'lock-not-found': {
    status: 404,
    title: 'Retention lock not found',
    meaning: 'The account has no retention lock of this id on this node.',
  },
  'agent-not-found': {
    status: 404,
    title: 'Agent not found',
    meaning: 'The account has no agent of this id on this node.',
  },

  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists, and not for this method. `Allow` lists those that do.',
  },
  'request-timeout': {
    status: 408,
    title: 'Body took too long to arrive',
    meaning: 'The body did not arrive within its time limit. Nothing was recorded.',
  },

  'duplicate-attestation': {
    status: 409,
    title: 'Duplicate attestation',
    meaning:
      'The same account recorded the same request before; `existingAttestationId` names that record. Put a decision id or a time into `data` where two equal decisions are meant.',
  },
  'idempotency-conflict': {
    status: 409,
    title: 'Idempotency key was used with another body',
    meaning:
      'The `Idempotency-Key` came with another request within the last 24 hours. Use a fresh key for a fresh request.',
  },
  'session-already-ended': {
    status: 409,
    title: 'Session has already ended',
    meaning: 'The session has ended; nothing is recorded in it any more.',
  },
  'invalid-transition': {
    status: 409,
    title: 'Status cannot change this way',
    meaning: 'The corrective action cannot go from its status to this one. `allowed` lists where it can go.',
  },
  'hold-not-active': {
    status: 409,
    title: 'There is no legal hold to release',
    meaning: 'The lock has no legal hold, or it was released before.',
  },
  'agent-inactive': {
    status: 409,
    title: 'Agent was deactivated',
    meaning: 'The agent was deactivated: nothing is signed for it any more.',
  },
  'agent-exists': {
    status: 409,
    title: 'Agent is already registered',
    meaning: 'An agent of this id is registered already, with other particulars or by another account.',
  },
  'retention-locked': {
    status: 409,
    title: 'Record is under a retention lock',
    meaning:
      'A retention lock or legal hold covers the record, so its payload cannot be erased. `locks` names each one.',
  },
  'not-yet-anchored': {
    status: 409,
    title: 'Not yet anchored',
    meaning: 'The root of the record is not yet on the ledger. Come back, or ask with `partial=1` for what there is.',
  },

  'payload-too-large': {
    status: 413,
    title: 'Payload too large',
    meaning: 'The body, `data`, or the members beside the documented ones have more bytes than the limit.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'Send `Content-Type: application/json` in UTF-8, without a content encoding.',
  },

  'rate-limited': {
    status: 429,
    title: 'Rate limit exceeded',
    meaning: 'More requests than the tier allows in any 60 seconds. `Retry-After` says when the next one is taken.',
  },
  'daily-cap-exceeded': {
    status: 429,
    title: 'Daily cap exceeded',
    meaning: 'The account has recorded as much as its tier allows in one UTC day. `Retry-After` leads to midnight UTC.',
  },
  'endpoint-limit-exceeded': {
    status: 429,
    title: 'Endpoint limit exceeded',
    meaning: 'This endpoint takes fewer requests a minute than the tier does. For volume use `/v1/tiered-attest`.',
  },

  'headers-too-large': {
    status: 431,
    title: 'Header too large',
    meaning: 'The header of the request is larger than the node reads.',
  },

  internal: {
    status: 500,
    title: 'Internal error',
    meaning: 'A fault of the node. Nothing half-done is left behind; give `requestId` to the operator.',
  },

  'dependency-unavailable': {
    status: 503,
    title: 'A dependency is unavailable',
    meaning: 'Something that the node needs for this does not answer right now. Nothing was recorded; try again.',
  },
  'list-unavailable': {
    status: 503,
    title: 'A list is unavailable',
    meaning: 'A sanctions list that the answer needs is missing or too old. Nothing is charged.',
  },
  'model-unavailable': {
    status: 503,
    title: 'The model is unavailable',
    meaning: 'The model does not answer. Nothing is charged.',
  },
  'queue-full': {
    status: 503,
    title: 'Intake queue is full',
    meaning: 'More records wait to be signed than the node takes on. Try again in a moment.',
  },

  'storage-full': {
    status: 507,
    title: 'Storage capacity exceeded',
    meaning: 'The storage of the node is full. Reading goes on; nothing was recorded.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof KINDS;

export const PROBLEM_KINDS: Readonly<Record<ProblemCode, ProblemKind>> = KINDS;

export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEM_KINDS, text);
}
