import Type from 'typebox';
import { Compile } from '../shape-check.ts';
import { shapeFault } from '../shape-fault.ts';
import { decodeHeader } from './header.ts';
import { readPaymentIdentifier } from './identifier.ts';
import { type AtomicAmount, ATOMIC_AMOUNT_PATTERN } from './usdc.ts';

/** Address of a wallet or contract: `0x` and 40 lower-case hex digits. */
export type WalletAddress = string & { readonly __brand: 'WalletAddress' };
/** What makes an authorization count once (EIP-3009): `0x` and 64 lower-case hex digits. */
export type PaymentNonce = string & { readonly __brand: 'PaymentNonce' };

export const WALLET_ADDRESS_PATTERN = '^0x[0-9a-f]{40}$';
export const PAYMENT_NONCE_PATTERN = '^0x[0-9a-f]{64}$';

/** What a payer signs: that this value may be moved once, between two times. Times in seconds. */
export interface PaymentAuthorization {
  readonly from: WalletAddress;
  readonly to: WalletAddress;
  readonly value: AtomicAmount;
  readonly validAfter: number;
  readonly validBefore: number;
  readonly nonce: PaymentNonce;
}

/** The terms that a payer says he met, as he wrote them. */
export interface AcceptedTerms {
  readonly scheme: string;
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly payTo: string;
}

/** What came in `PAYMENT-SIGNATURE`: version 2, scheme `exact`, an EIP-3009 authorization. Nothing of it is proven. */
export interface Payment {
  /** The resource that it names; null where it names none. Not signed. */
  readonly resource: string | null;
  readonly accepted: AcceptedTerms;
  readonly authorization: PaymentAuthorization;
  /** `0x` and lower-case hex digits. */
  readonly signature: string;
  /** The id of the extension `payment-identifier`; null where none was given. */
  readonly identifier: string | null;
}

/** The header cannot be read as a payment. Its message is for the caller. */
export class PaymentFormatError extends Error {
  override readonly name = 'PaymentFormatError';
}

/** A smart account's signature may be wrapped: well above what any needs. */
const MAX_SIGNATURE_CHARACTERS = 8_192;
const MAX_URL_CHARACTERS = 4_096;
const MAX_TERM_CHARACTERS = 256;

const AddressShape = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const UintShape = Type.String({ pattern: ATOMIC_AMOUNT_PATTERN });
const TermShape = Type.String({ maxLength: MAX_TERM_CHARACTERS });

const HeaderShape = Type.Object({
  x402Version: Type.Literal(2),
  resource: Type.Optional(Type.Object({ url: Type.String({ maxLength: MAX_URL_CHARACTERS }) })),
  accepted: Type.Object({
    scheme: TermShape,
    network: TermShape,
    asset: TermShape,
    amount: TermShape,
    payTo: TermShape,
  }),
  payload: Type.Object({
    signature: Type.String({ pattern: '^0x([0-9a-fA-F]{2})+$', maxLength: MAX_SIGNATURE_CHARACTERS }),
    authorization: Type.Object({
      from: AddressShape,
      to: AddressShape,
      value: UintShape,
      validAfter: UintShape,
      validBefore: UintShape,
      nonce: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' }),
    }),
  }),
  extensions: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
const compiled = Compile(HeaderShape);

const ADDRESS = new RegExp(WALLET_ADDRESS_PATTERN);
const NONCE = new RegExp(PAYMENT_NONCE_PATTERN);
const AMOUNT = new RegExp(ATOMIC_AMOUNT_PATTERN);

export function isWalletAddress(text: string): text is WalletAddress {
  return ADDRESS.test(text);
}

export function isPaymentNonce(text: string): text is PaymentNonce {
  return NONCE.test(text);
}

/** An address in either case, in its one form. Throws `PaymentFormatError` on anything else. */
export function walletAddress(text: string): WalletAddress {
  const lower = text.toLowerCase();
  if (!isWalletAddress(lower)) throw new PaymentFormatError('not an address');
  return lower;
}

/** Reads a `PAYMENT-SIGNATURE` header. Throws `PaymentFormatError`. */
export function parsePayment(header: string): Payment {
  let value;
  try {
    value = decodeHeader(header);
  } catch {
    throw new PaymentFormatError('it is not base64 of a JSON text');
  }
  if (!compiled.Check(value)) {
    const { pointer, message } = shapeFault(compiled, value);
    throw new PaymentFormatError(`${pointer === '' ? 'it' : pointer} ${message}`);
  }
  const { resource, accepted, payload, extensions = {} } = value;
  const { scheme, network, asset, amount, payTo } = accepted;
  const identifier = readPaymentIdentifier(extensions);
  if (identifier === undefined) throw new PaymentFormatError('/extensions/payment-identifier holds no id of its form');
  return {
    resource: resource?.url ?? null,
    accepted: { scheme, network, asset, amount, payTo },
    authorization: authorizationOf(payload.authorization),
    signature: payload.signature.toLowerCase(),
    identifier,
  };
}

/** The members of an authorization as they are sent: what `authorizationOf` reads. */
export interface WireAuthorization {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

export function wireAuthorization(authorization: PaymentAuthorization): WireAuthorization {
  const { validAfter, validBefore } = authorization;
  return { ...authorization, validAfter: String(validAfter), validBefore: String(validBefore) };
}

function authorizationOf(wire: WireAuthorization): PaymentAuthorization {
  const nonce = wire.nonce.toLowerCase();
  if (!isPaymentNonce(nonce)) throw new PaymentFormatError('not a nonce');
  return {
    from: walletAddress(wire.from),
    to: walletAddress(wire.to),
    value: amountOf(wire.value),
    validAfter: secondsOf(wire.validAfter),
    validBefore: secondsOf(wire.validBefore),
    nonce,
  };
}

function amountOf(text: string): AtomicAmount {
  if (!isAmount(text)) throw new PaymentFormatError('not an amount');
  return text;
}

function isAmount(text: string): text is AtomicAmount {
  return AMOUNT.test(text);
}

/** A time that no number holds is out of every bound; it would not be the time that was signed. */
function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!Number.isSafeInteger(seconds)) throw new PaymentFormatError('a time of the authorization is out of all bounds');
  return seconds;
}
