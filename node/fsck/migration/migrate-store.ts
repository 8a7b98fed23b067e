import { join } from 'node:path';
import type { Logger } from 'pino';
import { readHead } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { isSeed, keyRow, payloadKeyTable, preparedKeyTable } from '../../records/payload/payload-keys.ts';
import { hasPayload } from '../../records/payload/payload-tables.ts';
import { splitTexts } from '../../records/record-lines.ts';
import { bodyTable } from '../../records/record-tables.ts';
import { formatTable, MIGRATING_KEY, requireFormat, STORE_FORMAT } from '../../store/format.ts';
import type { Operation } from '../../store/operation.ts';
import { type Rows, Store, type StoreOptions } from '../../store/store.ts';
import { removeAbandoned } from '../work-folders.ts';
import { linkedStep } from './linked-marks.ts';
import type { MigrationStep } from './migration-step.ts';
import { renewProjections } from './projections.ts';
import { sourcesStep } from './sources.ts';
import { timeStepsStep } from './time-steps.ts';

/** Operations after which a write is full. One row of bodies adds 65 at most. */
const WRITE_OPERATIONS = 256;

/**
 * Seeds of payloads' keys, which stood each under its record's id, move to rows of neighbouring records: one for each
 * row of bodies. Where all of a row were erased it is a row of zeros; where the records were taken back from other
 * members, which never had their payloads, there is none. Seeds of records that are prepared for a payment stay, and so
 * does one that is not of the form of a seed, or whose record does not read.
 */
export const payloadKeyStep: MigrationStep = {
  name: 'payload keys',
  from: 3,
  async run({ store, node, moved }) {
    if (node === null) return;
    let operations: Operation[] = [];
    const flush = async (): Promise<void> => {
      if (operations.length === 0) return;
      await store.write(operations);
      moved(operations.filter(({ type }) => type === 'del').length);
      operations = [];
    };
    const prefix = bodyTable.key(node);
    for await (const [key, bytes] of store.range({ gte: `${prefix}/`, lt: `${prefix}0` })) {
      const first = Number(key.slice(prefix.length + 1));
      operations.push(...(await keysOfRow(store, node, first, idsOf(bytes))));
      if (operations.length >= WRITE_OPERATIONS) await flush();
    }
    await flush();
  },
};

async function keysOfRow(
  store: Rows,
  node: NodeId,
  first: number,
  ids: readonly (RecordId | undefined)[],
): Promise<readonly Operation[]> {
  if ((await store.get(payloadKeyTable.key(node, first))) !== undefined) return [];
  const known = ids.filter((id) => id !== undefined);
  const found = await store.getMany(known.map((id) => preparedKeyTable.key(id)));
  const seeds = new Map<RecordId, Uint8Array>();
  known.forEach((id, i) => {
    const seed = found[i];
    if (seed !== undefined && isSeed(seed)) seeds.set(id, seed);
  });
  if (seeds.size === 0 && !(await hasPayload(store, first))) return [];
  const row = keyRow(ids.map((id) => (id === undefined ? null : (seeds.get(id) ?? null))));
  return [payloadKeyTable.put([node, first], row), ...[...seeds.keys()].map((id) => preparedKeyTable.del(id))];
}

/** Ids of the records of a row of bodies, undefined where one does not read. None where the row does not. */
function idsOf(bytes: Uint8Array): readonly (RecordId | undefined)[] {
  try {
    return splitTexts(bodyTable.decode(bytes)).map(({ head }) => idOf(head));
  } catch {
    return [];
  }
}

function idOf(head: string): RecordId | undefined {
  try {
    return readHead(head).id;
  } catch {
    return undefined;
  }
}

/** Up to `STORE_FORMAT`, in order. */
export const MIGRATION_STEPS: readonly MigrationStep[] = [payloadKeyStep, sourcesStep, linkedStep, timeStepsStep];

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
 * Crash order: the first write says that the store is being migrated, which no release but this and later ones opens;
 * each step moves rows and can be run again; the last write takes that word back. Throws `StoreError`, `format` where
 * the store's format is not migrated.
 */
export async function migrateStore(store: Rows, options: MigrationOptions): Promise<void> {
  const from = await requireFormat(store);
  if (from === 'current') return;
  const { node, log, steps = MIGRATION_STEPS } = options;
  log?.info({ from, to: STORE_FORMAT }, 'the store is migrated');
  const version = formatTable.put(['store'], STORE_FORMAT);
  await store.write([version, formatTable.put(['migrating'], from)]);
  for (const step of steps) {
    if (step.from < from) continue;
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

type NodeStoreOptions = StoreOptions & Partial<MigrationOptions>;

/**
 * Opens the store of a node's home for use: what killed checks left of it is removed, a new one is made of the format
 * in force, one of an earlier format is migrated first, and rows that this release derives otherwise are made again.
 * Throws `StoreError`, `format` where it is of another one, and the file system's error where something cannot be
 * removed: what is erased from now on would stay in it.
 */
export async function openNodeStore(home: string, options: NodeStoreOptions = {}): Promise<Store> {
  const { node = null, log = null, ...rest } = options;
  await using opening = new AsyncDisposableStack();
  const store = opening.use(await Store.open(join(home, 'store'), options));
  await removeAbandoned(home, null);
  await beginFormat(store);
  await migrateStore(store, { ...rest, node, log });
  if (node !== null) await renewProjections(store, node, log);
  opening.move();
  return store;
}
