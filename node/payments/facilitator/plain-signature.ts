import { recoverTypedDataAddress } from 'viem';
import { isSameAddress } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import type { SignedAuthorization } from '../processor.ts';
import { PAYMENT_CHAIN_ID } from './chain-id.ts';
import { hexOf } from './hex-text.ts';

/** `0x` and the 65 bytes of a signature by a key. */
const PLAIN_SIGNATURE = /^0x[0-9a-fA-F]{130}$/;
/** What a payer signs (EIP-3009), in the token's own domain (EIP-712). */
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;
const DOMAIN = {
  name: USDC.name,
  version: USDC.version,
  chainId: PAYMENT_CHAIN_ID,
  verifyingContract: USDC.asset,
} as const;

/** Whether the signature has the form of one by a key. */
export function isPlainSignature({ signature }: SignedAuthorization): boolean {
  return PLAIN_SIGNATURE.test(signature);
}

/** Whether the payer's own key has signed the authorization. Asks nobody; takes a millisecond or two of the processor. */
export async function isSignedByPayer({ authorization, signature }: SignedAuthorization): Promise<boolean> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  try {
    const signer = await recoverTypedDataAddress({
      domain: DOMAIN,
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: hexOf(from),
        to: hexOf(to),
        value: BigInt(value),
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore),
        nonce: hexOf(nonce),
      },
      signature: `0x${signature.slice(2)}`,
    });
    return isSameAddress(signer, from);
  } catch {
    // No point of the curve.
    return false;
  }
}
