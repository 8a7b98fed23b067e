import { encodeEventTopics, type Hash, type Hex, parseEventLogs, type TransactionReceipt } from 'viem';
import { isSameAddress } from '../../../protocol/payments/terms.ts';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { hexOf, rpcAnswer } from './chain-answers.ts';
import type { EvmClient } from './chain-client.ts';
import { usdcAbi } from './usdc-abi.ts';
import type { SoughtPayment } from './contract.ts';

type Sought = SoughtPayment['authorization'];

/** Blocks that are searched with one question. A node that finds them too many is asked for fewer. */
const MOST_BLOCKS = 2_000n;
const FEWEST_BLOCKS = 10n;
const MOST_QUESTIONS = 200;

const [USED] = encodeEventTopics({ abi: usdcAbi, eventName: 'AuthorizationUsed' });
const [CANCELLED] = encodeEventTopics({ abi: usdcAbi, eventName: 'AuthorizationCanceled' });

/**
 * The transaction that used an authorization up or cancelled it, newest blocks searched first. Null where it is not in
 * the range. Throws what the client throws, and where the range is too long to be searched.
 */
export async function findEnd(
  client: EvmClient,
  sought: Sought,
  range: { readonly from: bigint; readonly to: bigint },
): Promise<Hash | null> {
  let [to, step] = [range.to, MOST_BLOCKS];
  for (let questions = 0; to >= range.from; questions++) {
    if (questions === MOST_QUESTIONS) throw new Error('too many blocks to search');
    const from = to - step + 1n > range.from ? to - step + 1n : range.from;
    try {
      const end = await endIn(client, sought, from, to);
      if (end !== null) return end;
      to = from - 1n;
    } catch (error) {
      if (rpcAnswer(error) === null || step <= FEWEST_BLOCKS) throw error;
      step /= 2n;
    }
  }
  return null;
}

/**
 * Whether a transaction moved the value from payer to payee by this authorization: the token notes its use and, right
 * after, the transfer. A used authorization alone proves nothing: the payer may have signed another one under its
 * nonce.
 */
export function carriesOut({ status, logs }: TransactionReceipt, sought: Sought): boolean {
  const own = logs.filter(({ address }) => isSameAddress(address, USDC.asset));
  const events = parseEventLogs({ abi: usdcAbi, logs: own });
  return events.some((used) => {
    if (used.eventName !== 'AuthorizationUsed' || !isOf(used.args, sought)) return false;
    const next = events.find(({ logIndex }) => logIndex === used.logIndex + 1);
    return status === 'success' && next?.eventName === 'Transfer' && pays(next.args, sought);
  });
}

async function endIn(client: EvmClient, sought: Sought, from: bigint, to: bigint): Promise<Hash | null> {
  const logs = await client.request({
    method: 'eth_getLogs',
    params: [
      {
        address: USDC.asset,
        topics: [[topic(USED), topic(CANCELLED)], wide(sought.from), hexOf(sought.nonce)],
        fromBlock: `0x${from.toString(16)}`,
        toBlock: `0x${to.toString(16)}`,
      },
    ],
  });
  return logs[0]?.transactionHash ?? null;
}

function isOf({ authorizer, nonce }: { authorizer: Hex; nonce: Hex }, sought: Sought): boolean {
  return isSameAddress(authorizer, sought.from) && nonce.toLowerCase() === sought.nonce;
}

function pays({ from, to, value }: { from: Hex; to: Hex; value: bigint }, sought: Sought): boolean {
  return isSameAddress(from, sought.from) && isSameAddress(to, sought.to) && value === BigInt(sought.value);
}

function topic(topics: Hex | Hex[] | null | undefined): Hex {
  if (typeof topics !== 'string') throw new Error('an event without a topic');
  return topics;
}

function wide(address: string): Hex {
  return `0x${address.slice(2).padStart(64, '0')}`;
}
