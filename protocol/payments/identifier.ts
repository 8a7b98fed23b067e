import type { JsonObject } from '../json/value.ts';

/** The x402 extension by which a payer says that two payments are for one and the same request. */
export const PAYMENT_IDENTIFIER = 'payment-identifier';
export const PAYMENT_IDENTIFIER_PATTERN = '^[a-zA-Z0-9_-]{16,128}$';

const IDENTIFIER = new RegExp(PAYMENT_IDENTIFIER_PATTERN);

/** What a 402 answer says of it: an id may be given, and need not. */
export const PAYMENT_IDENTIFIER_DECLARATION: JsonObject = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
};

function isPaymentIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** The id among a payment's extensions: null where none is given, undefined where it is not of the form. */
export function readPaymentIdentifier(extensions: Readonly<Record<string, unknown>>): string | null | undefined {
  const extension = extensions[PAYMENT_IDENTIFIER];
  if (extension === undefined) return null;
  const info = memberOf(extension, 'info');
  const id = memberOf(info, 'id');
  if (id === undefined) return null;
  return typeof id === 'string' && isPaymentIdentifier(id) ? id : undefined;
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return Object.entries(value).find(([member]) => member === name)?.[1];
}
