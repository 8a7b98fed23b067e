import { decodeBase64url, decodeUtf8, encodeBase64url, utf8 } from '../bytes.ts';
import { parseJson } from '../json/parse.ts';
import type { JsonValue } from '../json/value.ts';

/** The headers of x402 version 2, transport HTTP. Each is base64 of JSON. */
export const PAYMENT_REQUIRED_HEADER = 'PAYMENT-REQUIRED';
export const PAYMENT_SIGNATURE_HEADER = 'PAYMENT-SIGNATURE';
export const PAYMENT_RESPONSE_HEADER = 'PAYMENT-RESPONSE';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** A declared extension, echoed by the client, is the deepest part. */
const MAX_DEPTH = 24;
const MAX_VALUES = 2_048;

/** Base64 (RFC 4648 §4, padded) of a value's JSON text. */
export function encodeHeader(value: JsonValue): string {
  const text = encodeBase64url(utf8(JSON.stringify(value)))
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  return text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/** The value of a header. Throws `EncodingError` or `JsonError` on what is not base64 of strict JSON in UTF-8. */
export function decodeHeader(header: string): JsonValue {
  const bytes = decodeBase64url(BASE64.test(header) ? unpadded(header) : ' ');
  return parseJson(decodeUtf8(bytes), { maxDepth: MAX_DEPTH, maxValues: MAX_VALUES });
}

function unpadded(header: string): string {
  return header.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_');
}
