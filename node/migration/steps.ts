import type { MigrationStep } from './migration-step.ts';
import { payloadKeyStep } from './payload-keys.ts';

/** From `MIGRATED_FORMAT` to `STORE_FORMAT`, in order. */
export const MIGRATION_STEPS: readonly MigrationStep[] = [payloadKeyStep];
