import Type from 'typebox';
import { AccountError, type Accounts, TIERS } from '../accounts/accounts.ts';
import { readJsonBody } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import type { FreeRoute } from '../http/route.ts';
import { validator } from '../http/validation.ts';

const MAX_BYTES = 64 << 10;

const validateGrant = validator(
  Type.Object(
    { id: Type.String(), tier: Type.Enum([...TIERS]), apiKey: Type.String() },
    { additionalProperties: false },
  ),
);

/** What an operator may ask of a running node. Reached through the socket in the node's home alone. */
export function operatorRoutes(accounts: Accounts): readonly FreeRoute[] {
  return [
    {
      method: 'POST',
      path: '/accounts',
      access: 'free',
      async answer({ context }) {
        const { id, tier, apiKey } = validateGrant((await readJsonBody(context.req, { maxBytes: MAX_BYTES })).value);
        try {
          await accounts.grant({ id, tier }, apiKey);
        } catch (error) {
          if (error instanceof AccountError) throw new Problem('invalid-field', error.message);
          throw error;
        }
        return { body: { success: true, account: id, tier } };
      },
    },
  ];
}
