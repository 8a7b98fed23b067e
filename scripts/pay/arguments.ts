import { readFile } from 'node:fs/promises';
import { readCommandLine, UsageError } from '../../node/config/command-line.ts';
import { type AtomicAmount, atomicUsdc, usdOf } from '../../protocol/payments/usdc.ts';
import { excludeEachOther } from '../command-line.ts';

/** Above every price of the table, and below what a slip of the finger may cost. */
const DEFAULT_MAX_USD = '0.15';

export const USAGE = `npm run pay -- METHOD PATH [options]

Pays for one call with the demo wallet of the local cluster: asks for the price, checks it, signs, and sends the call
with the payment. An answer that is lost is asked for again with the same signature, which is never charged twice. Then
it waits until the records of the answer are verified. The answer alone goes to stdout, all else to stderr.
  npm run pay -- GET /v1/x402/hedera-facts/supply
  npm run pay -- POST /v1/x402/attested-screening --data '{"name":"Jane Doe"}'

  --data JSON|@FILE   body of a POST
  --node ID           node of the local cluster (eu)
  --url URL           another node, with --key
  --key FILE          private key of the wallet, as 0x and 64 hex digits
  --max-usd AMOUNT    highest price that is paid, in dollars (${DEFAULT_MAX_USD})
  --no-wait           do not wait for the ledger

It pays in USDC on Base (eip155:8453), whatever else a node may ask for, and in a local cluster to its payee alone.
Exit: 0 paid and answered, or answered for nothing · 1 refused, failed, or a record does not verify · 2 wrong usage`;

export interface Arguments {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: string | null;
  /** Node of the local cluster. */
  readonly node: string;
  readonly url: string | null;
  readonly keyFile: string | null;
  readonly max: AtomicAmount;
  readonly isWaiting: boolean;
}

const OPTIONS = {
  data: { type: 'string' },
  node: { type: 'string' },
  url: { type: 'string' },
  key: { type: 'string' },
  'max-usd': { type: 'string', default: DEFAULT_MAX_USD },
  'no-wait': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** What the command line asks for; null: help. Throws `UsageError`. */
export async function readArguments(args: readonly string[]): Promise<Arguments | null> {
  const { values: flags, positionals } = readCommandLine(args, OPTIONS);
  if (flags.help) return null;
  const [method = '', path = '', ...others] = positionals;
  if (others.length > 0) throw new UsageError(`one call at a time: ${others[0]} is one word too many`);
  if (method !== 'GET' && method !== 'POST') throw new UsageError('the first word is GET or POST');
  if (!path.startsWith('/')) throw new UsageError('the second word is a path, as /v1/x402/hedera-facts/supply');
  if (method === 'GET' && flags.data !== undefined) throw new UsageError('a GET has no --data');
  excludeEachOther(flags, 'node', 'url');
  if (flags.url !== undefined && flags.key === undefined) {
    throw new UsageError('--url needs --key: the demo wallet has money in the local cluster only');
  }
  return {
    method,
    path,
    body: method === 'GET' ? null : await bodyOf(flags.data ?? '{}'),
    node: flags.node ?? 'eu',
    url: flags.url === undefined ? null : urlOf(flags.url),
    keyFile: flags.key ?? null,
    max: amountOf(flags['max-usd']),
    isWaiting: !flags['no-wait'],
  };
}

async function bodyOf(data: string): Promise<string> {
  const text = data.startsWith('@') ? await fileText(data.slice(1)) : data;
  try {
    JSON.parse(text);
  } catch {
    throw new UsageError('--data is not JSON');
  }
  return text;
}

async function fileText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => {
    throw new UsageError(`--data: ${file} cannot be read`);
  });
}

function urlOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new UsageError('--url is not an http(s) address');
  return text.replace(/\/+$/, '');
}

function amountOf(text: string): AtomicAmount {
  try {
    const amount = atomicUsdc(text);
    if (usdOf(amount) !== '0') return amount;
  } catch {
    // Said below.
  }
  throw new UsageError('--max-usd is an amount in dollars, as 0.05');
}
