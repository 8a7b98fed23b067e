interface ProblemKind {
  /** HTTP status code. */
  readonly status: number;
  /** The same for every occurrence of the code (RFC 9457 §3.1.3). */
  readonly title: string;
}

/** Every error code that a caller can see, with its one status. 422 is never used. */
const KINDS = {
  'missing-field': { status: 400, title: 'Required field missing' },
  'invalid-field': { status: 400, title: 'Field has an invalid value' },
  'invalid-json': { status: 400, title: 'Body is not acceptable JSON' },
  'model-binding-invalid': { status: 400, title: 'Model binding is malformed' },
  'source-mismatch': { status: 400, title: 'Source differs from that of the linked record' },
  'time-order': { status: 400, title: 'Times are out of order' },
  'time-in-future': { status: 400, title: 'Time lies in the future' },
  'same-person': { status: 400, title: 'Two different persons are needed' },
  'agent-signature-invalid': { status: 400, title: 'Signature of the agent does not hold' },
  'retention-below-minimum': { status: 400, title: 'Retention period is below the minimum' },
  'bundle-malformed': { status: 400, title: 'Bundle is malformed' },
  'prompt-too-long': { status: 400, title: 'Prompt is longer than the model takes' },
  'payment-invalid': { status: 400, title: 'Payment header is malformed' },
  'request-malformed': { status: 400, title: 'Request is not well-formed HTTP' },
  'request-aborted': { status: 400, title: 'Request ended before its body did' },

  'api-key-missing': { status: 401, title: 'API key missing' },
  'api-key-invalid': { status: 401, title: 'API key invalid' },
  'api-key-revoked': { status: 401, title: 'API key revoked' },

  'payment-required': { status: 402, title: 'Payment required' },
  'payment-refused': { status: 402, title: 'Payment was refused' },
  'payment-resource-mismatch': { status: 402, title: 'Payment is for another resource' },
  'payment-settlement-failed': { status: 402, title: 'Payment could not be settled' },

  'scope-forbidden': { status: 403, title: 'API key lacks the scope' },
  'tier-forbidden': { status: 403, title: 'Not included in the tier' },
  'sign-up-closed': { status: 403, title: 'Sign-up is closed' },
  'proof-window-expired': { status: 403, title: 'Proof window has expired' },

  'route-not-found': { status: 404, title: 'No such route' },
  'attestation-not-found': { status: 404, title: 'Attestation not found' },
  'session-not-found': { status: 404, title: 'Session not found' },
  'incident-not-found': { status: 404, title: 'Incident not found' },
  'corrective-action-not-found': { status: 404, title: 'Corrective action not found' },
  'lock-not-found': { status: 404, title: 'Retention lock not found' },
  'agent-not-found': { status: 404, title: 'Agent not found' },
  'key-not-found': { status: 404, title: 'API key not found' },
  'account-not-found': { status: 404, title: 'Account not found' },
  'share-not-found': { status: 404, title: 'Link not found' },
  'link-invalid': { status: 404, title: 'Link does not work' },
  'source-not-found': { status: 404, title: 'Source not found' },
  'template-not-found': { status: 404, title: 'Template not found' },
  'system-not-found': { status: 404, title: 'System not found' },
  'framework-not-found': { status: 404, title: 'Framework not found' },
  'member-not-found': { status: 404, title: 'Member not found' },
  'webhook-not-found': { status: 404, title: 'Webhook not found' },
  'delivery-not-found': { status: 404, title: 'Delivery not found' },
  'too-many-webhooks': { status: 409, title: 'Too many webhooks' },
  'policy-not-found': { status: 404, title: 'Policy not found' },
  'too-many-policies': { status: 409, title: 'Too many policies' },
  'no-mail-address': { status: 409, title: 'No mail address' },
  'person-exists': { status: 409, title: 'Person exists already' },
  'person-not-found': { status: 404, title: 'Person not found' },
  'second-factor-needed': { status: 403, title: 'Second factor needed' },
  'second-factor-wrong': { status: 403, title: 'Second factor not right' },
  'second-factor-not-found': { status: 404, title: 'Second factor not found' },
  'too-many-second-factors': { status: 409, title: 'Too many second factors' },
  'too-many-people': { status: 409, title: 'Account has too many people' },
  'sign-in-not-found': { status: 404, title: 'Sign-in not found' },
  'pack-not-found': { status: 404, title: 'Evidence pack not found' },
  'fact-not-found': { status: 404, title: 'Fact not found' },
  'log-tile-not-found': { status: 404, title: 'Tile is not in the log' },

  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-timeout': { status: 408, title: 'Body took too long to arrive' },

  'duplicate-attestation': { status: 409, title: 'Duplicate attestation' },
  'idempotency-conflict': { status: 409, title: 'Idempotency key was used with another body' },
  'session-already-ended': { status: 409, title: 'Session has already ended' },
  'invalid-transition': { status: 409, title: 'Status cannot change this way' },
  'hold-not-active': { status: 409, title: 'There is no legal hold to release' },
  'agent-inactive': { status: 409, title: 'Agent was deactivated' },
  'agent-exists': { status: 409, title: 'Agent is already registered' },
  'agent-keys-exhausted': { status: 409, title: 'Agent has had all the keys that it can' },
  'agent-key-unavailable': { status: 409, title: 'Key of the agent is not held here' },
  'key-exists': { status: 409, title: 'API key is in use' },
  'key-ended': { status: 409, title: 'API key has ended' },
  'last-admin-key': { status: 409, title: 'Last key that administers the account' },
  'too-many-keys': { status: 409, title: 'Account has too many API keys' },
  'too-many-shares': { status: 409, title: 'Account has too many links' },
  'account-exists': { status: 409, title: 'Account exists' },
  'payload-elsewhere': { status: 409, title: 'Payload is at another node' },
  'home-only': { status: 409, title: 'Done at the home of the account alone' },
  'retention-locked': { status: 409, title: 'Record is under a retention lock' },
  'payload-erased': { status: 409, title: 'Payload was erased' },
  'pack-not-ready': { status: 409, title: 'Evidence pack is not ready' },
  'as-of-unavailable': { status: 409, title: 'Cannot be answered as of then' },
  'not-yet-anchored': { status: 409, title: 'Not yet anchored' },
  'payment-bound-elsewhere': { status: 409, title: 'Payment belongs to another request' },
  'payment-identifier-conflict': { status: 409, title: 'Payment identifier was used with another request' },
  'payment-answer-ended': { status: 409, title: 'Answer is not held any more' },

  'payload-too-large': { status: 413, title: 'Payload too large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported media type' },

  'range-not-satisfiable': { status: 416, title: 'The file has no such bytes' },

  'rate-limited': { status: 429, title: 'Rate limit exceeded' },
  'daily-cap-exceeded': { status: 429, title: 'Daily cap exceeded' },
  'endpoint-limit-exceeded': { status: 429, title: 'Endpoint limit exceeded' },
  'packs-busy': { status: 429, title: 'No room for more evidence packs' },
  'model-busy': { status: 429, title: 'Too many wait for the model' },

  'headers-too-large': { status: 431, title: 'Header too large' },

  internal: { status: 500, title: 'Internal error' },

  'dependency-unavailable': { status: 503, title: 'A dependency is unavailable' },
  'list-unavailable': { status: 503, title: 'A list is unavailable' },
  'model-unavailable': { status: 503, title: 'The model is unavailable' },
  'chain-closed': { status: 503, title: 'The chain of the node is closed' },
  recovering: { status: 503, title: 'The node has started and does not record yet' },
  'clock-off': { status: 503, title: 'The clock of the node is off' },
  'queue-full': { status: 503, title: 'Intake queue is full' },
  'payment-unavailable': { status: 503, title: 'Payments cannot be taken now' },
  'payment-outcome-unknown': { status: 503, title: 'It is not known yet whether the payment was settled' },

  'storage-full': { status: 507, title: 'Storage capacity exceeded' },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof KINDS;

/** What a decision is refused with because of what it links to. */
export const LINK_PROBLEMS = [
  'session-not-found',
  'session-already-ended',
  'incident-not-found',
  'attestation-not-found',
  'agent-not-found',
  'agent-inactive',
  'agent-key-unavailable',
  'agent-signature-invalid',
] as const satisfies readonly ProblemCode[];

export const PROBLEM_KINDS: Readonly<Record<ProblemCode, ProblemKind>> = KINDS;

export function isProblemCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEM_KINDS, text);
}
