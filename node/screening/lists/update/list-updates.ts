import type { Logger } from 'pino';
import { hashText, type Sha256Hash } from '../../../../protocol/hash.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { KeyedLock } from '../../../concurrency/keyed-lock.ts';
import { PeriodicTask } from '../../../concurrency/periodic-task.ts';
import { nativeSuite } from '../../../keys/native-suite.ts';
import type { Store } from '../../../store/store.ts';
import type { Edition } from '../contract.ts';
import { keptBytes } from '../edition-files.ts';
import type { IncomingFile } from '../edition-staging.ts';
import { ListError } from '../list-error.ts';
import type { ListId } from '../list-id.ts';
import type { ListRegistry, Taken } from '../list-registry.ts';
import { listSourceTable, type SourceRow } from '../list-tables.ts';
import { type Download, download } from './download.ts';

export interface ListUpdatesOptions {
  readonly lists: ListRegistry;
  readonly store: Store;
  readonly config: ListUpdateConfig;
  readonly now: () => number;
  readonly log: Logger;
  /** Longest wait for an answer, and for each piece of it. In milliseconds. */
  readonly answerMs?: number;
}

/** Pause between two looks at which list is due. In milliseconds. */
const LOOK_MS = 60_000;
/** Longest pause after a look that failed, and of a list that is not there. In milliseconds. */
const RETRY_MS = 15 * 60_000;
/** Longest download of all the files of a list. In milliseconds. */
const DOWNLOAD_MS = 10 * 60_000;

/**
 * Keeps lists as their sources have them: looks on schedule, asks for what has changed, and takes it whole or not at
 * all.
 */
export class ListUpdates implements AsyncDisposable {
  readonly #options: ListUpdatesOptions;
  readonly #task = new PeriodicTask(LOOK_MS, () => this.#updateDue());
  readonly #locks = new KeyedLock<ListId>();

  constructor(options: ListUpdatesOptions) {
    this.#options = options;
  }

  start(): void {
    this.#task.start();
  }

  /** Whether a list has a source here. */
  has(listId: ListId): boolean {
    return this.#options.config.sources.has(listId);
  }

  /** Looks at the source of a list now. Throws `ListError`, and `IntakeError`; then the edition in force stays. */
  update(listId: ListId, acceptShrink = false): Promise<Taken> {
    const urls = this.#options.config.sources.get(listId);
    if (urls === undefined) throw new ListError('no-source', 'no source is configured for it (LISTS_SOURCES)');
    return this.#locks.exclusive(listId, () => this.#update(listId, urls, acceptShrink));
  }

  /** Gives up what is under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#task[Symbol.asyncDispose]();
  }

  async #updateDue(): Promise<void> {
    const { signal } = this.#task;
    const { config, log } = this.#options;
    for (const listId of config.sources.keys()) {
      try {
        if (!signal.aborted && (await this.#isDue(listId))) await this.update(listId);
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error, listId }, 'a list was not updated');
      }
    }
  }

  /**
   * A list that is gone or damaged does not wait its whole turn. A look that is dated later than now says that the
   * clock was set back since: it puts no other one off.
   */
  async #isDue(listId: ListId): Promise<boolean> {
    const { config, lists, store, now } = this.#options;
    const row = await listSourceTable.get(store, listId);
    if (row === undefined) return true;
    const isHeld = row.failure === null && lists.current().has(listId);
    const pause = isHeld ? config.intervalMs : Math.min(config.intervalMs, RETRY_MS);
    const since = now() - Date.parse(row.checkedAt);
    return since < 0 || since >= pause;
  }

  async #update(listId: ListId, urls: ReadonlyMap<string, string>, acceptShrink: boolean): Promise<Taken> {
    const { store, now } = this.#options;
    const before = await listSourceTable.get(store, listId);
    const checkedAt = timestampOf(now());
    const note = (row: Omit<SourceRow, 'checkedAt'>) =>
      store.write([listSourceTable.put([listId], { checkedAt, ...row })]);
    try {
      const { taken, validators } = await this.#look(listId, urls, before, acceptShrink);
      await note({ failure: null, fileHash: taken.edition.fileHash, validators });
      return taken;
    } catch (error) {
      if (error instanceof ListError && !this.#task.signal.aborted) {
        const { fileHash = null, validators = [] } = before ?? {};
        await note({ failure: `${error.code}: ${error.message}`, fileHash, validators });
      }
      throw error;
    }
  }

  async #look(
    listId: ListId,
    urls: ReadonlyMap<string, string>,
    before: SourceRow | undefined,
    acceptShrink: boolean,
  ): Promise<{ readonly taken: Taken; readonly validators: SourceRow['validators'] }> {
    const { lists, answerMs } = this.#options;
    // Validators are worth something for as long as the edition that they came with is in force, and whole.
    const inForce = await lists.intact(listId);
    const known = inForce !== undefined && before?.fileHash === inForce.fileHash ? before.validators : [];
    // Ends what is still open once the look is over, however it went.
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, this.#task.signal, AbortSignal.timeout(DOWNLOAD_MS)]);
    const origin = { kind: 'update', urls: [...urls.values()].map(withoutQuery) } as const;
    try {
      const answers = await Promise.all(
        [...urls].map(async ([name, url]): Promise<Answer> => {
          const urlHash = hashText(nativeSuite, url);
          // What an address said of a file says nothing of what another one has.
          const validators = known.find((candidate) => candidate.name === name && candidate.urlHash === urlHash);
          return { name, urlHash, known: validators, download: await download(url, validators, signal, answerMs) };
        }),
      );
      const validators = answers.flatMap(validatorsOf);
      if (inForce !== undefined && answers.every((answer) => answer.download.unchanged)) {
        return { taken: await lists.confirm(listId, inForce.fileHash, origin), validators };
      }
      const files = answers.map((answer) => incoming(lists, inForce, answer));
      return { taken: await lists.take(listId, { files, origin, acceptShrink }), validators };
    } finally {
      over.abort();
    }
  }
}

interface Answer {
  readonly name: string;
  readonly urlHash: Sha256Hash;
  readonly known: SourceRow['validators'][number] | undefined;
  readonly download: Download;
}

function validatorsOf({ name, urlHash, known, download: answer }: Answer): SourceRow['validators'] {
  if (!answer.unchanged) return [{ name, urlHash, ...answer.validators }];
  return known === undefined ? [] : [known];
}

/** A file that did not change is taken from the edition in force. */
function incoming(lists: ListRegistry, inForce: Edition | undefined, { name, download: answer }: Answer): IncomingFile {
  if (!answer.unchanged) return { name, bytes: answer.bytes };
  const file = inForce?.files.find((candidate) => candidate.name === name);
  if (inForce === undefined || file === undefined) throw new ListError('download', `${name} was said to be unchanged`);
  return { name, bytes: () => keptBytes(lists.directoryOf(inForce), file) };
}

/** What stands after the question mark may be a token. */
function withoutQuery(url: string): string {
  return url.split('?')[0] ?? '';
}

/** Where the files of lists are downloaded from: list → name of the file → address. */
export type ListSources = ReadonlyMap<ListId, ReadonlyMap<string, string>>;

export interface ListUpdateConfig {
  readonly sources: ListSources;
  /** Pause between two looks at a source. */
  readonly intervalMs: number;
}
