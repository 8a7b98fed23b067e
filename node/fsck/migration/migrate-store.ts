import type { Logger } from 'pino';
import type { NodeId } from '../../../protocol/ids.ts';
import { formatTable, MIGRATED_FORMAT, MIGRATING_KEY, requireFormat, STORE_FORMAT } from '../../store/format.ts';
import type { Rows } from '../../store/store.ts';
import type { MigrationStep } from './migration-step.ts';
import { payloadKeyStep } from './payload-keys.ts';
import { sourcesStep } from './sources.ts';

/** From `MIGRATED_FORMAT` to `STORE_FORMAT`, in order. */
export const MIGRATION_STEPS: readonly MigrationStep[] = [payloadKeyStep, sourcesStep];

export interface MigrationOptions {
  /** Whose store it is; null where the caller does not know. */
  readonly node: NodeId | null;
  /** Null: nobody is told. */
  readonly log: Pick<Logger, 'info'> | null;
  /** Default: those of this release. */
  readonly steps?: readonly MigrationStep[];
}

/** Rows between two words of progress. */
const ROWS_BETWEEN_WORDS = 100_000;

/**
 * Migrates a store to the format in force; one that is of it stays as it is. Nothing else may use the store meanwhile.
 *
 * Crash order: the first write says that the store is being migrated, which no release but this and later ones opens; each
 * step moves rows and can be run again; the last write takes that word back. Throws `StoreError`, `format` where the
 * store's format is not migrated.
 */
export async function migrateStore(store: Rows, options: MigrationOptions): Promise<void> {
  if ((await requireFormat(store)) === 'current') return;
  const { node, log, steps = MIGRATION_STEPS } = options;
  log?.info({ from: MIGRATED_FORMAT, to: STORE_FORMAT }, 'the store is migrated');
  const version = formatTable.put(['store'], STORE_FORMAT);
  await store.write([version, formatTable.put(['migrating'], MIGRATED_FORMAT)]);
  for (const step of steps) {
    let rows = 0;
    let told = 0;
    const moved = (more: number): void => {
      rows += more;
      if (rows - told < ROWS_BETWEEN_WORDS) return;
      told = rows;
      log?.info({ step: step.name, rows }, 'the store is being migrated');
    };
    await step.run({ store, node, moved });
    log?.info({ step: step.name, rows }, 'a step of the migration is over');
  }
  await store.write([{ type: 'del', key: MIGRATING_KEY }]);
  log?.info({ format: STORE_FORMAT }, 'the store is of this format now');
}

/** The first row of a new store. */
export async function beginFormat(store: Rows): Promise<void> {
  if ((await store.first({})) === undefined) await store.write([formatTable.put(['store'], STORE_FORMAT)]);
}
