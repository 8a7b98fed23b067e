import { recover, type RecoveryIdType } from 'tiny-secp256k1';
import { domainSeparator, keccak256 } from 'viem';
import type { PaymentAuthorization } from '../../../protocol/payments/payment.ts';
import { isSameAddress, type PaymentRequirements } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { PAYMENT_CHAIN_ID } from './chain-id.ts';
import type { ChainReader, Facilitator, SignedAuthorization } from './contract.ts';
import { FacilitatorError } from './facilitator-error.ts';

/** `0x` and the 65 bytes of a signature by a key. */
const PLAIN_SIGNATURE = /^0x[0-9a-fA-F]{130}$/;
/** What a payer signs (EIP-3009). */
const TYPE =
  'TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)';
const TYPE_HASH = keccak256(Buffer.from(TYPE), 'bytes');
/** The token's own domain (EIP-712). */
const DOMAIN = Buffer.from(
  domainSeparator({
    domain: { name: USDC.name, version: USDC.version, chainId: PAYMENT_CHAIN_ID, verifyingContract: USDC.asset },
  }).slice(2),
  'hex',
);
/** What typed data begins with (EIP-712). */
const PREFIX = Buffer.of(0x19, 0x01);
const WORD_HEX = 64;
const ADDRESS_BYTES = 20;
/** The last byte of a signature, and which of the possible keys it means. */
const RECOVERY_IDS: Readonly<Record<number, RecoveryIdType>> = { 0: 0, 1: 1, 27: 0, 28: 1 };

/** Whether the signature has the form of one by a key. */
export function isPlainSignature({ signature }: SignedAuthorization): boolean {
  return PLAIN_SIGNATURE.test(signature);
}

/**
 * Whether the payer's own key has signed the authorization. Asks nothing of the chain; takes a third of a millisecond
 * of the processor, where the same in JavaScript takes three.
 */
export function isSignedByPayer({ authorization, signature }: SignedAuthorization): boolean {
  const bytes = Buffer.from(signature.slice(2), 'hex');
  const recoveryId = RECOVERY_IDS[bytes.at(-1) ?? Number.NaN];
  const digest = digestOf(authorization);
  if (recoveryId === undefined || digest === null) return false;
  try {
    const key = recover(digest, bytes.subarray(0, -1), recoveryId, false);
    return key !== null && isSameAddress(addressOf(key), authorization.from);
  } catch {
    // No point of the curve.
    return false;
  }
}

/** What is signed; null where a number is beyond 256 bits. */
function digestOf({ from, to, value, validAfter, validBefore, nonce }: PaymentAuthorization): Uint8Array | null {
  const numbers = [value, validAfter, validBefore].map((number) => BigInt(number).toString(16));
  const words = [from.slice(2), to.slice(2), ...numbers, nonce.slice(2)].map((word) => word.padStart(WORD_HEX, '0'));
  if (words.some(({ length }) => length !== WORD_HEX)) return null;
  const struct = keccak256(Buffer.concat([TYPE_HASH, Buffer.from(words.join(''), 'hex')]), 'bytes');
  return keccak256(Buffer.concat([PREFIX, DOMAIN, struct]), 'bytes');
}

/** Of a key that is not compressed: what follows its first byte is hashed, and the end of that is the address. */
function addressOf(key: Uint8Array): string {
  return `0x${Buffer.from(keccak256(key.subarray(1), 'bytes').subarray(-ADDRESS_BYTES)).toString('hex')}`;
}

const BAD_SIGNATURE = 'invalid_exact_evm_signature';

/**
 * Whether the payer has signed. Of an ordinary wallet the signature tells by itself; of a contract only the contract
 * does, on the chain. Throws `FacilitatorError` where it has not, or nobody says.
 */
export async function checkPayerSignature(
  {
    facilitator,
    chain,
  }: { readonly facilitator: Pick<Facilitator, 'verify'>; readonly chain: Pick<ChainReader, 'isContract'> },
  payment: SignedAuthorization,
  terms: PaymentRequirements,
): Promise<void> {
  if (isPlainSignature(payment)) {
    if (isSignedByPayer(payment)) return;
    const isContract = await chain.isContract(payment.authorization.from).catch(() => null);
    if (isContract === null) throw new FacilitatorError('unreachable', 'chain_unreachable');
    if (!isContract) throw new FacilitatorError('refused', BAD_SIGNATURE);
  }
  await facilitator.verify(payment, terms);
}
