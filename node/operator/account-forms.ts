import Type from 'typebox';
import { AccountNodesShape } from '../../protocol/api/account.ts';
import { KEY_TERMS_MEMBERS, KeyShape, RotateKeyRequestShape } from '../../protocol/api/keys.ts';
import { Closed } from '../../protocol/shapes.ts';
import { AccountShape, TIERS } from '../accounts/account.ts';
import { KeyIdShape } from '../accounts/key-id.ts';

/** What an operator asks about accounts, and what is answered. Both ends of the socket read these forms. */
const TierShape = Type.Enum([...TIERS]);
const success = Type.Literal(true);
/** A text and an id that the operator brings, so that several nodes know one key. */
const GIVEN = { apiKey: Type.Optional(Type.String()), id: Type.Optional(KeyIdShape) };

/** `POST /accounts`: an account of this tier has this key, which may do everything. */
export const GrantShape = Closed({ id: Type.String(), tier: TierShape, apiKey: Type.String() });
/** `POST /accounts/create`. */
export const CreateAccountShape = Closed({
  id: Type.Optional(AccountShape.properties.id),
  tier: TierShape,
  name: AccountShape.properties.name,
  email: AccountShape.properties.email,
  compressPayloads: AccountShape.properties.compressPayloads,
  nodes: Type.Optional(AccountNodesShape),
});
/** `POST /accounts/:account/tier`. */
export const SetTierShape = Closed({ tier: TierShape });
/** `POST /accounts/:account/compression`. */
export const SetCompressionShape = Closed({ compressPayloads: Type.Boolean() });
/** `POST /accounts/:account/nodes`. */
export const SetNodesShape = Closed({ nodes: AccountNodesShape });
/** `POST /accounts/:account/keys`. */
export const GiveKeyShape = Closed({ ...KEY_TERMS_MEMBERS, ...GIVEN });
/** `POST /accounts/:account/keys/:key/rotate`. */
export const RotateShape = Closed({ ...RotateKeyRequestShape.properties, ...GIVEN });

export const AccountAnswerShape = Closed({ success, account: AccountShape });
export const AccountsAnswerShape = Closed({
  success,
  accounts: Type.Array(AccountShape),
  /** Null on the last page. */
  next: Type.Union([Type.String(), Type.Null()]),
});
export const AccountKeysAnswerShape = Closed({ success, account: AccountShape, keys: Type.Array(KeyShape) });
