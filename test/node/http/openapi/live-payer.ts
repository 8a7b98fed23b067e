import type { PrivateKeyAccount } from 'viem';
import { encodeHeader, PAYMENT_SIGNATURE_HEADER } from '../../../../protocol/payments/header.ts';
import { wireAuthorization } from '../../../../protocol/payments/payment.ts';
import { MAX_TIMEOUT_SECONDS, X402_VERSION } from '../../../../protocol/payments/terms.ts';
import { atomicUsdc, USDC } from '../../../../protocol/payments/usdc.ts';
import type { Operation } from '../../../fixtures/api-document.ts';
import { signAuthorization } from '../../../fixtures/chain-payer.ts';
import type { LiveRequest } from './live-world.ts';
import type { Trial } from './trials.ts';

type Headers = Readonly<Record<string, string>>;

export interface PayerOptions {
  readonly wallet: PrivateKeyAccount;
  readonly payTo: string;
  /** Public address of the node. */
  readonly baseUrl: string;
}

/** What a payment says otherwise than it should. */
interface Slip {
  readonly path?: string;
  readonly usd?: string;
  /** End of its life, in epoch seconds. */
  readonly validBefore?: number;
}

/** Pays for calls by what the API document alone says of their price. Each call is a payment of its own. */
export class LivePayer {
  readonly #options: PayerOptions;

  constructor(options: PayerOptions) {
    this.#options = options;
  }

  /** The header that pays for a call; none where the operation is not sold. */
  async headers({ usd }: Operation, path: string, slip: Slip = {}): Promise<Headers> {
    if (usd === null) return {};
    const { wallet, payTo, baseUrl } = this.#options;
    const amount = atomicUsdc(slip.usd ?? usd);
    const { validBefore } = slip;
    const { authorization, signature } = await signAuthorization(wallet, {
      to: payTo,
      value: BigInt(amount),
      ...(validBefore === undefined ? {} : { validBefore }),
    });
    const payment = encodeHeader({
      x402Version: X402_VERSION,
      resource: { url: baseUrl + new URL(slip.path ?? path, baseUrl).pathname },
      accepted: {
        scheme: 'exact',
        network: USDC.network,
        amount,
        asset: USDC.asset,
        payTo,
        maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
        extra: { name: USDC.name, version: USDC.version },
      },
      payload: { signature, authorization: { ...wireAuthorization(authorization) } },
    });
    return { [PAYMENT_SIGNATURE_HEADER]: payment };
  }

  /** Calls of an operation that is sold, without a payment that holds. */
  async trials(operation: Operation, { path, body }: LiveRequest): Promise<readonly Trial[]> {
    if (operation.usd === null) return [];
    const signed = (header: string): Headers => ({ [PAYMENT_SIGNATURE_HEADER]: header });
    const tried: [what: string, headers: Headers][] = [
      ['an empty payment', signed('')],
      ['a payment that is no base64', signed('{}')],
      ['a payment that is no payment', signed(encodeHeader({ x402Version: 1 }))],
      ['an expired payment', await this.headers(operation, path, { validBefore: 1_000_000_000 })],
      ['too small a payment', await this.headers(operation, path, { usd: '0.000001' })],
      ['too large a payment', await this.headers(operation, path, { usd: '1' })],
      ['a payment for another resource', await this.headers(operation, path, { path: '/v1/health' })],
    ];
    return tried.map(([what, headers]) => ({ what, path, body, ask: { headers } }));
  }
}
