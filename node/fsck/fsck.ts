import { link, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeBase64url } from '../../protocol/bytes.ts';
import { isNodeId, type NodeId } from '../../protocol/ids.ts';
import { restorationTable } from '../federation/start/restoration-table.ts';
import { AgentKeyCipher } from '../governance/agents/agent-key-cipher.ts';
import { KEY_FILE_PURPOSES, KeyFileError, keyFilePath, type KeyFilePurpose, readKeyAt } from '../keys/key-file.ts';
import { nativeSigner } from '../keys/native-suite.ts';
import type { Passphrase } from '../keys/passphrase.ts';
import { PaymentCipher } from '../payments/payment-cipher.ts';
import { PayloadCipher } from '../records/payload/payload-cipher.ts';
import { ownerOfKeys } from '../records/payload/payload-keys.ts';
import { FORMAT_KEY, formatTable, requireFormat } from '../store/format.ts';
import { checkLevelDbFiles } from '../store/leveldb/check-files.ts';
import { Store, StoreError } from '../store/store.ts';
import { checkChains } from './check-chains.ts';
import { checkKeys } from './check-keys.ts';
import { checkEditions } from './check-lists.ts';
import type { ProvenKeys } from './check.ts';
import { GroupChecks } from './group-checks.ts';
import { migrateStore } from './migration/migrate-store.ts';
import { ProvenRanges, type Remembering, storeIdentity } from './proven-ranges.ts';
import { Report, type ReportListener } from './report.ts';
import { distinctParts, reasonOf } from './rows.ts';
import { findUnknownTables, TABLE_CHECKS } from './tables.ts';
import { makeWorkFolder, removeAbandoned } from './work-folders.ts';

const LOCK = 'LOCK';
/** Rows are read once, in order or by keys that ascend with them: more would only stand in memory. In bytes. */
const BUFFER_BYTES = 16 << 20;
/** Text for people: LevelDB would start it again in the view. */
const NOT_LINKED = new Set([LOCK, 'LOG', 'LOG.old']);

/**
 * A store held still while it is checked, and never written: its lock file, linked into another database, keeps nodes
 * out for as long as this lives; its data files, linked into a third, can be opened, which folds their log into a table
 * there. LevelDB replaces files and never writes into one it finds, so the originals keep every byte.
 */
export class StoreView implements AsyncDisposable {
  readonly #work: string;
  /** Of the store's own files. */
  readonly directory: string;
  readonly #resources: AsyncDisposableStack;

  private constructor(work: string, directory: string, resources: AsyncDisposableStack) {
    this.#work = work;
    this.directory = directory;
    this.#resources = resources;
  }

  /**
   * Throws `FsckError` `no-store`, `StoreError` `locked` while another process has the store open, and the file system's
   * error.
   */
  static async open(home: string): Promise<StoreView> {
    const directory = join(home, 'store');
    if (!(await isDirectory(directory))) {
      throw new FsckError('no-store', `${home} is no home of a node: it has no store/`);
    }
    await using opening = new AsyncDisposableStack();
    const work = await makeWorkFolder(home);
    opening.defer(() => rm(work, { recursive: true, force: true }));
    const names = await readdir(directory);
    if (names.includes(LOCK)) {
      const holder = join(work, 'lock');
      await mkdir(holder);
      await link(join(directory, LOCK), join(holder, LOCK));
      opening.use(await Store.open(holder));
      await removeAbandoned(home, work);
    }
    return new StoreView(work, directory, opening.move());
  }

