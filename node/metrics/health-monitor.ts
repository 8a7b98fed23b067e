import type { Logger } from 'pino';
import type { Anchoring } from '../anchoring/anchoring.ts';
import { PeriodicTask } from '../concurrency/periodic-task.ts';
import type { FederationSync } from '../federation/federation.ts';
import type { LogFollower } from '../federation/log-follower.ts';
import type { MemberClocks } from '../log/member-clocks.ts';
import type { Sealer } from '../intake/sealing/sealer.ts';
import type { Intake } from '../intake/intake.ts';
import type { StorageGuard, StorageLevel } from '../accounts/limits/storage-guard.ts';
import type { NodeStart } from '../federation/start/node-start.ts';
import type { StartWait } from '../federation/start/start-rule.ts';
import type { Store } from '../store/store.ts';

export interface Health {
  /** `full`: no storage for more records. `warn`: free disk space is low. `failing`: the store refuses writes. */
  readonly storage: StorageLevel | 'failing';
  /**
   * `closed`: its chain cannot go on, for good. `contradicted`: most members have another log than its own.
   * `halted`: peers hold another history of this node's chain, and it signs nothing more. `recovering`: it has
   * started and does not know yet how far its chain goes. `clock-off`: most members' clocks differ from its own.
   * `removed`: no roster in force names it any more; it records nothing.
   * `refused`: its own records make no batch that a member would derive, and it signs nothing more.
   */
  readonly signer:
    | 'ok'
    | 'clock-off'
    | 'closed'
    | 'contradicted'
    | 'failing'
    | 'halted'
    | 'recovering'
    | 'refused'
    | 'removed';
  readonly ledger: 'ok' | 'delayed' | 'unreachable';
  /** Records waiting for their group. */
  readonly queueDepth: number;
  /** What a node that is `recovering` waits for. */
  readonly waits: readonly StartWait[];
  /** Of a node that was removed: whether it is done, and may be stopped. Null for a member. */
  readonly removed: { readonly released: boolean } | null;
}

interface HealthSources {
  readonly store: Pick<Store, 'failing' | 'recover'>;
  readonly intake: Pick<Intake, 'signerFailing' | 'queued'>;
  readonly anchoring: Pick<Anchoring, 'state'>;
  readonly federation: Pick<FederationSync, 'halted'>;
  readonly sealer: Pick<Sealer, 'refusal'>;
  readonly follower: Pick<LogFollower, 'removal'> & { readonly clocks: Pick<MemberClocks, 'isOff'> };
  readonly start: Pick<NodeStart, 'pending' | 'waits'>;
  readonly storageGuard: Pick<StorageGuard, 'check'>;
  readonly log: Logger;
}

/** How often the state of ledger and store is looked at, in milliseconds. */
const LOOK_MS = 2_000;
/** Age of the oldest unconfirmed batch from which the ledger counts as delayed, in seconds. */
const DELAYED_SECONDS = 90;

/**
 * Keeps the answer of `/v1/health` at hand, so that asking it costs nothing. A store that refuses writes is asked to
 * recover: nobody sends records to a node that says it takes none.
 */
export class HealthMonitor implements AsyncDisposable {
  readonly #context: HealthSources;
  #ledger: Health['ledger'] = 'ok';
  readonly #task = new PeriodicTask(LOOK_MS, () => this.#look());

  private constructor(context: HealthSources) {
    this.#context = context;
  }

  static async start(context: HealthSources): Promise<HealthMonitor> {
    const monitor = new HealthMonitor(context);
    await monitor.#task.now();
    monitor.#task.start(LOOK_MS);
    return monitor;
  }

  get health(): Health {
    const { intake, store, storageGuard, start, follower, federation } = this.#context;
    const { removal } = follower;
    const isRemoved = removal !== null || federation.halted === 'removed';
    return {
      storage: store.failing ? 'failing' : storageGuard.check(),
      signer: this.#signer(),
      ledger: this.#ledger,
      queueDepth: intake.queued,
      waits: start.pending ? start.waits : [],
      removed: isRemoved ? { released: removal?.isReleased === true } : null,
    };
  }

  #signer(): Health['signer'] {
    const { intake, federation, sealer, follower, start } = this.#context;
    if (sealer.refusal !== null) return 'refused';
    const { halted } = federation;
    if (halted === 'closed' || halted === 'contradicted' || halted === 'removed') return halted;
    if (halted !== null) return 'halted';
    if (start.pending) return 'recovering';
    if (intake.signerFailing) return 'failing';
    return follower.clocks.isOff ? 'clock-off' : 'ok';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    await this.#recoverStore();
    try {
      const { ledger, lagSeconds } = await this.#context.anchoring.state();
      const late = lagSeconds > DELAYED_SECONDS ? 'delayed' : 'ok';
      this.#ledger = ledger.reachable === false ? 'unreachable' : late;
    } catch (error) {
      this.#context.log.error({ err: error }, 'the state of anchoring could not be read');
    }
  }

  async #recoverStore(): Promise<void> {
    const { store, log } = this.#context;
    if (!store.failing) return;
    try {
      await store.recover();
      log.info('the store takes writes again');
    } catch (error) {
      log.error({ err: error }, 'the store refuses writes');
    }
  }
}
