import { WorkerError, WorkerPool } from '../../concurrency/worker-pool.ts';
import type { SourceTerms } from './entry.ts';
import type { RawDocument, ReadDocument } from './read-document.ts';
import { refused } from './regwatch-error.ts';

/** What the thread answers. */
type Reply = { readonly read: ReadDocument } | { readonly refused: string };

/** Of a document as it is read, decompressed. In bytes. */
export const MAX_DOCUMENT_BYTES = 8 << 20;
/** Memory that reading one document may take. In MiB. */
const MAX_HEAP_MIB = 256;
/** Time that it may take. In milliseconds. */
const READ_MS = 20_000;
/** Documents that are read at the same time. */
const THREADS = 2;

const READERS = new WorkerPool<{ readonly document: RawDocument; readonly terms: SourceTerms }, Reply>({
  script: new URL('./document-worker.ts', import.meta.url),
  threads: THREADS,
  heapMiB: MAX_HEAP_MIB,
  orderMs: READ_MS,
  idleMs: 0,
});

/**
 * The items of a document, read in a thread of its own: the event loop goes on meanwhile, and a document that costs
 * without bound is given up. Throws `RegwatchError`.
 */
export async function readDocumentApart(document: RawDocument, terms: SourceTerms): Promise<ReadDocument> {
  if (document.bytes.length > MAX_DOCUMENT_BYTES) throw refused(`the document has over ${MAX_DOCUMENT_BYTES} bytes`);
  const reply = await replyOf(document, terms);
  if ('refused' in reply) throw refused(reply.refused);
  return reply.read;
}

async function replyOf(document: RawDocument, terms: SourceTerms): Promise<Reply> {
  try {
    return await READERS.run({ document, terms });
  } catch (error) {
    if (error instanceof WorkerError && error.code === 'too-late') {
      throw refused(`the document is not read in ${READ_MS} ms`);
    }
    throw refused('the document cannot be read', error);
  }
}
