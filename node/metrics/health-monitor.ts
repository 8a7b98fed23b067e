import type { Logger } from 'pino';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { Federation } from '../federation/federation.ts';
import type { Intake } from '../intake/intake.ts';

export interface Health {
  readonly storage: 'ok' | 'failing';
  /** `halted`: peers hold another history of this node's chain, and it signs nothing more. */
  readonly signer: 'ok' | 'halted';
  readonly ledger: 'ok' | 'delayed' | 'unreachable';
  /** Records waiting for their group. */
  readonly queueDepth: number;
}

interface HealthSources {
  readonly intake: Pick<Intake, 'failing' | 'queued'>;
  readonly anchoring: Pick<Anchoring, 'state'>;
  readonly federation: Pick<Federation, 'halted'>;
  readonly log: Logger;
}

/** How often the ledger's state is looked at, in milliseconds. */
const LOOK_MS = 2_000;
/** Age of the oldest unconfirmed batch from which the ledger counts as delayed, in seconds. */
const DELAYED_SECONDS = 90;

/** Keeps the answer of `/v1/health` at hand, so that asking it costs nothing. */
export class HealthMonitor implements AsyncDisposable {
  readonly #context: HealthSources;
  #ledger: Health['ledger'] = 'ok';
  readonly #timer: NodeJS.Timeout;

  private constructor(context: HealthSources) {
    this.#context = context;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
  }

  static async start(context: HealthSources): Promise<HealthMonitor> {
    const monitor = new HealthMonitor(context);
    await monitor.#look();
    return monitor;
  }

  get health(): Health {
    const { intake, federation } = this.#context;
    return {
      storage: intake.failing ? 'failing' : 'ok',
      signer: federation.halted === null ? 'ok' : 'halted',
      ledger: this.#ledger,
      queueDepth: intake.queued,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    try {
      const { ledger, lagSeconds } = await this.#context.anchoring.state();
      const late = lagSeconds > DELAYED_SECONDS ? 'delayed' : 'ok';
      this.#ledger = ledger.reachable === false ? 'unreachable' : late;
    } catch (error) {
      this.#context.log.error({ err: error }, 'the state of anchoring could not be read');
    }
  }
}
