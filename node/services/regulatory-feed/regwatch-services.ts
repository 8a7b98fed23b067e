import type { Logger } from 'pino';
import type { Intake } from '../../intake/intake.ts';
import { ItemIntake } from './item-intake.ts';
import { RegFeed } from './reg-feed.ts';
import { readSources } from './sources.ts';
import { SourceWatch } from './source-watch.ts';
import type { Store } from '../../store/store.ts';

/** The regulatory feed: what comes in, what is told of it, and the sources that it comes from. */
export interface RegwatchServices {
  readonly regItems: ItemIntake;
  readonly regFeed: RegFeed;
  readonly regSources: SourceWatch;
}

interface RegwatchServicesOptions {
  readonly store: Store;
  readonly intake: Pick<Intake, 'submitAll' | 'recorded'>;
  readonly now: () => number;
  /** In [0, 1). */
  readonly random?: () => number;
  readonly log: Logger;
  readonly config: {
    /** File that names the sources; null where nobody is asked. */
    readonly regwatchSources: string | null;
  };
  /** Throws where there is none for records. */
  readonly storageGuard: { requireCapacity(): void };
}

/** Opens the feed; `regSources` asks nobody before it is started. Throws `SourcesError`. */
export async function openRegwatchServices(options: RegwatchServicesOptions): Promise<RegwatchServices> {
  const { store, intake, now, random = Math.random, log, config, storageGuard } = options;
  const regItems = new ItemIntake({ store, intake, now, requireStorage: () => storageGuard.requireCapacity() });
  const sources = await readSources(config.regwatchSources);
  return {
    regItems,
    regFeed: new RegFeed(store, () => intake.recorded),
    regSources: new SourceWatch({
      store,
      sources,
      items: regItems,
      now,
      random,
      log: log.child({ component: 'regwatch' }),
    }),
  };
}
