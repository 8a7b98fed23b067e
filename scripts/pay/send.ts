import { setTimeout as sleep } from 'node:timers/promises';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import type { PrivateKeyAccount } from 'viem';
import { doubledPause } from '../../node/concurrency/backoff.ts';
import { httpRequest } from '../../node/outbound/http-client.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { encodeHeader, PAYMENT_SIGNATURE_HEADER } from '../../protocol/payments/header.ts';
import { USDC, usdOf } from '../../protocol/payments/usdc.ts';
import { PayError } from './pay-error.ts';
import type { Terms } from './terms.ts';

/** One call, with or without a payment. */
export interface PaidCall {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly body: string | null;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  /** Before the second try of a payment; longer each time. In milliseconds. */
  readonly firstPauseMs: number;
  /** Told of every answer that was lost. */
  readonly onLost: (why: string) => void;
}

/** An answer, read to its end. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** Tries of one payment. */
const TRIES = 6;
/** Longest pause between two of them. In milliseconds. */
const MAX_PAUSE_MS = 10_000;
/** Longer than work and settlement may take together. In milliseconds. */
const ANSWER_MS = 180_000;
const MAX_ANSWER_BYTES = 64 << 20;
/** What a node says when it may answer the same call later, with nothing charged or with the one charge. */
const LATER: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** Sends a call once. Throws `HttpError`. */
export async function send(call: PaidCall, payment: string | null): Promise<Reply> {
  const request = {
    headers: {
      ...(call.body === null ? {} : { 'content-type': 'application/json' }),
      ...(payment === null ? {} : { [PAYMENT_SIGNATURE_HEADER]: payment }),
    },
    timeoutMs: ANSWER_MS,
    maxBytes: MAX_ANSWER_BYTES,
    signal: call.signal,
    fetch: call.fetch,
  };
  // A payment goes where its demand came from, which may be behind the same redirects.
  const { status, headers, bytes } = await (call.method === 'GET'
    ? httpRequest(call.url, { ...request, redirects: 'follow' })
    : httpRequest(call.url, { ...request, method: 'POST', body: call.body ?? '' }));
  return { status, headers, text: Buffer.from(bytes).toString() };
}

/**
 * Signs one payment and sends the call with it until there is an answer. Whatever is lost, it is the same payment that
 * is sent again: a node answers it again and charges it once. Throws `PayError`.
 */
export async function pay(call: PaidCall, terms: Terms, wallet: PrivateKeyAccount): Promise<Reply> {
  const payment = await signedPayment(terms, wallet);
  let lost = '';
  for (let attempt = 0; attempt < TRIES; attempt++) {
    if (attempt > 0) await pause(attempt, call);
    try {
      const reply = await send(call, payment);
      if (!LATER.has(reply.status)) return reply;
      lost = `${reply.status} ${codeOf(reply.text)}`;
    } catch (error) {
      lost = error instanceof Error ? error.message : String(error);
    }
    if (call.signal.aborted) break;
    call.onLost(lost);
  }
  throw new PayError(
    `no answer (${lost}). It is not known whether $${usdOf(terms.amount)} were charged: once, or not at all`,
  );
}

/** What `PAYMENT-SIGNATURE` holds: the terms as they were named, and what the wallet signed for them. */
async function signedPayment({ demand, requirements }: Terms, wallet: PrivateKeyAccount): Promise<string> {
  const accepted = { ...requirements, network: USDC.network };
  const { x402Version, payload } = await new ExactEvmScheme(wallet).createPaymentPayload(demand.x402Version, accepted);
  const { resource, extensions = {} } = demand;
  const payment: JsonValue = JSON.parse(JSON.stringify({ x402Version, resource, accepted, payload, extensions }));
  return encodeHeader(payment);
}

async function pause(attempt: number, { signal, firstPauseMs }: PaidCall): Promise<void> {
  const milliseconds = doubledPause(attempt - 1, { firstMs: firstPauseMs, mostMs: MAX_PAUSE_MS });
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}

/** An answer's JSON; empty where it has none. */
export function bodyOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function codeOf(text: string): string {
  const { code } = bodyOf(text);
  return typeof code === 'string' ? code : '';
}
