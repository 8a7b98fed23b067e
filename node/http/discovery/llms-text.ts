import type { JsonObject } from '../../../protocol/json/value.ts';
import {
  PAYMENT_REQUIRED_HEADER,
  PAYMENT_RESPONSE_HEADER,
  PAYMENT_SIGNATURE_HEADER,
} from '../../../protocol/payments/header.ts';
import { PAID_API_VERSION } from '../../../protocol/payments/prices.ts';
import { MAX_TIMEOUT_SECONDS, requirementsOf, X402_VERSION } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import type { Timestamp } from '../../../protocol/time.ts';
import { pathTemplate } from '../openapi/operation.ts';
import type { FreeRoute } from '../route.ts';
import type { Offer } from './offer.ts';

/** The text of `/llms.txt` (llmstxt.org): what the node is and does, for a reader that decides by reading. */
export function llmsText(catalogue: Catalogue, free: readonly FreeRoute[]): string {
  const { baseUrl } = catalogue;
  const parts = [
    '# Meridian',
    `> ${SUMMARY}`,
    WITNESS,
    `This node is ${baseUrl}. Every endpoint with its schemas: ${baseUrl}/openapi.json`,
    '## Free, without key or payment',
    free.map((route) => `- \`${route.method} ${pathTemplate(route.path)}\`: ${route.documentation.summary}`).join('\n'),
    ...paidParts(catalogue),
    '## With an API key',
    KEYED,
  ];
  return `${parts.join('\n\n')}\n`;
}

const SUMMARY = [
  'A federation of regional nodes that witness what AI systems decide: each record is signed with ML-DSA-65 (FIPS',
  '204), batched, and anchored on a public ledger.',
].join(' ');
const WITNESS = [
  'It records what a caller asserts and never judges whether it is right. Anyone can verify a record, free and for',
  'ever, with `GET /v1/verify/{id}`, or offline with its bundle. Nothing here is legal advice.',
].join(' ');
const KEYED = [
  'Records in bulk (`POST /v1/tiered-attest-batch`), governance records, lists, reports and agents take an API key in the',
  'header `x-api-key`; they are described in the OpenAPI document.',
].join(' ');
const STOCK_CLIENTS = 'Stock clients do all of this: `wrapFetchWithPayment` of the npm package `@x402/fetch`, for one.';
const NOTHING_SOLD = 'This node takes no payments: what costs something below `/v1/x402` answers 503 here.';

function paidParts(catalogue: Catalogue): readonly string[] {
  const { offers, payTo, baseUrl } = catalogue;
  if (payTo === null || offers.length === 0) {
    return ['## Paid by the call', NOTHING_SOLD];
  }
  return [
    `## Paid by the call (x402 version 2), version ${PAID_API_VERSION}`,
    `No account and no key: a wallet with USDC is enough. Terms as JSON: ${baseUrl}/.well-known/x402.json`,
    howToPay(payTo),
    ...offers.map((offer) => offerPart(offer, baseUrl)),
  ];
}

function howToPay(payTo: string): string {
  const steps = [
    [
      'Send the request without payment. The answer is 402; its header',
      `\`${PAYMENT_REQUIRED_HEADER}\` (base64 of JSON) and its body hold the terms in \`accepts\`.`,
    ],
    [
      'Sign an EIP-3009 `TransferWithAuthorization` for exactly `amount`:',
      `asset ${USDC.asset} (USDC, ${USDC.decimals} decimals), network ${USDC.network}, to ${payTo},`,
      `valid for ${MAX_TIMEOUT_SECONDS} seconds. No gas is needed.`,
    ],
    [
      `Send the same request again with the header \`${PAYMENT_SIGNATURE_HEADER}\`: base64 of`,
      '`{x402Version: 2, resource, accepted, payload: {signature, authorization}}`;',
      '`resource` and the one of `accepts` are copied from the 402.',
    ],
    [
      `The answer is 200, with the receipt in \`${PAYMENT_RESPONSE_HEADER}\` and in the member \`payment\`.`,
      'If it is lost, send the same request with the same signature: it is answered again and never charged twice.',
    ],
    [
      'What is refused or fails is not charged. After 503 `payment-outcome-unknown` repeat the same signature; never',
      'sign a new one.',
    ],
  ];
  const numbered = steps.map((words, i) => `${i + 1}. ${words.join(' ')}`);
  return [...numbered, '', STOCK_CLIENTS].join('\n');
}

function offerPart({ route, usd, description, examplePath, query, body }: Offer, baseUrl: string): string {
  const names = Object.keys(query.example);
  return [
    `### ${route.method} ${pathTemplate(route.path)} — $${usd}`,
    '',
    description,
    ...(names.length === 0 ? [] : ['', `Query: ${names.map((name) => `\`${name}\``).join(', ')}.`]),
    '',
    '```http',
    `${route.method} ${baseUrl}${examplePath}`,
    ...(body === null ? [] : ['Content-Type: application/json', '', JSON.stringify(body.example, null, 2)]),
    '```',
  ].join('\n');
}

/** What a node sells, and on which terms. */
export interface Catalogue {
  readonly offers: readonly Offer[];
  /** Address that is paid; null where this node takes no payments, so that nothing is sold. */
  readonly payTo: string | null;
  /** Public address of the node, without a slash at its end. */
  readonly baseUrl: string;
  /** Since when these are its terms. */
  readonly since: Timestamp;
}

/** The document of `/.well-known/x402.json`. */
export function manifest({ offers, payTo, baseUrl, since }: Catalogue): JsonObject {
  return {
    x402Version: X402_VERSION,
    version: PAID_API_VERSION,
    lastUpdated: since,
    takesPayments: payTo !== null,
    openapi: `${baseUrl}/openapi.json`,
    items: payTo === null ? [] : offers.map((offer) => itemOf(offer, payTo, baseUrl, since)),
  };
}

/** The document of `/.well-known/x402`: addresses that can be called to be told the price. */
export function resourceList({ offers, payTo, baseUrl }: Catalogue): JsonObject {
  return { version: 1, resources: payTo === null ? [] : offers.map(({ examplePath }) => baseUrl + examplePath) };
}

function itemOf(offer: Offer, payTo: string, baseUrl: string, since: Timestamp): JsonObject {
  const { route, usd, description, examplePath, answer } = offer;
  return {
    resource: baseUrl + examplePath,
    ...(route.path.includes(':') ? { routeTemplate: route.path } : {}),
    type: 'http',
    x402Version: X402_VERSION,
    method: route.method,
    service: route.service,
    description,
    mimeType: 'application/json',
    priceUsd: usd,
    accepts: [requirementsOf(route.service, { payTo })],
    lastUpdated: since,
    input: inputOf(offer),
    output: { type: 'json', ...answer },
  };
}

function inputOf({ route, path, query, body }: Offer): JsonObject {
  const hasPath = route.path.includes(':');
  return {
    type: 'http',
    method: route.method,
    ...(body === null ? { queryParams: query.example } : { bodyType: 'json', body: body.example }),
    ...(hasPath ? { pathParams: path.example } : {}),
    schema: {
      ...(body === null ? { queryParams: query.schema } : { body: body.schema }),
      ...(hasPath ? { pathParams: path.schema } : {}),
    },
  };
}
