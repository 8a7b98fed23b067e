import { BaseError, ContractFunctionZeroDataError, type Hex, HttpRequestError, RpcRequestError } from 'viem';
import { ChainError } from './contract.ts';
import type { PaymentNonce, WalletAddress } from '../../../protocol/payments/payment.ts';

/** JSON-RPC code of a call that a contract refused (EIP-1474, geth). */
const REVERTED = 3;
/** Errors of a connection that never stood: nothing was sent over it. */
const UNSENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const MOST_CAUSES = 8;

/** Reads the chain; whatever goes wrong is a `ChainError`. */
export async function fromChain<Read>(read: () => Promise<Read>): Promise<Read> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ChainError) throw error;
    const name = error instanceof Error ? error.name : 'error';
    const answer = rpcAnswer(error);
    if (answer === null) throw new ChainError('unreachable', `the chain cannot be reached (${name})`);
    throw new ChainError('refused', `the chain's node refuses (${name}, code ${answer.code})`);
  }
}

/** What the chain's node answered instead of a result; null where it gave no answer. */
export function rpcAnswer(error: unknown): { readonly code: number; readonly text: string } | null {
  const found = error instanceof BaseError ? error.walk((cause) => cause instanceof RpcRequestError) : null;
  return found instanceof RpcRequestError ? { code: found.code, text: found.details.toLowerCase() } : null;
}

/** Whether a contract refused a call, as against a chain that could not say. */
export function isRevert(error: unknown): boolean {
  const answer = rpcAnswer(error);
  return answer !== null && (answer.code === REVERTED || answer.text.includes('revert'));
}

/** Whether a call found no contract that could answer it. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof BaseError && error.walk((cause) => cause instanceof ContractFunctionZeroDataError) !== null;
}

/** Whether a request certainly never left: nobody was there to take it. */
export function isUnsent(error: unknown): boolean {
  let cause: unknown = error instanceof BaseError ? error.walk((inner) => inner instanceof HttpRequestError) : error;
  for (let depth = 0; depth < MOST_CAUSES && cause instanceof Error; depth++) {
    if ('code' in cause && typeof cause.code === 'string' && UNSENT.has(cause.code)) return true;
    cause = cause.cause;
  }
  return false;
}

/** An address or nonce, which begins with `0x` by its form, as the type that says so. */
export function hexOf(text: WalletAddress | PaymentNonce): Hex {
  return `0x${text.slice(2)}`;
}
