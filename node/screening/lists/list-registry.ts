import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import { isRecordId } from '../../../protocol/ids.ts';
import { canonicalize } from '../../../protocol/json/canonical.ts';
import { isTimestamp, type Timestamp, timestampOf } from '../../../protocol/time.ts';
import { KeyedLock } from '../../concurrency/keyed-lock.ts';
import type { Draft } from '../../intake/draft.ts';
import { readRecord } from '../../records/record-reader.ts';
import type { Store } from '../../store/store.ts';
import { LISTS } from './catalogue.ts';
import type { Edition, ListedEntry, Lists } from './contract.ts';
import { manifestIn, readEditionEntries } from './edition-files.ts';
import { type EditionManifest, isSample, SAMPLE_FILE } from './edition-manifest.ts';
import { editionDirectory, type IncomingFile, intactEdition, removeStaging, stageEdition } from './edition-staging.ts';
import { editionVersion } from './freshness.ts';
import { ListError } from './list-error.ts';
import { LIST_IDS, type ListId } from './list-id.ts';
import { attestedEdition, hashPart, listEditionTable, listImportTable } from './list-tables.ts';

/** The name that the records of lists stand under. No account can have it: it holds a colon. */
const LISTS_ACCOUNT = 'meridian:lists';
/** Each list is a source of its own, so that its editions form one chain. */
const LISTS_SOURCE = 'meridian/lists';

/** Where a node has an edition from. */
interface EditionOrigin {
  readonly kind: 'import' | 'update';
  /** Addresses that the files were fetched from; of an import none. */
  readonly urls: readonly string[];
  /** Whether an operator confirmed that it is much smaller than the one before. */
  readonly shrinkAccepted: boolean;
  /** Whether it was in force already. */
  readonly unchanged: boolean;
}

/** What intake records of an edition that came into force, or was found unchanged. */
function editionDraft(
  edition: Omit<Edition, 'attestationId'>,
  { names, addressCount }: EditionManifest,
  origin: EditionOrigin,
): Draft {
  const { listId, fileHash, retrievedAt, files } = edition;
  const payload = {
    ...edition,
    files: files.map(({ name, sha256, bytes }) => ({ name, sha256, bytes })),
    names: { ...names },
    addressCount,
    origin: { ...origin, urls: [...origin.urls] },
  };
  return {
    kind: 'key_event',
    account: LISTS_ACCOUNT,
    sourceId: `${LISTS_SOURCE}/${listId}`,
    payload: canonicalize(payload),
    claims: {
      channel: 'tiered',
      keyEvent: 'list-edition',
      rawHash: fileHash,
      observedAt: retrievedAt,
      referenceDatabase: [{ id: listId, version: editionVersion(edition), sha256: fileHash }],
    },
    links: {},
  };
}

export interface ListRegistryOptions {
  /** Folder of a node; the lists are in `lists/` below it. */
  readonly home: string;
  readonly store: Store;
  /** Makes a record and resolves once it is on the disk. */
  readonly attest: (draft: Draft) => Promise<AttestationRecord>;
  readonly now: () => number;
  readonly log: Logger;
}

export interface Incoming {
  readonly files: readonly IncomingFile[];
  readonly origin: Pick<EditionOrigin, 'kind' | 'urls'>;
  /** Takes an edition however much smaller, or older, it is than the one in force, or than a whole one is. */
  readonly acceptShrink?: boolean;
}

export interface Taken {
  readonly edition: Edition;
  /** Whether this very edition was in force already. */
  readonly unchanged: boolean;
}

/** An edition that has less than this share of something of the one in force is refused: see `sizesOf`. */
const LEAST_SHARE = 0.9;
/** Of fewer, the delisting of one is more than a tenth: they count as lost once none is left. */
const FEW = 20;
/** Most rows of companion files without an entry, for each entry that there is: in files of one day there are none. */
const MOST_UNMATCHED = 0.001;

/**
 * The lists of a node. An edition comes into force with the record that attests it: its files are on the disk before,
 * and what names it follows from that record alone. A crash in between leaves files that nothing names.
 *
 * Ownership: of one list, one edition is taken at a time; `#current` moves only once the record is on the disk.
 */
export class ListRegistry implements Lists {
  readonly #options: ListRegistryOptions;
  readonly #root: string;
  readonly #locks = new KeyedLock<ListId>();
  readonly #current = new Map<ListId, Edition>();
  readonly #listeners = new Set<(edition: Edition) => void>();

  constructor(options: ListRegistryOptions) {
    this.#options = options;
    this.#root = join(options.home, 'lists');
  }

