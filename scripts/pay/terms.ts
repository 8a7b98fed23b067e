import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeHeader, PAYMENT_REQUIRED_HEADER } from '../../protocol/payments/header.ts';
import { isSameAddress } from '../../protocol/payments/terms.ts';
import { ATOMIC_AMOUNT_PATTERN, atomicAmount, type AtomicAmount, USDC, usdOf } from '../../protocol/payments/usdc.ts';
import { Closed } from '../../protocol/shapes.ts';
import { PayError } from './pay-error.ts';

const RequirementsShape = Type.Object({
  scheme: Type.String(),
  network: Type.String(),
  amount: Type.String({ pattern: ATOMIC_AMOUNT_PATTERN }),
  asset: Type.String(),
  payTo: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
  maxTimeoutSeconds: Type.Integer({ minimum: 1, maximum: 86_400 }),
  // Closed: other members may ask for another kind of signature than that of one transfer.
  extra: Closed({ name: Type.String(), version: Type.String() }),
});
const DemandShape = Type.Object({
  x402Version: Type.Literal(2),
  resource: Type.Object({ url: Type.String(), description: Type.Optional(Type.String()) }),
  accepts: Type.Array(Type.Unknown()),
  extensions: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
const demandCheck = Compile(DemandShape);
const requirementsCheck = Compile(RequirementsShape);

export type Demand = Static<typeof DemandShape>;
export type Requirements = Static<typeof RequirementsShape>;

/** What may be paid. */
export interface Limits {
  readonly max: AtomicAmount;
  /** Null: to anyone. */
  readonly payTo: string | null;
}

export interface Terms {
  readonly demand: Demand;
  /** The one way to pay that is ours, as the node wrote it. */
  readonly requirements: Requirements;
  readonly amount: AtomicAmount;
}

/** The terms of a 402 answer that may be met. Throws `PayError`: then nothing is signed. */
export function termsOf(headers: Headers, limits: Limits): Terms {
  const demand = demandOf(headers.get(PAYMENT_REQUIRED_HEADER) ?? '');
  const known = demand.accepts.filter((one) => requirementsCheck.Check(one));
  const requirements = known.find(isOurs);
  if (requirements === undefined) {
    const asked = known.map(({ scheme, network, asset }) => `${scheme} on ${network}, asset ${asset}`).join('; ');
    throw new PayError(`the node asks for ${asked || 'something else'}, not for USDC on ${USDC.network}: not paid`);
  }
  const amount = atomicAmount(requirements.amount);
  if (limits.payTo !== null && !isSameAddress(requirements.payTo, limits.payTo)) {
    throw new PayError(`the node names ${requirements.payTo}, which is not the payee of this cluster: not paid`);
  }
  if (BigInt(amount) > BigInt(limits.max)) {
    throw new PayError(`it costs $${usdOf(amount)}, more than --max-usd ${usdOf(limits.max)}: not paid`);
  }
  return { demand, requirements, amount };
}

/** What is signed is a transfer of the asset under its EIP-712 domain: all of it must be that of USDC. */
function isOurs({ scheme, network, asset, extra }: Requirements): boolean {
  const isUsdc = isSameAddress(asset, USDC.asset) && extra.name === USDC.name && extra.version === USDC.version;
  return scheme === 'exact' && network === USDC.network && isUsdc;
}

function demandOf(header: string): Demand {
  let value;
  try {
    value = decodeHeader(header);
  } catch {
    throw new PayError(`the 402 answer has no readable ${PAYMENT_REQUIRED_HEADER}: not paid`);
  }
  if (demandCheck.Check(value)) return value;
  throw new PayError('the 402 answer is not of x402 version 2: not paid');
}
