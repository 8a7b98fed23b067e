import type { FacilitatorEvmSigner } from '@x402/evm';
import { type Abi, encodeFunctionData, type Hash, type Hex } from 'viem';
import { USDC } from '../../../protocol/payments/usdc.ts';
import type { EvmClient } from './chain-client.ts';
import { isRevert } from './chain-answers.ts';
import { NotSentError, type OrderedSender } from './ordered-sender.ts';
import type { Receipts } from './receipts.ts';

/**
 * What really happened while the stock scheme verified or settled: of failures to ask it says that the payment is bad.
 */
export interface Trace {
  /** The chain could not be read, so nothing that was found wrong was found. */
  chainFailed: boolean;
  /** The transaction could not be sent, and is nowhere. */
  notSent: boolean;
  /** Transaction that went out, or may have. */
  transaction: Hash | null;
}

export interface SignerParts {
  readonly client: EvmClient;
  readonly sender: OrderedSender;
  readonly receipts: Receipts;
  /** How long a settlement waits to be mined. In milliseconds. */
  readonly waitMs: number;
}

/** A transfer by authorization takes up to 90,000: a payee that never held any costs more. */
const TRANSFER_GAS = 140_000n;
/** Arguments where the signature is of an ordinary key, in three parts. One of a smart account costs what it likes. */
const PLAIN_ARGUMENTS = 9;
/** Room above what was estimated, as a fraction of it. */
const GAS_MARGIN_DIVISOR = 4n;
const MOST_GAS = 1_000_000n;
/** Stands for the code of the token, which was looked at when the node began. */
const SOME_CODE = '0x01';

export function emptyTrace(): Trace {
  return { chainFailed: false, notSent: false, transaction: null };
}

/**
 * What the stock scheme works with, for one payment: what it does is noted in the trace. `onSent` is told when there is
 * nothing left to do but wait for the chain.
 */
export function settlementSigner(parts: SignerParts, trace: Trace, onSent: () => void): FacilitatorEvmSigner {
  const { client, sender, receipts, waitMs } = parts;
  const codes = new Map<Hex, Promise<Hex | undefined>>();
  const asked = async <Answer>(ask: Promise<Answer>): Promise<Answer> => {
    try {
      return await ask;
    } catch (error) {
      if (!isRevert(error)) trace.chainFailed = true;
      throw error;
    }
  };
  return {
    getAddresses: () => [sender.address],
    readContract: (call) => asked(client.readContract({ ...call, abi: abiOf(call.abi) })),
    verifyTypedData: () => Promise.reject(new Error('the scheme checks signatures by itself')),
    // The scheme asks for the token's code and may not wait for the answer: a rejection would be nobody's.
    getCode: ({ address }) => {
      if (address === USDC.asset) return Promise.resolve(SOME_CODE);
      const code = codes.get(address) ?? asked(client.getCode({ address }));
      codes.set(address, code);
      return code;
    },
    writeContract: async ({ address, abi, functionName, args }) => {
      const data = encodeFunctionData({ abi: abiOf(abi), functionName, args });
      try {
        const gas = args.length === PLAIN_ARGUMENTS ? TRANSFER_GAS : await estimated(parts, address, data, asked);
        const sent = await sender.send({ to: address, data, gas });
        trace.transaction = sent.hash;
        receipts.follow(sent);
        return sent.hash;
      } catch (error) {
        trace.notSent = error instanceof NotSentError;
        throw error;
      }
    },
    sendTransaction: () => Promise.reject(new Error('no account is deployed for anyone')),
    waitForTransactionReceipt: ({ hash }) => {
      trace.transaction = hash;
      onSent();
      return receipts.of(hash, waitMs);
    },
  };
}

async function estimated(
  { client, sender }: SignerParts,
  to: Hex,
  data: Hex,
  asked: (ask: Promise<bigint>) => Promise<bigint>,
): Promise<bigint> {
  const gas = await asked(client.estimateGas({ account: sender.address, to, data }));
  const withMargin = gas + gas / GAS_MARGIN_DIVISOR;
  if (withMargin > MOST_GAS) throw new Error('the signature costs too much to check');
  return withMargin;
}

/** The scheme hands its own constant ABIs through an untyped door. */
function abiOf(abi: readonly unknown[]): Abi {
  return abi as Abi;
}
