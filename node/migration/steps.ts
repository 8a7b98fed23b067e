import type { MigrationStep } from './migration-step.ts';
import { sourcesStep } from './sources-step.ts';

/** From `MIGRATED_FORMAT` to `STORE_FORMAT`, in order. */
export const MIGRATION_STEPS: readonly MigrationStep[] = [sourcesStep];