  /** Finds the editions in force, also those of records that were taken back from peers. Before anything is taken. */
  async start(): Promise<void> {
    const { store, log } = this.#options;
    for (const listId of LIST_IDS) {
      await removeStaging(this.#root, listId);
      const last = await listImportTable.last(store, [listId]);
      if (last === undefined) continue;
      try {
        this.#current.set(listId, await this.#attested(last[1]));
      } catch (error) {
        if (!(error instanceof ListError)) throw error;
        log.error({ err: error, listId }, 'a list is not there any more; import it again');
      }
    }
  }

  current(): ReadonlyMap<ListId, Edition> {
    return this.#current;
  }

  async edition(listId: ListId, fileHash: Sha256Hash): Promise<Edition | undefined> {
    return this.#readable(await listEditionTable.last(this.#options.store, [listId, hashPart(fileHash)]));
  }

  intact(listId: ListId): Promise<Edition | undefined> {
    return this.#locks.exclusive(listId, async () => {
      const edition = this.#current.get(listId);
      if (edition === undefined) return undefined;
      const { fileHash } = edition;
      if ((await intactEdition(this.directoryOf(edition)))?.fileHash === fileHash) return edition;
      this.#current.delete(listId);
      this.#options.log.error(
        { listId, fileHash },
        'the files of a list are damaged; it is missing until it is taken again',
      );
      return undefined;
    });
  }

  /** Whether an edition was taken, and its files are gone or damaged. */
  async isDamaged(listId: ListId): Promise<boolean> {
    return !this.#current.has(listId) && (await listImportTable.last(this.#options.store, [listId])) !== undefined;
  }

  entries(edition: Pick<Edition, 'listId' | 'fileHash'>): AsyncIterable<ListedEntry> {
    return readEditionEntries(this.directoryOf(edition));
  }

  directoryOf({ listId, fileHash }: Pick<Edition, 'listId' | 'fileHash'>): string {
    return editionDirectory(this.#root, listId, fileHash);
  }

  onChange(listener: (edition: Edition) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Editions of a list that are kept, the one in force too. */
  async kept(listId: ListId): Promise<number> {
    const names = await readdir(join(this.#root, listId)).catch(() => []);
    return names.filter((name) => /^[0-9a-f]{64}$/.test(name)).length;
  }

  /** Brings a new edition into force. Throws `ListError`, and `IntakeError`; then the one in force stays. */
  take(listId: ListId, { files, origin, acceptShrink = false }: Incoming): Promise<Taken> {
    return this.#locks.exclusive(listId, async () => {
      // What is damaged is still what a new edition is compared with, for as long as its manifest reads.
      const before =
        this.#current.get(listId) ?? (await this.#readable(await listImportTable.last(this.#options.store, [listId])));
      if (before?.sample === false && files.some(({ name }) => name === SAMPLE_FILE)) {
        throw new ListError('sample', 'a sample never takes the place of a real list');
      }
      const retrievedAt = timestampOf(this.#options.now());
      const manifest = await stageEdition(this.#root, listId, files);
      if (!acceptShrink) await this.#requireWhole(manifest, before);
      const unchanged = before?.fileHash === manifest.fileHash;
      return this.#putInForce(manifest, retrievedAt, { ...origin, unchanged, shrinkAccepted: acceptShrink });
    });
  }

  /**
   * The edition in force, which `intact` gave, was found unchanged at its source. Throws `ListError` where another one
   * is in force.
   */
  confirm(listId: ListId, fileHash: Sha256Hash, origin: Incoming['origin']): Promise<Taken> {
    return this.#locks.exclusive(listId, async () => {
      const edition = this.#current.get(listId);
      if (edition?.fileHash !== fileHash) throw new ListError('download', 'another edition came into force meanwhile');
      const manifest = await manifestIn(this.directoryOf(edition));
      const retrievedAt = timestampOf(this.#options.now());
      return this.#putInForce(manifest, retrievedAt, { ...origin, unchanged: true, shrinkAccepted: false });
    });
  }

  async #putInForce(manifest: EditionManifest, retrievedAt: Timestamp, origin: EditionOrigin): Promise<Taken> {
    const edition = describe(manifest, retrievedAt);
    const { id } = await this.#options.attest(editionDraft(edition, manifest, origin));
    const inForce = { ...edition, attestationId: id };
    this.#current.set(edition.listId, inForce);
    for (const listener of this.#listeners) listener(inForce);
    return { edition: inForce, unchanged: origin.unchanged };
  }

  /** Throws `ListError`. What is refused and never was in force is not kept. */
  async #requireWhole(manifest: EditionManifest, before: Edition | undefined): Promise<void> {
    if (before?.fileHash === manifest.fileHash || isSample(manifest.files)) return;
    const refusal = lackRefusal(manifest) ?? (await this.#stepBackRefusal(manifest, before));
    if (refusal === undefined) return;
    const { listId, fileHash } = manifest;
    if ((await listEditionTable.last(this.#options.store, [listId, hashPart(fileHash)])) === undefined) {
      await rm(this.directoryOf(manifest), { recursive: true, force: true });
    }
    throw refusal;
  }

  /** A sample may be replaced by anything. */
  async #stepBackRefusal(manifest: EditionManifest, before: Edition | undefined): Promise<ListError | undefined> {
    if (before === undefined || before.sample) return undefined;
    const then = await manifestIn(this.directoryOf(before)).then(sizesOf, () => entriesAndNames(before));
    return ageRefusal(manifest, before) ?? sizeRefusal(sizesOf(manifest), then);
  }

  /** The edition that the record of a row attests; undefined where there is no row, or its files are gone. */
  async #readable(row: readonly [key: unknown, id: string] | undefined): Promise<Edition | undefined> {
    if (row === undefined) return undefined;
    try {
      return await this.#attested(row[1]);
    } catch (error) {
      if (error instanceof ListError) return undefined;
      throw error;
    }
  }

  /** The edition that a record attests. Throws `ListError` where its files are gone. */
  async #attested(id: string): Promise<Edition> {
    const found = isRecordId(id) ? await readRecord(this.#options.store, id) : undefined;
    const attested = found === undefined ? undefined : attestedEdition(found.record);
    const retrievedAt = found?.record.claims.observedAt ?? '';
    if (found === undefined || attested === undefined || !isTimestamp(retrievedAt)) {
      throw new ListError('damaged', `${id} attests no edition`);
    }
    const manifest = await manifestIn(this.directoryOf(attested));
    if (manifest.fileHash !== attested.fileHash || manifest.listId !== attested.listId) {
      throw new ListError('damaged', 'the files of an edition are those of another');
    }
    return { ...describe(manifest, retrievedAt), attestationId: found.record.id };
  }
}

function lackRefusal({ lacks: noted = [], unmatchedRows, entryCount }: EditionManifest): ListError | undefined {
  const unmatched = `${unmatchedRows} rows of its companion files belong to no entry: they may be of another day`;
  const lacks = unmatchedRows > entryCount * MOST_UNMATCHED ? [...noted, unmatched] : noted;
  if (lacks.length === 0) return undefined;
  return new ListError('cut-off', `${lacks.join(', and ')}. --accept-shrink takes it all the same`);
}

/** Of an edition whose files bear an earlier day than those in force: a cache or a mirror may give out what it held. */
function ageRefusal({ fileDate: now }: EditionManifest, { fileDate: then }: Edition): ListError | undefined {
  const [newDay, oldDay] = [now, then].map((date) => /^\d{4}-\d{2}-\d{2}/.exec(date ?? '')?.[0]);
  if (newDay === undefined || oldDay === undefined || newDay >= oldDay) return undefined;
  return new ListError(
    'older',
    `its files are of ${newDay}, those of the edition in force of ${oldDay}. --accept-shrink takes it all the same`,
  );
}

function sizeRefusal(now: readonly Size[], then: readonly Size[]): ListError | undefined {
  if (then.every(([size], i) => isKept(now[i]?.[0] ?? 0, size))) return undefined;
  return new ListError(
    'shrank',
    `it has ${wordsOf(now)}; the edition in force has ${wordsOf(then)}. --accept-shrink takes it all the same`,
  );
}

function isKept(now: number, then: number): boolean {
  return then < FEW ? now > 0 || then === 0 : now >= then * LEAST_SHARE;
}

/** How many of what. */
type Size = readonly [count: number, what: string];

/**
 * What may not shrink unseen. Addresses, and names in the list's own script, are few beside the others: where a
 * companion file comes empty, or the form of a field changes, they are gone and the number of names is nearly the same.
 */
function sizesOf(manifest: EditionManifest): readonly Size[] {
  const { names, addressCount } = manifest;
  return [
    ...entriesAndNames(manifest),
    [names['original-script'], 'of them in original script'],
    [addressCount, 'addresses'],
  ];
}

function entriesAndNames({ entryCount, nameCount }: Pick<Edition, 'entryCount' | 'nameCount'>): readonly Size[] {
  return [
    [entryCount, 'entries'],
    [nameCount, 'names'],
  ];
}

function wordsOf(sizes: readonly Size[]): string {
  return sizes.map(([count, what]) => `${count} ${what}`).join(', ');
}

function describe(
  { listId, fileHash, fileDate, entryCount, nameCount, unmatchedRows, files }: EditionManifest,
  retrievedAt: Timestamp,
): Omit<Edition, 'attestationId'> {
  const { authority, title } = LISTS[listId];
  const sample = isSample(files);
  const counts = { entryCount, nameCount, unmatchedRows };
  return { listId, authority, title, fileHash, fileDate, retrievedAt, ...counts, sample, files };
}
