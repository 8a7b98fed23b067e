import { randomInt } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { ACCOUNT_ID_PATTERN } from '../../protocol/accounts/account-id.ts';
import { type Tier, TIERS } from '../../protocol/accounts/tier.ts';
import { MAX_ACCOUNT_NODES } from '../../protocol/accounts/statement.ts';
import { Compile } from '../../protocol/shape-check.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Closed, NodeIdShape, TimestampShape } from '../../protocol/shapes.ts';
import { jsonTable } from '../store/table.ts';

export { type Tier, TIERS };

const MAX_ACCOUNT_NAME = 200;
const MAX_EMAIL_CHARACTERS = 254;

export const AccountShape = Closed({
  id: Type.String({ pattern: ACCOUNT_ID_PATTERN }),
  tier: Type.Enum([...TIERS]),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_ACCOUNT_NAME })),
  /** As its owner gave it. */
  email: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_EMAIL_CHARACTERS })),
  /** Absent in rows of stores that did not keep it. */
  createdAt: Type.Optional(TimestampShape),
  /** Its payloads are compressed before they are encrypted; absent: they are not. */
  compressPayloads: Type.Optional(Type.Boolean()),
  /** The nodes that its keys work at, its home among them, in order of their ids; absent: the home alone. */
  nodes: Type.Optional(Type.Array(NodeIdShape, { minItems: 2, maxItems: MAX_ACCOUNT_NODES, uniqueItems: true })),
});
export type Account = Readonly<Static<typeof AccountShape>>;

const compiled = Compile(AccountShape);
const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** 82 bits: no two accounts meet. */
const ID_CHARACTERS = 16;

/** (account id) → account. */
export const accountTable = jsonTable('account', AccountShape);

export function isAccount(value: unknown): value is Account {
  return compiled.Check(value);
}

/** A fresh id of an account whose home is this node: `acc_eu_` and 16 letters and digits. */
export function newAccountId(home: NodeId): string {
  const characters = Array.from({ length: ID_CHARACTERS }, () => ID_ALPHABET.charAt(randomInt(ID_ALPHABET.length)));
  return `acc_${home}_${characters.join('')}`;
}
