import { type Reads, StoreError } from './store.ts';
import { numberCodec, Table } from './table.ts';

/**
 * What the rows of a store mean. Goes up with every change of it, and from the first release on each change migrates.
 * 2: a log entry begins with the running hash before its message, and false checkpoints stand under their size. 3:
 * every group of a batch is by the key of its envelope. 4: the payload keys of neighbouring records share a row, and so
 * do a group's records of one source in the index of sources. 5: a row says of each record that others link to it. 6: a
 * row says where the time of the own records goes back.
 */
export const STORE_FORMAT = 6;
/** The earlier formats that are migrated. */
const MIGRATED_FORMATS = [3, 4, 5] as const;

export type MigratedFormat = (typeof MIGRATED_FORMATS)[number];

/**
 * (`store`) → version of the store's format, the first row that is written; (`migrating`) → version that is migrated
 * from.
 */
export const formatTable = new Table('format', numberCodec);
export const FORMAT_KEY = formatTable.key('store');
/** Its row is there while the store is migrated, so that no release takes a part of either format for the whole. */
export const MIGRATING_KEY = formatTable.key('migrating');

/** A format: rows are still to be migrated from it, all of them or what a migration left that was stopped. */
export type FormatState = 'current' | MigratedFormat;

/**
 * Throws `StoreError` `format` where a store has rows of a format that this release does not read. Its message, one
 * line, says what to do.
 */
export async function requireFormat(store: Reads): Promise<FormatState> {
  if ((await store.first({})) === undefined) return 'current';
  const row = await store.get(FORMAT_KEY);
  if (row === undefined) {
    const what = 'the store is of the 0.1 release, and this one does not read it';
    throw new StoreError('format', `${what}: start with an empty home, or use the 0.1 release`);
  }
  const version = versionOf(row);
  const migrating = await store.get(MIGRATING_KEY);
  if (version === STORE_FORMAT && migrating === undefined) return 'current';
  const isKnown = version === STORE_FORMAT || isMigrated(version);
  // A migration to an earlier format that was stopped is gone on with from where that one began.
  const from = migrating === undefined ? version : versionOf(migrating);
  if (isKnown && isMigrated(from)) return from;
  const what = `the store is of format ${version ?? 'unknown'}, and this release reads format ${STORE_FORMAT}`;
  throw new StoreError('format', `${what}: start with an empty home, or use the release that wrote it`);
}

function isMigrated(version: number | undefined): version is MigratedFormat {
  return MIGRATED_FORMATS.some((format) => format === version);
}

function versionOf(row: Uint8Array): number | undefined {
  try {
    return formatTable.decode(row);
  } catch {
    return undefined;
  }
}
