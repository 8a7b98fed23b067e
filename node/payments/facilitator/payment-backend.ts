import type { Logger } from 'pino';
import type { PaymentProcessor } from '../processor.ts';
import { type EvmClient, openChainClient } from './chain-client.ts';
import { probeChain } from './chain-probe.ts';
import type { FacilitatorConfig, PaymentsConfig } from './config.ts';
import type { ChainReader, Facilitator } from './contract.ts';
import { EvmChainReader } from './evm-chain-reader.ts';
import { FacilitatorProcessor } from './facilitator-processor.ts';
import { HttpFacilitator } from './http-facilitator.ts';
import { InProcessFacilitator } from './in-process-facilitator.ts';
import { type Readiness, type ReadinessPauses, ReadinessWatch } from './readiness.ts';

export interface PaymentBackendOptions {
  readonly config: PaymentsConfig;
  readonly log: Logger;
  /** Refuses development chains. */
  readonly isProduction: boolean;
  readonly pauses?: Partial<ReadinessPauses>;
}

/** What a node is paid by: a facilitator, and the chain on which it shows. */
export interface PaymentBackend extends AsyncDisposable {
  readonly processor: PaymentProcessor;
  readonly facilitator: Facilitator;
  readonly chain: ChainReader;
  readonly readiness: Readiness;
  /** Resolves once it is known whether payments can be taken now; where not, it goes on asking. Never throws. */
  start(): Promise<void>;
}

/**
 * Opens it without asking anybody anything: neither chain nor facilitator need be there. To be imported by `lateBackend`
 * alone: what it stands on takes a moment, and memory, to load.
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
    processor: new FacilitatorProcessor({ facilitator, chain, isReady: () => watch.state.ready }),
    facilitator,
    chain,
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
