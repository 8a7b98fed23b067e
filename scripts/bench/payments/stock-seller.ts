import type { AddressInfo } from 'node:net';
import { type HTTPRequestContext, x402HTTPResourceServer } from '@x402/core/http';
import { type FacilitatorClient, x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import Koa, { type Context } from 'koa';
import { stockFacilitator } from '../../../cluster/chain/facilitator-server.ts';
import { X402_VERSION } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { PLAIN_PATH, type SellerSetup, sellerTerms } from './seller-forms.ts';
import { serveSeller } from './seller-process.ts';

serveSeller(openShop);

/**
 * What the stock middlewares do, with the stock library alone: match the route, verify, work, settle, answer. There is
 * none for Koa; this is what the one for Express does. The facilitator is the stock one, in the same process.
 */
async function openShop({ rpcUrl, payTo, key }: SellerSetup): Promise<number> {
  const facilitator = stockFacilitator(rpcUrl, `0x${key.slice(2)}`);
  const { amount, asset, extra, maxTimeoutSeconds } = sellerTerms(payTo);
  const server = new x402ResourceServer(inProcess(facilitator)).register(USDC.network, new ExactEvmScheme());
  const shop = new x402HTTPResourceServer(server, {
    [`POST ${PLAIN_PATH}`]: {
      accepts: { scheme: 'exact', network: USDC.network, payTo, price: { amount, asset, extra }, maxTimeoutSeconds },
      mimeType: 'application/json',
    },
  });
  await shop.initialize();
  const app = new Koa();
  app.use((context) => answer(shop, context));
  const listening = app.listen(0, '127.0.0.1');
  await new Promise<void>((resolve) => listening.once('listening', resolve));
  const address: AddressInfo | string | null = listening.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function answer(shop: x402HTTPResourceServer, context: Context): Promise<void> {
  const request = requestOf(context);
  const verified = await shop.processHTTPRequest(request);
  if (verified.type === 'payment-error') {
    const { status, headers, body } = verified.response;
    context.status = status;
    context.set(headers);
    context.body = body;
    return;
  }
  const body = { success: true };
  if (verified.type === 'payment-verified') {
    const { paymentPayload, paymentRequirements, declaredExtensions } = verified;
    const settled = await shop.processSettlement(paymentPayload, paymentRequirements, declaredExtensions, { request });
    context.set(settled.headers);
    if (!settled.success) {
      context.status = 402;
      context.body = {};
      return;
    }
  }
  context.body = body;
}

function requestOf(context: Context): HTTPRequestContext {
  const { path, method } = context;
  const adapter = {
    getHeader: (name: string) => context.get(name) || undefined,
    getMethod: () => method,
    getPath: () => path,
    getUrl: () => context.href,
    getAcceptHeader: () => context.get('accept'),
    getUserAgent: () => context.get('user-agent'),
  };
  return { adapter, path, method, paymentHeader: context.get('payment-signature') };
}

function inProcess(facilitator: ReturnType<typeof stockFacilitator>): FacilitatorClient {
  return {
    verify: (payment, terms) => facilitator.verify(payment, terms),
    settle: (payment, terms) => facilitator.settle(payment, terms),
    getSupported: async () => {
      const { extensions, signers } = facilitator.getSupported();
      return { kinds: [{ x402Version: X402_VERSION, scheme: 'exact', network: USDC.network }], extensions, signers };
    },
  };
}
