import { Worker } from 'node:worker_threads';
import type { RawDocument, ReadDocument } from './read-document.ts';
import { refused } from './regwatch-error.ts';
import type { SourceTerms } from './source-terms.ts';

/** What the thread answers. */
type Reply = { readonly read: ReadDocument } | { readonly refused: string };

/** Of a document as it is read, decompressed. In bytes. */
export const MAX_DOCUMENT_BYTES = 8 << 20;
/** Memory that reading one document may take. In MiB. */
const MAX_HEAP_MIB = 256;
/** Time that it may take. In milliseconds. */
const READ_MS = 20_000;
const SCRIPT = new URL('./document-worker.ts', import.meta.url);

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
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const worker = new Worker(SCRIPT, {
    workerData: { document, terms },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    stdout: true,
    stderr: true,
  });
  const timer = setTimeout(() => reject(refused(`the document is not read in ${READ_MS} ms`)), READ_MS);
  worker.once('message', resolve);
  worker.once('error', (error) => reject(refused('the document cannot be read', error)));
  worker.once('exit', () => reject(refused('the document cannot be read')));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}
