// One document a thread: whatever a document does to its reader ends with the thread.
import { parentPort } from 'node:worker_threads';
import { type RawDocument, readDocument } from './read-document.ts';
import { RegwatchError } from './regwatch-error.ts';
import type { SourceTerms } from './entry.ts';

interface Order {
  readonly document: RawDocument;
  readonly terms: SourceTerms;
}

parentPort?.on('message', ({ document, terms }: Order) => {
  try {
    parentPort?.postMessage({ read: readDocument(document, terms) }, []);
  } catch (error) {
    const reason = error instanceof RegwatchError ? error.message : 'the document cannot be read';
    parentPort?.postMessage({ refused: reason }, []);
  }
});
