/** An amount of the stablecoin in its smallest unit, as decimal digits without leading zeros. */
export type AtomicAmount = string & { readonly __brand: 'AtomicAmount' };
/** A CAIP-2 chain id of the Ethereum kind. */
export type ChainNetwork = `eip155:${number}`;

export const ATOMIC_AMOUNT_PATTERN = '^(0|[1-9][0-9]{0,77})$';

const ATOMIC = new RegExp(ATOMIC_AMOUNT_PATTERN);
const USD = /^(0|[1-9]\d*)(?:\.(\d{1,6}))?$/;

/** The one asset that is taken: Circle's USDC on Base (api-rules §5), by its EIP-712 domain. */
export const USDC = {
  network: 'eip155:8453',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  name: 'USD Coin',
  version: '2',
  decimals: 6,
} as const satisfies { readonly network: ChainNetwork } & Record<string, unknown>;

export class AmountError extends Error {
  override readonly name = 'AmountError';
}

function isAtomicAmount(text: string): text is AtomicAmount {
  return ATOMIC.test(text);
}

/** Throws `AmountError` unless the text is an amount in the smallest unit. */
export function atomicAmount(text: string): AtomicAmount {
  if (!isAtomicAmount(text)) throw new AmountError('not an amount in the smallest unit');
  return text;
}

/** `0.005` dollars → `5000`. Throws `AmountError` on anything but plain dollars with at most six decimals. */
export function atomicUsdc(usd: string): AtomicAmount {
  const [, whole = '', fraction = ''] = USD.exec(usd) ?? [];
  if (whole === '') throw new AmountError('not an amount in dollars');
  return atomicAmount(String(BigInt(whole + fraction.padEnd(USDC.decimals, '0'))));
}

/** `5000` → `0.005`: dollars without trailing zeros. */
export function usdOf(amount: AtomicAmount): string {
  const digits = amount.padStart(USDC.decimals + 1, '0');
  const whole = digits.slice(0, -USDC.decimals);
  const fraction = digits.slice(-USDC.decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** The sum of two amounts. */
export function addAmounts(one: AtomicAmount, other: AtomicAmount): AtomicAmount {
  return atomicAmount(String(BigInt(one) + BigInt(other)));
}
