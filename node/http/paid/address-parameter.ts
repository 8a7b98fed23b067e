import { isWalletAddress, type WalletAddress } from '../../../protocol/payments/payment.ts';
import { fieldError, Problem } from '../problem.ts';

/** The wallet address in a path, in lower case; its checksum is not looked at. Throws `Problem` 400. */
export function addressParameter({ address = '' }: Readonly<Record<string, string>>): WalletAddress {
  const lower = `0x${address.slice(2).toLowerCase()}`;
  if (address.startsWith('0x') && isWalletAddress(lower)) return lower;
  const message = 'is not 0x and 40 hex digits';
  throw new Problem('invalid-field', `address ${message}`, { errors: [fieldError(['address'], 'pattern', message)] });
}
