import { UsageError, usageLine } from '../../node/config/command-line.ts';
import { HttpError } from '../../node/outbound/http-client.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { decodeHeader, PAYMENT_RESPONSE_HEADER } from '../../protocol/payments/header.ts';
import { atomicAmount, USDC, usdOf } from '../../protocol/payments/usdc.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { PayError } from './pay-error.ts';
import { bodyOf, type PaidCall, pay, type Reply, send } from './send.ts';
import { findTarget, type Target } from './target.ts';
import { type Terms, termsOf } from './terms.ts';
import { isBroken, recordsIn, verification } from './verification.ts';

/** 0 paid and answered, or answered for nothing · 1 refused, failed, or not verified · 2 wrong usage. */
export type PayExit = 0 | 1 | 2;

export interface Terminal {
  /** The answer alone. */
  out(text: string): void;
  err(line: string): void;
}

export interface PayOptions {
  readonly signal: AbortSignal;
  /** Default: that of the process. */
  readonly fetch?: typeof fetch;
  /** Before a payment whose answer was lost is sent again. In milliseconds. */
  readonly firstPauseMs?: number;
}

const PAYMENT_REQUIRED = 402;
const FIRST_PAUSE_MS = 500;
/** Longest wait for the ledger: a paid record is promised to be anchored within a minute. In milliseconds. */
const CONFIRM_MS = 120_000;
/** Records of one answer that are verified. */
const MAX_VERIFIED = 20;

/** The `pay` command: one call, paid for with a wallet. */
export async function payCommand(
  args: readonly string[],
  terminal: Terminal,
  { signal, fetch: ask = fetch, firstPauseMs = FIRST_PAUSE_MS }: PayOptions,
): Promise<PayExit> {
  try {
    const asked = await readArguments(args);
    if (asked === null) {
      terminal.out(USAGE);
      return 0;
    }
    return await run(asked, await findTarget(asked), terminal, { signal, fetch: ask, firstPauseMs });
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.err(usageLine(error, 'pay'));
      return 2;
    }
    if (!(error instanceof PayError)) throw error;
    terminal.err(`pay: ${error.message}`);
    return 1;
  }
}

async function run(
  asked: Arguments,
  target: Target,
  terminal: Terminal,
  { signal, fetch: ask, firstPauseMs }: Required<PayOptions>,
): Promise<PayExit> {
  const { baseUrl, wallet, payTo } = target;
  let hasLost = false;
  const call: PaidCall = {
    url: baseUrl + asked.path,
    method: asked.method,
    body: asked.body,
    fetch: ask,
    signal,
    firstPauseMs,
    onLost(why) {
      hasLost = true;
      terminal.err(`lost      ${why}; the same payment is sent again`);
    },
  };
  const first = await send(call, null).catch((error: unknown) => {
    if (error instanceof HttpError && error.code === 'redirect') throw new PayError(`${baseUrl} ${error.message}`);
    throw new PayError(`${baseUrl} does not answer: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (first.status !== PAYMENT_REQUIRED) return tellFree(first, terminal);
  const terms = termsOf(first.headers, { max: asked.max, payTo });
  tellTerms(terms, wallet.address, terminal);
  const reply = await pay(call, terms, wallet);
  if (reply.status !== 200) throw refusal(reply, hasLost);
  const body = bodyOf(reply.text);
  terminal.out(JSON.stringify(body, null, 2));
  tellReceipt(reply, body, terminal);
  const isSound = await verifyAll(body, asked.isWaiting, { baseUrl, fetch: ask, signal }, terminal);
  return isSound ? 0 : 1;
}

function tellFree({ status, text }: Reply, terminal: Terminal): PayExit {
  terminal.err(status < 400 ? 'free      nothing is asked for this call' : `refused   ${status}, before any price`);
  terminal.out(text);
  return status < 400 ? 0 : 1;
}

function tellTerms({ demand, requirements, amount }: Terms, payer: string, terminal: Terminal): void {
  terminal.err(`call      ${demand.resource.url}`);
  if (demand.resource.description !== undefined) terminal.err(`          ${demand.resource.description}`);
  terminal.err(`price     $${usdOf(amount)} in USDC on ${USDC.network}`);
  terminal.err(`to        ${requirements.payTo}`);
  terminal.err(`from      ${payer}`);
}

/** After the payment was shown, what is not 200 was not charged, unless an earlier answer to it was lost. */
function refusal({ status, text }: Reply, hasLost: boolean): PayError {
  const { code, reason, detail } = bodyOf(text);
  const words = [status, code, reason, detail].filter((word) => typeof word === 'number' || typeof word === 'string');
  const charge = hasLost ? 'Whether it was charged before is not known' : 'Nothing was charged';
  return new PayError(`refused: ${words.join(' · ')}. ${charge}`);
}

function tellReceipt({ headers }: Reply, body: JsonObject, terminal: Terminal): void {
  const header = headers.get(PAYMENT_RESPONSE_HEADER);
  if (header === null) {
    terminal.err(body.charged === false ? 'receipt   none: the answer was not charged' : 'receipt   none was given');
    return;
  }
  const receipt = decodeHeader(header);
  if (!isJsonObject(receipt)) throw new PayError('the receipt cannot be read');
  const { amount, payer, transaction } = receipt;
  const paid = typeof amount === 'string' ? `$${usdOf(atomicAmount(amount))}` : 'an amount that is not told';
  terminal.err(`receipt   ${paid} by ${String(payer)}`);
  terminal.err(`          transaction ${String(transaction)}`);
}

/** Whether nothing that is on the ledger fails to verify. */
async function verifyAll(
  body: JsonObject,
  isWaiting: boolean,
  asking: { readonly baseUrl: string; readonly fetch: typeof fetch; readonly signal: AbortSignal },
  terminal: Terminal,
): Promise<boolean> {
  const ids = recordsIn(body);
  const deadline = isWaiting ? Date.now() + CONFIRM_MS : 0;
  let isSound = true;
  for (const id of ids.slice(0, MAX_VERIFIED)) {
    const finding = await verification(id, { ...asking, deadline });
    if (isBroken(finding)) isSound = false;
    terminal.err(`verified  ${finding.verified ? '✓' : '✗'} ${id} · ${finding.status}`);
  }
  if (ids.length > MAX_VERIFIED) terminal.err(`          ${ids.length - MAX_VERIFIED} more are named in the answer`);
  return isSound;
}
