import type { Mail } from '../mail/mailer.ts';

/** The mail that brings a new key: the only place where its text ever stands. */
export function keyMail(to: string, account: string, apiKey: string, nodeUrl: string): Mail {
  return {
    to,
    subject: 'Your Meridian API key',
    text: `Someone, you it seems, signed up to Meridian with this address at
${nodeUrl}

Account: ${account} (tier: developer)
API key:

${apiKey}

Keep it safe: it is shown in this mail alone, and the node keeps only its
hash. A key that this address was sent before and that was never used has
ended.

Record a first decision:

curl -s ${nodeUrl}/v1/tiered-attest \\
  -H 'x-api-key: ${apiKey}' \\
  -H 'content-type: application/json' \\
  -d '{"sourceId": "my-model", "data": {"output": {"decision": "ok"}}}'

This key may do everything, making other keys included. Give your programs
keys that may do less (POST /v1/keys), and replace this one when in doubt
(POST /v1/keys/{id}/rotate; GET /v1/keys tells its id). The whole API:
${nodeUrl}/openapi.json

If it was not you, there is nothing to do: an account that nobody uses does
nothing.
`,
  };
}

/** The mail to an address whose account is in use: no key is made. */
export function accountExistsMail(to: string, account: string, nodeUrl: string): Mail {
  return {
    to,
    subject: 'You already have a Meridian account',
    text: `Someone, you it seems, signed up to Meridian with this address at
${nodeUrl}

It has an account there that is in use: ${account}. So no key was made, and
none was changed.

With a key of the account that may administer keys you can make another one
(POST /v1/keys) or replace one (POST /v1/keys/{id}/rotate; GET /v1/keys tells
the ids). If you have lost them all, ask for a link that replaces them:

POST ${nodeUrl}/v1/lost-key with the body
{"email": "${to}"}

If it was not you, there is nothing to do.
`,
  };
}
