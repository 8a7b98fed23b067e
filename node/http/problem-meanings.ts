import type { ProblemCode } from './problem-codes.ts';

/** What happened, and what a caller does about it: the text of the page `/problems/:code`. */
export const PROBLEM_MEANINGS: Readonly<Record<ProblemCode, string>> = {
  'missing-field':
    'A required member of the body, or a required query parameter, is not there. `errors` names each one.',
  'invalid-field':
    'A member or parameter has the wrong type, form, length or value. `errors` names each one and says what is wrong.',
  'invalid-json':
    'The body is not one JSON object in UTF-8: a syntax error, a doubled member name, nesting over 32, more than 65,536 members and items, an integer that no double holds exactly (send it as a string), a byte order mark, or another type at the top.',
  'model-binding-invalid':
    '`model_ref` is not of the documented form. A binding is never dropped silently: correct it, or leave it out.',
  'source-mismatch': 'The record that you link to belongs to another source than the one you name.',
  'time-order': 'One time lies before another that it must follow.',
  'time-in-future': 'A time lies more than five minutes after the clock of the node.',
  'same-person': 'This step needs a second person: another name, by another API key, than made the first.',
  'agent-signature-invalid':
    'The signature that comes with the request does not hold under the key of the agent. `detail` says what must be signed.',
  'retention-below-minimum': 'A retention lock lasts at least 1825 days.',
  'bundle-malformed':
    'The text is no bundle: an unknown member, a wrong type or a bad encoding. A well-formed bundle that does not verify is answered with 200.',
  'payment-invalid': 'The payment header cannot be read. Take the terms from the 402 answer and build it anew.',
  'request-malformed': 'The bytes are no HTTP/1.1 request.',
  'request-aborted': 'The connection ended before the announced body did. Nothing was recorded.',
  'api-key-invalid':
    'No such API key is known on this node. Keys work at the home of their account and at the nodes that it names; `home` is the node that the key’s own text says it was made at.',
  'api-key-revoked': 'The API key was revoked, replaced, or has expired.',
  'payment-required': 'Pay for the call as the answer says, and send it again with the payment.',
  'payment-refused':
    'The payment does not hold: `reason` says why. Nothing was charged. Sign anew by the terms in the answer.',
  'payment-resource-mismatch': 'The payment was made out for another resource. It can still be used there.',
  'payment-settlement-failed':
    'The work was done and the payment could not be settled. Nothing was charged, and the result is withheld.',
  'scope-forbidden': 'The API key is not allowed to do this, not for this source, or not from this address.',
  'tier-forbidden': 'The tier of the account does not include this.',
  'sign-up-closed': 'The operator of this node gives out accounts another way.',
  'proof-window-expired':
    'Hosted proofs of the Developer tier are served for seven days. Public verification never expires, nor does a bundle that was downloaded.',
  'route-not-found': 'There is nothing under this path. `/openapi.json` lists what there is.',
  'attestation-not-found': 'No node at hand knows an attestation of this id.',
  'session-not-found': 'The account has no session of this id on this node.',
  'incident-not-found': 'The account has no incident of this id on this node.',
  'corrective-action-not-found': 'The account has no corrective action of this id on this node.',
  'lock-not-found': 'The account has no retention lock of this id on this node.',
  'key-not-found': 'The account has no API key of this id on this node.',
  'account-not-found': 'This node has no account of this id.',
  'link-invalid':
    'A link for lost keys was used, is older than 15 minutes, was replaced by a newer one, or never was one: ask for another with `POST /v1/lost-key`. A link to a record has ended, was revoked, or never was one: ask whoever sent it. The address of a calendar was ended, or replaced by a newer one: ask for another with `POST /v1/calendar`.',
  'share-not-found':
    'The account has no link to a record of this id on this node that the key may see. `GET /v1/shares` lists them.',
  'agent-not-found': 'The account has no agent of this id on this node.',
  'webhook-not-found': 'The account has no webhook of this id on this node. `GET /v1/webhooks` lists them.',
  'delivery-not-found': 'Nothing of this id was delivered to the webhook, or it was more than seven days ago.',
  'too-many-webhooks': 'The account has as many webhooks as it may. Delete one that is not needed any more.',
  'policy-not-found': 'The account has no policy of this id. `GET /v1/oversight-policies` lists them.',
  'too-many-policies': 'The account has as many policies as it may. Delete one that is not needed any more.',
  'no-mail-address':
    'The account was made without a mail address, or this node sends no mail. A webhook tells of the same events.',
  'person-exists': 'Somebody of the account has this mail address. Remove them first, to invite them anew.',
  'person-not-found': 'The account has nobody of this id. `GET /v1/people` lists them.',
  'second-factor-needed':
    'The account’s owner shows a second factor beside a mailed link. Send `code`: of the authenticator app, or a recovery code.',
  'second-factor-wrong':
    'The code, or the passkey, is not right, was used before, or is over. A link takes five tries; then ask for another.',
  'second-factor-not-found':
    'The account has nobody with a second factor of this id. `GET /v1/second-factors` lists those it has.',
  'too-many-second-factors': 'A person has at most five second factors. Remove one first.',
  'too-many-people': 'The account has as many people as it may. Remove somebody first.',
  'sign-in-not-found': 'Nobody of the account is signed in under this id on this node: it is over, or was ended.',
  'pack-not-found':
    'The account has no pack of this id on this node, or its file was deleted: ask the same question again.',
  'source-not-found': 'The account has recorded nothing under this source on this node.',
  'member-not-found': 'No roster of the federation names this node. `GET /v1/federation` lists its members.',
  'template-not-found':
    'There is no template of this name: `fria`, `technical-documentation`, `incident-report`, `model-validation`, `bias-audit-summary`.',
  'system-not-found':
    'The register of this node has no system of this name that the key reaches. `GET /v1/systems` lists them.',
  'framework-not-found': 'The catalogue has no framework of this id. `GET /v1/frameworks` lists them.',
  'log-tile-not-found':
    'The log is not as large yet, or has fewer entries in this tile: `GET /v1/log/checkpoints` says how large it is.',
  'fact-not-found': 'There is no fact of this name. `GET /v1/x402/hedera-facts` lists them.',
  'method-not-allowed': 'The path exists, and not for this method. `Allow` lists those that do.',
  'request-timeout': 'The body did not arrive within its time limit. Nothing was recorded.',
  'duplicate-attestation':
    'The same account recorded the same request before; `existingAttestationId` names that record. Put a decision id or a time into `data` where two equal decisions are meant.',
  'idempotency-conflict':
    'The `Idempotency-Key` came with another request within the last 24 hours. Use a fresh key for a fresh request.',
  'session-already-ended': 'The session has ended; nothing is recorded in it any more.',
  'invalid-transition': 'The corrective action cannot go from its status to this one. `allowed` lists where it can go.',
  'hold-not-active': 'The lock has no legal hold, or it was released before.',
  'agent-inactive': 'The agent was deactivated: nothing is signed for it any more.',
  'key-exists': 'The text or the id of this API key is that of another one.',
  'key-ended': 'The API key was revoked, has expired or was replaced already. Take the key that replaced it.',
  'last-admin-key':
    'No other key could administer the account any more. Rotate this one, with `overlapSeconds` 0 where it must end now.',
  'too-many-keys':
    'The account has all the API keys in use that it may have: a hundred, or 128 with those that were replaced and those in the place of lost ones; those of sign-ins by mail are not counted. Revoke one first.',
  'pack-not-ready': 'The pack is still to be made, or its making failed: `GET /v1/evidence-packs/:id` says which.',
  'as-of-unavailable':
    'What was known then is not kept any more: the catalogue of frameworks, or what the first asking of the question fixed. Ask with a later `asOf`.',
  'too-many-shares': 'The account has two hundred links to records that work. Revoke one first.',
  'account-exists': 'There is an account of this id already, with other particulars.',
  'payload-elsewhere':
    'The payload of the record is at the node that made it and leaves it for nobody: ask `node`, at `baseUrl`. The bundle without it is given here.',
  'home-only':
    'Keys are made and rotated, and the nodes of an account are changed, at its home alone: the node that its id names, `acc_NODE_…`.',
  'agent-exists': 'An agent of this id is registered already, with other particulars or by another account.',
  'agent-keys-exhausted':
    'All keys that an agent ever had stay in its DID document, so their number is limited. Register another agent.',
  'agent-key-unavailable':
    'The node lost the private key that it held for the agent, with a lost store. Rotate the key, and send the request again.',
  'retention-locked':
    'A retention lock or legal hold covers the record, so its payload cannot be erased. `locks` names each one, `attestationId` the record of this refusal; it is null where the node could not record it.',
  'payload-erased':
    'The payload of the record was erased and cannot be disclosed. Its proof stands: ask for the bundle without `disclosure`.',
  'not-yet-anchored':
    'The record is not confirmed yet: its batch is not decided, or too few members vouch for it. Come back, or ask with `partial=1` for what there is.',
  'prompt-too-long':
    'The messages have more tokens than the model takes together with its answer. `promptTokens` and `contextTokens` say how many, where that is known. Nothing is charged.',
  'payment-bound-elsewhere':
    'The authorization was shown with another request before, and pays for that one alone. Sign a new one for this request.',
  'payment-identifier-conflict':
    'The payment identifier came with another request before. Use a fresh one for a fresh request.',
  'payment-answer-ended':
    'The payment was settled and answered. Answers are held for seven days for those who ask again; that time is over.',
  'payment-unavailable': 'Payments cannot be taken or settled at the moment. Nothing was charged; try again.',
  'payment-outcome-unknown':
    'The payment may have been settled, and the node does not know yet, or its records are still being made. Send the same request with the same `PAYMENT-SIGNATURE`: it is answered without a second charge. Do not sign a new one.',
  'payload-too-large': 'The body, `data`, or the members beside the documented ones have more bytes than the limit.',
  'unsupported-media-type': 'Send `Content-Type: application/json` in UTF-8, without a content encoding.',
  'rate-limited':
    'More than the tier of the account, or than an address or a wallet (`holder`), may ask in any 60 seconds or have under way. `Retry-After` says when the next one is taken.',
  'daily-cap-exceeded':
    'The account has recorded as much as its tier allows in one UTC day. `Retry-After` leads to midnight UTC.',
  'endpoint-limit-exceeded':
    'This endpoint takes fewer requests a minute than the tier does. For volume use `/v1/tiered-attest`.',
  'packs-busy':
    'Too many packs of the account or of the node are in the making, or their files take all the room that they may. Delete some, or come back later.',
  'range-not-satisfiable': 'The `Range` begins behind the end of the file.',
  'model-busy':
    'As many calls wait for the model as may. Nothing is charged: try again with the same payment after `Retry-After`.',
  'headers-too-large': 'The header of the request is larger than the node reads.',
  internal: 'A fault of the node. Nothing half-done is left behind; give `requestId` to the operator.',
  'dependency-unavailable':
    'Something that the node needs for this does not answer right now, or too many calls of this `class` are under way, by all or by you. Nothing was recorded; try again after `Retry-After`.',
  'list-unavailable':
    'A sanctions list that the answer needs is missing, too old, or being loaded; `lists` says which. Nothing is charged, and the payment stays good.',
  'model-unavailable':
    'The node has no model, or it cannot be reached, or gave no completion in time. Nothing is charged, and the same payment is still good.',
  'chain-closed':
    'The ledger decided a batch of this node that nobody can go on from. It serves what it has and records nothing any more: use another member.',
  recovering:
    'The node has started, and asks the ledger and the other members how far its chain goes before it signs anything; `waits` of `/v1/health` says what for. Nothing was recorded; try again after `Retry-After`, or at another member.',
  'clock-off':
    'The clock of the node differs from those of most members, or lies before its last batch. Nothing was recorded; try again, here or at another member.',
  'queue-full': 'More records wait to be signed than the node takes on. Try again in a moment.',
  'storage-full': 'The storage of the node is full. Reading goes on; nothing was recorded.',
  'api-key-missing': 'Send your API key in the `x-api-key` header.',
};
