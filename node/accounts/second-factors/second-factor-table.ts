import Type, { type Static } from 'typebox';
import {
  isSecondFactorId,
  MAX_SECOND_FACTORS,
  RECOVERY_CODES,
  SecondFactorHolderShape,
  type SecondFactorId,
  SecondFactorIdShape,
  SecondFactorNameShape,
  type SecondFactorsAnswer,
} from '../../../protocol/api/second-factors.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { Base64urlShape, Closed, CountShape, OrNull, TimestampShape } from '../../../protocol/shapes.ts';
import { freshId } from '../../records/record-id.ts';
import { jsonTable } from '../../store/table.ts';

const FACTOR = {
  id: SecondFactorIdShape,
  name: SecondFactorNameShape,
  createdAt: TimestampShape,
  lastUsedAt: OrNull(TimestampShape),
};

/** Of an authenticator app. Its secret is derived and stands nowhere. */
const TotpShape = Closed({
  kind: Type.Literal('totp'),
  ...FACTOR,
  /** The step of the last code that was taken (RFC 6238 §5.2): none is taken twice. */
  lastStep: CountShape,
});
export type Totp = Readonly<Static<typeof TotpShape>>;

const PasskeyShape = Closed({
  kind: Type.Literal('passkey'),
  ...FACTOR,
  credentialId: Base64urlShape,
  /** COSE. */
  publicKey: Type.String({ pattern: '^[A-Za-z0-9_-]+$' }),
  /** What the authenticator counted when it was last used; 0 where it counts nothing. */
  counter: CountShape,
});
export type Passkey = Readonly<Static<typeof PasskeyShape>>;

const SecondFactorsShape = Closed({
  account: Type.String(),
  holder: SecondFactorHolderShape,
  factors: Type.Array(Type.Union([TotpShape, PasskeyShape]), { minItems: 1, maxItems: MAX_SECOND_FACTORS }),
  /** SHA-256 of each code that was not used, hex. */
  recoveryCodes: Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), { maxItems: RECOVERY_CODES }),
  recoveryCodesAt: TimestampShape,
});
/** What somebody shows beside a mailed link. There is no row of those who show nothing. */
export type SecondFactors = Readonly<Static<typeof SecondFactorsShape>>;
export type SecondFactor = Passkey | Totp;

/** (account, person or `owner`) → their second factors. */
export const secondFactorTable = jsonTable('second-factor', SecondFactorsShape);

export function newSecondFactorId(node: NodeId, epochMilliseconds: number): SecondFactorId {
  return freshId('sfa', node, epochMilliseconds, isSecondFactorId);
}

export function secondFactorsAnswer({ holder, factors, recoveryCodes }: SecondFactors): SecondFactorsAnswer {
  return {
    holder,
    factors: factors.map(({ id, kind, name, createdAt, lastUsedAt }) => {
      return { secondFactorId: id, kind, name, createdAt, lastUsedAt };
    }),
    recoveryCodesLeft: recoveryCodes.length,
  };
}
