import { isWalletAddress } from '../../protocol/payments/payment.ts';
import { USDC } from '../../protocol/payments/usdc.ts';
import {
  checksummed,
  type ChecksummedAddress,
  type FacilitatorConfig,
  isPublicWallet,
  type PaymentsConfig,
} from '../payments/facilitator/config.ts';
import type { Environment, Variable } from './environment.ts';
import { ConfigError, parse, protectedUrl } from './read-variable.ts';

/** RFC 9110 §5.6.2 and §5.5, without the obsolete. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** Headers that describe the request itself. */
const OWN_HEADERS = new Set(['content-type', 'content-length', 'host', 'connection', 'transfer-encoding']);

/**
 * Headers for requests to another server: those of the variable `more`, as `{"x-api-key":"…"}`, and the bearer token of
 * the variable `token`.
 *
 * @throws ConfigError naming the variable at fault, never what it holds
 */
export function outgoingHeaders(environment: Environment, token: Variable, more: Variable): Record<string, string> {
  const given = environment[more] === undefined ? {} : headerObject(more, environment[more]);
  const bearer = environment[token];
  if (bearer === undefined) return given;
  if (!HEADER_VALUE.test(bearer)) throw new ConfigError(`${token} has characters that no header can carry`);
  return { ...given, authorization: `Bearer ${bearer}` };
}

function headerObject(variable: Variable, text: string): Record<string, string> {
  const entries = Object.entries(jsonObject(variable, text));
  return Object.fromEntries(
    entries.map(([name, value]) => {
      const lower = name.toLowerCase();
      const isFit = HEADER_NAME.test(name) && typeof value === 'string' && HEADER_VALUE.test(value);
      if (!isFit || OWN_HEADERS.has(lower)) {
        throw new ConfigError(`${variable}: ${JSON.stringify(name.slice(0, 40))} is no header to send`);
      }
      return [lower, value];
    }),
  );
}

function jsonObject(variable: Variable, text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Said below: what a parser says repeats the text.
  }
  throw new ConfigError(`${variable} is not a JSON object`);
}

const PAYMENT_VARIABLES = [
  'RPC_URL',
  'PAY_TO',
  'FACILITATOR_KEY',
  'FACILITATOR_URL',
  'FACILITATOR_TOKEN',
  'FACILITATOR_HEADERS',
] as const satisfies readonly Variable[];
const ZERO_ADDRESS = /^0x0{40}$/;
const PRIVATE_KEY = /^0x[0-9a-f]{64}$/i;
/** Order of secp256k1: a private key lies below it. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
/**
 * How the node is paid; null where none of the variables is set. All or nothing: a node that is half set up would find
 * out at its first payment.
 *
 * @throws ConfigError naming the variable at fault, never what it holds
 */
export function paymentsConfig(environment: Environment): PaymentsConfig | null {
  if (PAYMENT_VARIABLES.every((name) => environment[name] === undefined)) return null;
  return {
    rpcUrl: protectedUrl(environment, 'RPC_URL'),
    payTo: parse(environment, 'PAY_TO', payTo),
    facilitator: facilitatorConfig(environment),
  };
}

function facilitatorConfig(environment: Environment): FacilitatorConfig {
  const { FACILITATOR_KEY: key, FACILITATOR_URL: url } = environment;
  if ((key === undefined) === (url === undefined)) {
    throw new ConfigError('one of FACILITATOR_KEY and FACILITATOR_URL is needed');
  }
  if (url !== undefined) {
    return {
      kind: 'http',
      url: protectedUrl(environment, 'FACILITATOR_URL'),
      headers: outgoingHeaders(environment, 'FACILITATOR_TOKEN', 'FACILITATOR_HEADERS'),
    };
  }
  const stray = (['FACILITATOR_TOKEN', 'FACILITATOR_HEADERS'] as const).find((name) => environment[name] !== undefined);
  if (stray !== undefined) throw new ConfigError(`${stray} needs FACILITATOR_URL`);
  return { kind: 'in-process', key: parse(environment, 'FACILITATOR_KEY', privateKey) };
}

function payTo(text: string): ChecksummedAddress {
  const lower = text.toLowerCase();
  if (!isWalletAddress(lower) || ZERO_ADDRESS.test(lower)) throw new Error('not an account');
  const address = checksummed(lower);
  if (text !== address && text !== lower) throw new Error('its checksum (EIP-55) does not hold');
  if (address === USDC.asset) throw new Error('that is the token itself');
  if (isPublicWallet(address)) throw new Error('its private key is public');
  return address;
}

function privateKey(text: string): `0x${string}` {
  const scalar = PRIVATE_KEY.test(text) ? BigInt(text) : 0n;
  if (scalar === 0n || scalar >= CURVE_ORDER) throw new Error('not a private key (0x and 64 hex digits)');
  return `0x${text.slice(2).toLowerCase()}`;
}
