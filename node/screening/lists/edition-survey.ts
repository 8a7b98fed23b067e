import { Compile } from '../../../protocol/shape-check.ts';
import { WorkerError, WorkerPool } from '../../concurrency/worker-pool.ts';
import { NAME_KINDS } from './contract.ts';
import { type EditionFiles, readEditionEntries } from './edition-files.ts';
import { ContentShape, type EditionContent } from './edition-manifest.ts';
import type { ReadingNotes } from './formats/format.ts';
import { isListErrorCode, ListError } from './list-error.ts';

/** Editions up to this size are read between requests; larger ones in a thread of their own. In bytes. */
const READ_HERE_BYTES = 256 << 10;
/** What reading one edition may take: the largest real one takes about 100 MiB. */
const THREAD_MEMORY_MIB = 512;
/** Longest reading of an edition. The largest real one takes two seconds on a small machine. In milliseconds. */
const THREAD_MS = 120_000;

/** Editions that are read at the same time. */
const THREADS = 2;

/** What a thread is told. */
export interface SurveyOrder {
  readonly directory: string;
  readonly edition: EditionFiles;
}

const compiled = Compile(ContentShape);
const SURVEYORS = new WorkerPool<SurveyOrder, unknown>({
  script: new URL('./edition-survey-thread.ts', import.meta.url),
  threads: THREADS,
  heapMiB: THREAD_MEMORY_MIB,
  orderMs: THREAD_MS,
  idleMs: 0,
});

/**
 * What the files in the folder of an edition hold, all of them read to their end, without keeping the event loop.
 * Throws `ListError`.
 */
export function surveyed(directory: string, edition: EditionFiles): Promise<EditionContent> {
  const size = edition.files.reduce((sum, { bytes }) => sum + bytes, 0);
  const isPacked = edition.files.some(({ name }) => name.endsWith('.gz'));
  return size <= READ_HERE_BYTES && !isPacked ? survey(directory, edition) : surveyedInThread(directory, edition);
}

/** Reads an edition to its end, in this thread. Throws `ListError`. */
export async function survey(directory: string, edition: EditionFiles): Promise<EditionContent> {
  const notes: ReadingNotes = { fileDate: null, unmatchedRows: 0, lacks: [] };
  const names = { primary: 0, 'strong-alias': 0, 'weak-alias': 0, 'original-script': 0, reordered: 0 };
  let entryCount = 0;
  let addressCount = 0;
  for await (const entry of readEditionEntries(directory, edition, notes)) {
    entryCount++;
    addressCount += entry.addresses.length;
    for (const { kind } of entry.names) names[kind]++;
  }
  const nameCount = NAME_KINDS.reduce((sum, kind) => (kind === 'reordered' ? sum : sum + names[kind]), 0);
  if (entryCount === 0 || nameCount === 0) throw new ListError('malformed', 'it has no entries');
  const { lacks, ...found } = notes;
  const content = { ...found, entryCount, nameCount, names, addressCount };
  return lacks.length === 0 ? content : { ...content, lacks };
}

/** What the thread answers: the content, or why there is none. */
export type SurveyAnswer = { readonly content: EditionContent } | { readonly code: string; readonly message: string };

async function surveyedInThread(directory: string, edition: EditionFiles): Promise<EditionContent> {
  try {
    return contentOf(await SURVEYORS.run({ directory, edition }));
  } catch (error) {
    if (error instanceof ListError) throw error;
    if (!(error instanceof WorkerError)) throw new ListError('too-large', `it cannot be read: ${String(error)}`, error);
    if (error.code === 'ended') throw new ListError('malformed', 'it cannot be read');
    throw new ListError('too-large', `it cannot be read: ${error.message}`, error);
  }
}

function contentOf(answer: unknown): EditionContent {
  if (typeof answer === 'object' && answer !== null) {
    if ('content' in answer && compiled.Check(answer.content)) return answer.content;
    if ('code' in answer && 'message' in answer && isListErrorCode(answer.code)) {
      throw new ListError(answer.code, String(answer.message));
    }
  }
  throw new ListError('malformed', 'it cannot be read');
}
