import type { JsonObject } from '../../../protocol/json/value.ts';
import { PAYMENT_REQUIRED_HEADER, PAYMENT_RESPONSE_HEADER } from '../../../protocol/payments/header.ts';
import { SERVICES } from '../../../protocol/payments/prices.ts';
import { demandAnswer } from '../payment-answers.ts';
import type { ProblemCode } from '../problem-codes.ts';
import { PROBLEM_MEANINGS } from '../problem-meanings.ts';
import { Problem } from '../problem.ts';
import type { PaidRoute } from '../route.ts';

/** The status that is answered in the form of x402, not of RFC 9457. */
export const DEMAND_STATUS = 402;

const EXAMPLE_PAYEE = '0x1111111111111111111111111111111111111111';
const EXAMPLE_REQUEST_ID = 'req_5f0c3d0e-6b5f-4f0e-9a53-0f8f0d6a2f11';
const text = { type: 'string' };

/** What a 402 answer holds: the PaymentRequired object of x402 version 2, and the members of every refusal. */
export const DEMAND_SCHEMA: JsonObject = {
  type: 'object',
  required: ['x402Version', 'error', 'resource', 'accepts', 'extensions', 'success', 'code', 'detail', 'requestId'],
  properties: {
    x402Version: { type: 'integer', const: 2 },
    error: { type: 'string', description: 'The code, or the reason by which the payment does not hold.' },
    resource: {
      type: 'object',
      required: ['url', 'description', 'mimeType'],
      properties: { url: { type: 'string', format: 'uri' }, description: text, mimeType: text },
      additionalProperties: false,
    },
    accepts: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['scheme', 'network', 'amount', 'asset', 'payTo', 'maxTimeoutSeconds', 'extra'],
        properties: {
          scheme: { type: 'string', const: 'exact' },
          network: text,
          amount: { type: 'string', description: 'In the smallest unit of the asset.' },
          asset: text,
          payTo: text,
          maxTimeoutSeconds: { type: 'integer' },
          extra: {
            type: 'object',
            required: ['name', 'version'],
            properties: { name: text, version: text },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
    },
    extensions: {
      type: 'object',
      description: 'Declarations of x402 extensions, by their names.',
      additionalProperties: true,
    },
    success: { type: 'boolean', const: false },
    code: text,
    detail: text,
    requestId: text,
    reason: { type: 'string', description: "A machine's word for why a payment does not hold." },
  },
  additionalProperties: false,
};

export const DEMAND_HEADERS: JsonObject = {
  [PAYMENT_REQUIRED_HEADER]: { description: 'Base64 of the terms as JSON (x402 version 2).', schema: text },
  [PAYMENT_RESPONSE_HEADER]: { description: 'Base64 of what came of the settlement, as JSON.', schema: text },
};

/** Headers that a paid endpoint reads. */
export const PAID_REQUEST_HEADERS: readonly JsonObject[] = [
  {
    name: 'PAYMENT-SIGNATURE',
    in: 'header',
    required: false,
    description: 'Base64 of the payment as JSON (x402 version 2). Without it the answer is 402 and names the price.',
    schema: text,
  },
];

/** What marks an operation as paid, for those who look for such. */
export function paymentInfo({ service }: PaidRoute): JsonObject {
  const price = { mode: 'fixed', currency: 'USD', amount: SERVICES[service].usd };
  return { 'x-payment-info': { price, protocols: [{ x402: {} }] } };
}

/** The content of a paid operation's 402 answer. */
export function demandContent(route: PaidRoute, codes: readonly ProblemCode[], baseUrl: string): JsonObject {
  const examples = codes.map((code) => [code, { value: demandExample(route, code, baseUrl) }]);
  const schema = { $ref: '#/components/schemas/PaymentRequired' };
  return { 'application/json': { schema, examples: Object.fromEntries(examples) } };
}

function demandExample({ service, path }: PaidRoute, code: ProblemCode, baseUrl: string): JsonObject {
  const reason = code === 'payment-refused' ? { reason: 'invalid_exact_evm_insufficient_balance' } : {};
  const problem = new Problem(code, PROBLEM_MEANINGS[code], { extra: reason });
  const demand = { service, url: baseUrl + path.replace(/:([A-Za-z]+)/g, '$1'), payTo: EXAMPLE_PAYEE };
  return demandAnswer(demand, problem, EXAMPLE_REQUEST_ID).body;
}
