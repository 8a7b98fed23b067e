import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { type Abi, createNonceManager, createWalletClient, type Hex, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { jsonRpc } from 'viem/nonce';
import { USDC } from '../../protocol/payments/usdc.ts';
import { chainClient } from './chain-client.ts';
import { receiptOf } from './receipt.ts';

/**
 * What goes wrong with a settlement: it is refused or breaks before anything is sent, or it is carried out and nobody
 * is told; the service says nothing, an error, or something that is no answer.
 */
export type FacilitatorFault =
  | 'refuse'
  | 'error'
  | 'error-after'
  | 'unavailable-after'
  | 'hang'
  | 'hang-after'
  | 'nonsense-after'
  | 'close-after';

export interface FacilitatorServerOptions {
  readonly rpcUrl: string;
  /** Of an account with ether. */
  readonly key: Hex;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Bearer token that callers must show. */
  readonly token?: string;
}

const LOOPBACK = '127.0.0.1';
const POLL_MS = 20;
const MAX_BODY_BYTES = 64 << 10;

const RequestShape = Type.Object({
  paymentPayload: Type.Unsafe<PaymentPayload>(Type.Object({ x402Version: Type.Literal(2) })),
  paymentRequirements: Type.Unsafe<PaymentRequirements>(Type.Object({ network: Type.String() })),
});
const compiled = Compile(RequestShape);

/** A facilitator service for development: the stock one of x402, with stock parts throughout, and faults on demand. */
export class FacilitatorServer implements AsyncDisposable {
  /** Strikes every settlement until it is null again. */
  fault: FacilitatorFault | null = null;
  readonly #facilitator: x402Facilitator;
  readonly #token: string | undefined;
  readonly #server: Server;

  private constructor({ rpcUrl, key, token }: FacilitatorServerOptions) {
    this.#facilitator = stockFacilitator(rpcUrl, key);
    this.#token = token;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => send(response, 500, { error: 'internal error' }));
    });
  }

  static async start(options: FacilitatorServerOptions): Promise<FacilitatorServer> {
    const server = new FacilitatorServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', reject);
      server.#server.listen(options.port, LOOPBACK, resolve);
    });
    return server;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://${LOOPBACK}:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#token !== undefined && request.headers.authorization !== `Bearer ${this.#token}`) {
      return send(response, 401, { error: 'unauthorized' });
    }
    const route = `${request.method} ${request.url}`;
    if (route === 'GET /supported') return send(response, 200, this.#facilitator.getSupported());
    const body = await bodyOf(request);
    if (!compiled.Check(body)) return send(response, 400, { error: 'not a payment' });
    const { paymentPayload, paymentRequirements } = body;
    if (route === 'POST /verify') {
      return send(response, 200, await this.#facilitator.verify(paymentPayload, paymentRequirements));
    }
    if (route === 'POST /settle') return this.#settle(paymentPayload, paymentRequirements, response);
    send(response, 404, { error: 'not found' });
  }

  async #settle(payment: PaymentPayload, terms: PaymentRequirements, response: ServerResponse): Promise<void> {
    const { fault } = this;
    if (fault === 'hang') return;
    if (fault === 'error') return send(response, 500, { error: 'struck' });
    if (fault === 'refuse') {
      const errorReason = 'invalid_exact_evm_signature';
      return send(response, 200, { success: false, errorReason, transaction: '', network: terms.network });
    }
    const settled = await this.#facilitator.settle(payment, terms);
    if (fault === 'hang-after') return;
    if (fault === 'close-after') return void response.destroy();
    if (fault === 'error-after') return send(response, 500, { error: 'struck' });
    if (fault === 'unavailable-after') return send(response, 503, { error: 'upstream reset' });
    send(response, 200, fault === 'nonsense-after' ? { ok: true } : settled);
  }
}

/** The stock facilitator over a chain, settling from the account of the key. */
export function stockFacilitator(rpcUrl: string, key: Hex): x402Facilitator {
  const account = privateKeyToAccount(key, { nonceManager: createNonceManager({ source: jsonRpc() }) });
  const { chain } = chainClient(rpcUrl);
  const client = createWalletClient({ account, chain, transport: http(rpcUrl), pollingInterval: POLL_MS }).extend(
    publicActions,
  );
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: ({ abi, ...call }) => client.readContract({ ...call, abi: abiOf(abi) }),
    writeContract: ({ abi, address, functionName, args }) =>
      client.writeContract({ abi: abiOf(abi), address, functionName, args, chain, account }),
    getCode: ({ address }) => client.getCode({ address }),
    waitForTransactionReceipt: ({ hash, timeout }) => receiptOf(client, hash, timeout),
    verifyTypedData: () => Promise.reject(new Error('the scheme checks signatures by itself')),
    sendTransaction: () => Promise.reject(new Error('no account is deployed for anyone')),
  });
  return new x402Facilitator().register(USDC.network, new ExactEvmScheme(signer));
}

/** The scheme hands its own constant ABIs through an untyped door. */
function abiOf(abi: readonly unknown[]): Abi {
  return abi as Abi;
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('too much');
    parts.push(part);
  }
  return parts.length === 0 ? undefined : JSON.parse(Buffer.concat(parts).toString());
}

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