  /** Opens the rows. Only sensible once the files are known to be whole: LevelDB passes over damage in silence. */
  async rows(): Promise<Store> {
    const view = join(this.#work, 'rows');
    await mkdir(view);
    for (const name of await readdir(this.directory)) {
      if (!NOT_LINKED.has(name)) await link(join(this.directory, name), join(view, name));
    }
    return this.#resources.use(await Store.open(view, { createIfMissing: false, bufferBytes: BUFFER_BYTES }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

export type FsckErrorCode = 'no-store' | 'locked' | 'unreadable' | 'format' | 'passphrase';

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
  /**
   * Threads beside this one; 0: none. Default: as many as there are processors, up to three, where the store is large.
   */
  readonly threads?: number | undefined;
  /** Keeps in the home, until it has come to its end, what was found whole. Default: nothing is kept. */
  readonly remembering?: Remembering;
}

/**
 * Proves a stopped node's home whole: key files and files of the store, then every row, each re-derived from what is
 * signed. Changes nothing in the store and keeps nodes out of it meanwhile. Where files are damaged the rows are not
 * looked at. Throws `FsckError` where it cannot be checked, and the signal's reason. A store of an earlier format is
 * migrated in the view that is checked, and stays as it is.
 */
export async function fsck(home: string, options: FsckOptions = {}): Promise<FsckResult> {
  const { signal } = options;
  const report = new Report(options);
  try {
    await using view = await StoreView.open(home);
    const keyFiles = await checkKeyFiles(home, report, options.passphrase);
    if (!(await checkFiles(view.directory, report, signal))) {
      report.notChecked.push('rows: the files of the store are damaged');
      return { node: null, federation: null, report };
    }
    return await checkRows(home, await view.rows(), keyFiles, report, options);
  } catch (error) {
    signal?.throwIfAborted();
    throw asFsckError(error) ?? error;
  }
}

/** Whether the files of the store have no problem. */
async function checkFiles(directory: string, report: Report, signal: AbortSignal | undefined): Promise<boolean> {
  let isWhole = true;
  for await (const { severity, file, offset, code, detail } of checkLevelDbFiles(directory, signal)) {
    const key = offset === null ? file : `${file}@${offset}`;
    report.find({ severity, table: 'files', key, detail: `${code}: ${detail}` });
    if (severity === 'problem') isWhole = false;
  }
  return isWhole;
}

async function checkRows(
  home: string,
  store: Store,
  files: KeyFiles,
  report: Report,
  { signal, threads, remembering }: FsckOptions,
): Promise<FsckResult> {
  const format = await requireFormat(store);
  const keys = await checkKeys({ store, report, signal });
  const own = ownerOf(files, keys, report) ?? (await ownerOfKeys(store)) ?? (await ownerOfCopy(store));
  if (format !== 'current') {
    const what = `the store is of format ${format}: it was checked as the node migrates it when it starts`;
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

/** Whose store it is, by the row that every copy carries; null where there is none, or they name several nodes. */
async function ownerOfCopy(store: Store): Promise<NodeId | null> {
  const [node = '', ...others] = await Array.fromAsync(distinctParts(store, restorationTable.name));
  return isNodeId(node) && others.length === 0 ? node : null;
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
  if (error instanceof FsckError) return error;
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

interface KeyFiles {
  /** Public identity key in its written form; null where it cannot be read. */
  readonly identityKey: string | null;
  readonly payloadKey: Uint8Array | null;
}

/**
 * Reads every key file of a home. A home without any (a store restored alone) is told and is no problem, and so are
 * encrypted ones to a checker that has no passphrase. Throws `FsckError` `passphrase` where it opens none of them.
 */
async function checkKeyFiles(home: string, report: Report, passphrase: Passphrase | null = null): Promise<KeyFiles> {
  const directory = join(home, 'keys');
  const names = await filesOf(directory);
  if (!KEY_FILE_PURPOSES.some((purpose) => names.includes(`${purpose}.key`))) {
    report.notChecked.push('key files: the home has none', 'payloads: there is no payload key to open them with');
    return { identityKey: null, payloadKey: null };
  }
  const secrets = new Map<KeyFilePurpose, Uint8Array>();
  const locked: [KeyFilePurpose, KeyFileError][] = [];
  let opened = 0;
  for (const purpose of KEY_FILE_PURPOSES) {
    try {
      const { secret, encrypted } = await readKeyAt(keyFilePath(directory, purpose), purpose, passphrase);
      secrets.set(purpose, secret);
      report.count('keyFiles');
      if (encrypted) opened++;
    } catch (error) {
      const isLocked = error instanceof KeyFileError && error.fault === 'locked';
      if (isLocked) locked.push([purpose, error]);
      else report.problem('keys', `${purpose}.key`, reasonOf(error));
    }
  }
  const [first] = locked;
  if (passphrase !== null && first !== undefined && opened === 0) throw new FsckError('passphrase', first[1].message);
  for (const [purpose, error] of locked) {
    if (passphrase === null) report.notChecked.push(`${purpose}.key: it is encrypted`);
    else report.problem('keys', `${purpose}.key`, error.message);
  }
  const identity = secrets.get('identity');
  const payloadKey = secrets.get('payload') ?? null;
  if (payloadKey === null) report.notChecked.push('payloads: there is no payload key to open them with');
  return {
    identityKey: identity === undefined ? null : encodeBase64url(nativeSigner(identity).publicKey),
    payloadKey,
  };
}

/** The member whose identity key the home holds. Reports an identity that no roster names. */
function ownerOf({ identityKey }: KeyFiles, keys: ProvenKeys | null, report: Report): NodeId | null {
  if (identityKey === null || keys === null) return null;
  for (const roster of keys.rosters.rosters.toReversed()) {
    const member = roster.members.find((candidate) => candidate.identityKey === identityKey);
    if (member !== undefined) return member.node;
  }
  report.problem('keys', 'identity.key', 'is not the identity key of any member in the rosters of the store');
  return null;
}

async function filesOf(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch {
    return [];
  }
}
