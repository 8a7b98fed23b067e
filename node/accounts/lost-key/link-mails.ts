import { SIGN_IN_HOURS } from '../../../protocol/api/sign-ins.ts';
import type { Mail } from '../mail/mailer.ts';
import { LINK_MS } from './lost-key-table.ts';

const LINK_MINUTES = LINK_MS / 60_000;

/** The mail with the link by which the lost keys of an account are replaced. */
export function lostKeyMail(to: string, account: string, token: string, nodeUrl: string): Mail {
  const link = `${nodeUrl}/v1/lost-key/${token}`;
  return {
    to,
    subject: 'Replace the lost keys of your Meridian account',
    text: `Someone, you it seems, asked to replace the lost API keys of the account
${account} at
${nodeUrl}

This link lists the keys of the account. To open it changes nothing:

${link}

In a browser the same is at

${nodeUrl}/lost-key/${token}

This makes a new key that may do everything and shows it once; "revoke" holds
the ids of the keys that end at the same moment, and may be empty:

curl -s ${link} \\
  -H 'content-type: application/json' \\
  -d '{"revoke": []}'

The link works once and for ${LINK_MINUTES} minutes. A newer one ends it.

If it was not you, there is nothing to do: no key was made, and none was
changed.
`,
  };
}

/** The mail with the link by which the reader of the account's mail signs in at the console. */
export function signInMail(to: string, account: string, token: string, nodeUrl: string): Mail {
  return {
    to,
    subject: 'Sign in at the console of your Meridian account',
    text: `Someone, you it seems, asked to sign in at the console of the account
${account} at
${nodeUrl}

This page has a button that signs you in. To open it changes nothing:

${nodeUrl}/console/enter/${token}

It works once and for ${LINK_MINUTES} minutes. A newer link ends it. You stay
signed in for ${SIGN_IN_HOURS} hours at most, by a key that ends then too.

If it was not you, there is nothing to do: nobody was signed in.
`,
  };
}
