import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { USDC } from '../../../protocol/payments/usdc.ts';
import { doubledPause } from '../../concurrency/backoff.ts';
import { isUnanswered, rpcAnswer } from './chain-answers.ts';
import { type EvmClient, openChainClient } from './chain-client.ts';
import { PAYMENT_CHAIN_ID } from './chain-id.ts';
import type { FacilitatorConfig, PaymentsConfig } from './config.ts';
import type { ChainReader, Facilitator, SettlementMeans } from './contract.ts';
import { EvmChainReader } from './evm-chain-reader.ts';
import { FacilitatorError } from './facilitator-error.ts';
import { HttpFacilitator } from './http-facilitator.ts';
import { InProcessFacilitator } from './in-process-facilitator.ts';
import { checkPayerSignature } from './payer-signature.ts';
import { unlessAborted } from './receipts.ts';
import { usdcAbi } from './usdc-abi.ts';

/** Whether payments can be taken, and if not, why. */
type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };

interface ReadinessOptions {
  /** Resolves where payments can be taken; throws with the reason where not. */
  readonly probe: () => Promise<void>;
  readonly log: Logger;
  readonly pauses?: Partial<ReadinessPauses>;
}

/** In milliseconds. */
interface ReadinessPauses {
  /** Between two looks while all is well. */
  readonly calmMs: number;
  /** After the first failure; doubled with each more. */
  readonly firstMs: number;
  readonly mostMs: number;
}

const PAUSES: ReadinessPauses = { calmMs: 30_000, firstMs: 500, mostMs: 15_000 };
const NOT_ASKED = 'not_asked_yet';

/**
 * Asks again and again whether payments can be taken: a node starts without chain and facilitator, and goes on without.
 */
class ReadinessWatch implements AsyncDisposable {
  readonly #probe: () => Promise<void>;
  readonly #log: Logger;
  readonly #pauses: ReadinessPauses;
  readonly #end = new AbortController();
  #state: Readiness = { ready: false, reason: NOT_ASKED };
  #loop: Promise<void> = Promise.resolve();

  constructor({ probe, log, pauses = {} }: ReadinessOptions) {
    this.#probe = probe;
    this.#log = log;
    this.#pauses = { ...PAUSES, ...pauses };
  }

  get state(): Readiness {
    return this.#state;
  }

  /** Resolves after the first answer, whichever it is. */
  async start(): Promise<void> {
    await this.#ask();
    this.#loop = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    let failures = 0;
    while (!this.#end.signal.aborted) {
      const ms = this.#state.ready ? this.#pauses.calmMs : doubledPause(failures, this.#pauses);
      failures = this.#state.ready ? 0 : failures + 1;
      await sleep(ms, undefined, { signal: this.#end.signal }).catch(() => {});
      if (!this.#end.signal.aborted) await this.#ask();
    }
  }

  async #ask(): Promise<void> {
    const before = this.#state;
    try {
      await unlessAborted(this.#probe(), this.#end.signal);
      this.#state = { ready: true };
      if (!before.ready) this.#log.info('payments are taken');
    } catch (error) {
      if (this.#end.signal.aborted) return;
      const reason = error instanceof FacilitatorError ? error.reason : 'probe_failed';
      this.#state = { ready: false, reason };
      if (before.ready || before.reason !== reason) this.#log.warn({ reason }, 'payments are not taken');
    }
  }
}

/** Nodes of chains whose money is not real say so themselves. */
const DEVELOPMENT_CLIENT = /^(anvil|hardhat|ganache)/i;

/**
 * Whether the chain's node is one of Base, with USDC on it. Throws `FacilitatorError` with the reason where it is not:
 * `refused` where waiting changes nothing.
 */
async function probeChain(client: EvmClient, isProduction: boolean): Promise<void> {
  const { chainId, name, version, software } = await ask(client);
  if (chainId !== PAYMENT_CHAIN_ID) throw new FacilitatorError('refused', 'chain_is_another_one');
  if (name !== USDC.name || version !== USDC.version) throw new FacilitatorError('refused', 'chain_lacks_usdc');
  if (isProduction && DEVELOPMENT_CLIENT.test(software)) {
    throw new FacilitatorError('refused', 'chain_is_for_development');
  }
}

async function ask(client: EvmClient) {
  const token = { address: USDC.asset, abi: usdcAbi } as const;
  try {
    const [chainId, software] = await Promise.all([client.getChainId(), softwareOf(client)]);
    const [name, version] = await Promise.all([
      client.readContract({ ...token, functionName: 'name' }).catch(nothing),
      client.readContract({ ...token, functionName: 'version' }).catch(nothing),
    ]);
    return { chainId, name, version, software };
  } catch {
    throw new FacilitatorError('unreachable', 'chain_unreachable');
  }
}

/** Some providers keep it to themselves; none of them serves a development chain. */
async function softwareOf(client: EvmClient): Promise<string> {
  try {
    return await client.request({ method: 'web3_clientVersion' });
  } catch (error) {
    if (rpcAnswer(error) === null) throw error;
    return '';
  }
}

/** A token that is not there, or is another contract, has no name. */
function nothing(error: unknown): undefined {
  if (rpcAnswer(error) === null && !isUnanswered(error)) throw error;
  return undefined;
}

export interface PaymentBackendOptions {
  readonly config: PaymentsConfig;
  readonly log: Logger;
  /** Refuses development chains. */
  readonly isProduction: boolean;
  readonly pauses?: Partial<ReadinessPauses>;
}

/** What a node is paid by: a facilitator, and the chain on which it shows. */
export interface PaymentBackend extends SettlementMeans, AsyncDisposable {
  readonly facilitator: Facilitator;
  readonly chain: ChainReader;
  readonly readiness: Readiness;
  /** Resolves once it is known whether payments can be taken now; where not, it goes on asking. Never throws. */
  start(): Promise<void>;
}

/**
 * Opens it without asking anybody anything: neither chain nor facilitator need be there. To be imported by
 * `lateBackend` alone: what it stands on takes a moment, and memory, to load.
 */
export function openPaymentBackend({ config, log, isProduction, pauses = {} }: PaymentBackendOptions): PaymentBackend {
  const client = openChainClient(config.rpcUrl);
  const facilitator = openFacilitator(client, config.facilitator);
  const chain = new EvmChainReader({ client, settlers: facilitator.settlers });
  const watch = new ReadinessWatch({
    probe: async () => {
      await probeChain(client, isProduction);
      await facilitator.probe();
    },
    log,
    pauses,
  });
  return {
    facilitator,
    chain,
    get isReady() {
      return watch.state.ready;
    },
    checkSignature: (payment, terms) => checkPayerSignature({ facilitator, chain }, payment, terms),
    get readiness() {
      return watch.state;
    },
    start: () => watch.start(),
    [Symbol.asyncDispose]: async () => {
      await watch[Symbol.asyncDispose]();
      await facilitator[Symbol.asyncDispose]();
    },
  };
}

function openFacilitator(client: EvmClient, config: FacilitatorConfig): Facilitator {
  switch (config.kind) {
    case 'in-process':
      return new InProcessFacilitator({ client, key: config.key });
    case 'http':
      return new HttpFacilitator(config);
  }
}
