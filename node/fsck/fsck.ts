import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeId } from '../../protocol/ids.ts';
import { AgentKeyCipher } from '../governance/agents/agent-key-cipher.ts';
import { migrateStore } from './migration/migrate-store.ts';
import { PaymentCipher } from '../payments/payment-cipher.ts';
import type { Passphrase } from '../keys/passphrase.ts';
import { PayloadCipher } from '../records/payload/payload-cipher.ts';
import { ownerOfKeys } from '../records/payload/payload-keys.ts';
import { checkLevelDbFiles } from '../store/leveldb/check-files.ts';
import { FORMAT_KEY, formatTable, MIGRATED_FORMAT, requireFormat } from '../store/format.ts';
import { type Store, StoreError } from '../store/store.ts';
import { checkChains } from './check-chains.ts';
import { checkEditions } from './check-lists.ts';
import { checkKeyFiles, ownerOf } from './key-files.ts';
import { checkKeys } from './check-keys.ts';
import { GroupChecks } from './group-checks.ts';
import { ProvenRanges, type Remembering, storeIdentity } from './proven-ranges.ts';
import { Report, type ReportListener } from './report.ts';
import { reasonOf } from './rows.ts';
import { StoreView } from './store-view.ts';
import { findUnknownTables, TABLE_CHECKS } from './tables.ts';

export type FsckErrorCode = 'no-store' | 'locked' | 'unreadable' | 'format';

/** The check cannot be made. Says nothing about the store. */
export class FsckError extends Error {
  override readonly name = 'FsckError';
  readonly code: FsckErrorCode;

  constructor(code: FsckErrorCode, message: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export interface FsckResult {
  /** Whose store it is; null where nothing tells. */
  readonly node: NodeId | null;
  /** Eight hex digits of the federation that its rosters found; null where it has none. */
  readonly federation: string | null;
  readonly report: Report;
}

export interface FsckOptions extends ReportListener {
  readonly signal?: AbortSignal;
  /** Opens the key files. */
  readonly passphrase?: Passphrase | null;
  /** Threads beside this one; 0: none. Default: as many as there are processors, up to three, where the store is large. */
  readonly threads?: number | undefined;
  /** Keeps in the home, until it has come to its end, what was found whole. Default: nothing is kept. */
  readonly remembering?: Remembering;
}

/**
 * Proves a stopped node's home whole: files first, then every row, each re-derived from what is signed. Changes nothing
 * in the store and keeps nodes out of it meanwhile. Where files are damaged the rows are not looked at. Throws
 * `FsckError` where it cannot be checked, and the signal's reason. A store of the format before is migrated in the view
 * that is checked, and stays as it is.
 */
export async function fsck(home: string, options: FsckOptions = {}): Promise<FsckResult> {
  const { signal } = options;
  const directory = join(home, 'store');
  if (!(await isDirectory(directory))) {
    throw new FsckError('no-store', `${home} is no home of a node: it has no store/`);
  }
  const report = new Report(options);
  try {
    await using view = await StoreView.open(home, directory);
    await checkFiles(directory, report, signal);
    if (report.found('problem') > 0) {
      report.notChecked.push('rows: the files of the store are damaged');
      await checkKeyFiles(home, report, options.passphrase);
      return { node: null, federation: null, report };
    }
    return await checkRows(home, await view.rows(), report, options);
  } catch (error) {
    signal?.throwIfAborted();
    throw asFsckError(error) ?? error;
  }
}

async function checkFiles(directory: string, report: Report, signal: AbortSignal | undefined): Promise<void> {
  for await (const { severity, file, offset, code, detail } of checkLevelDbFiles(directory, signal)) {
    const key = offset === null ? file : `${file}@${offset}`;
    report.find({ severity, table: 'files', key, detail: `${code}: ${detail}` });
  }
}

async function checkRows(
  home: string,
  store: Store,
  report: Report,
  { signal, passphrase, threads, remembering }: FsckOptions,
): Promise<FsckResult> {
  const format = await requireFormat(store);
  const keys = await checkKeys({ store, report, signal });
  const files = await checkKeyFiles(home, report, passphrase);
  const own = ownerOf(files, keys, report) ?? (await ownerOfKeys(store));
  if (format === 'earlier') {
    const what = `the store is of format ${MIGRATED_FORMAT}: it was checked as the node migrates it when it starts`;
    report.warning(formatTable.name, FORMAT_KEY, what);
    await migrateStore(store, { node: own, log: null });
  }
  await findUnknownTables(store, report);
  const { payloadKey } = files;
  const cipher = payloadKey === null ? null : new PayloadCipher(payloadKey);
  const agentKeys = payloadKey === null ? null : new AgentKeyCipher(payloadKey);
  const held = payloadKey === null ? null : new PaymentCipher(payloadKey);
  await using groupChecks = new GroupChecks({ payloadKey, threads, signal });
  const check = { store, report, keys, own, cipher, agentKeys, held, signal };
  const proven = remembering === undefined ? null : await openProven(home, own, payloadKey, remembering);
  try {
    await checkChains(check, { groupChecks, proven });
    for (const table of TABLE_CHECKS) await table.run(check);
    await checkEditions(home, check);
  } catch (error) {
    await proven?.save();
    throw error;
  }
  await proven?.remove();
  return { node: own, federation: keys?.rosters.digest ?? null, report };
}

async function openProven(
  home: string,
  own: NodeId | null,
  payloadKey: Uint8Array | null,
  remembering: Remembering,
): Promise<ProvenRanges> {
  const store = await storeIdentity(join(home, 'store'), own);
  return ProvenRanges.open({ home, store, payloadKey }, remembering);
}

/** What the file system and LevelDB refuse; any other error is a fault of the check itself. */
function asFsckError(error: unknown): FsckError | undefined {
  if (error instanceof StoreError && error.code === 'locked') {
    return new FsckError('locked', 'the store is open in another process: stop the node first', error);
  }
  if (error instanceof StoreError && error.code === 'format') return new FsckError('format', error.message, error);
  const isRefusal = error instanceof StoreError || (error instanceof Error && 'code' in error);
  return isRefusal ? new FsckError('unreadable', `the store cannot be checked: ${reasonOf(error)}`, error) : undefined;
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
