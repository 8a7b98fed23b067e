// One document a thread: whatever a document does to its reader ends with the thread.
import { parentPort, workerData } from 'node:worker_threads';
import { readDocument } from './read-document.ts';
import { RegwatchError } from './regwatch-error.ts';

// What is in it was put there by `DocumentReader`, in the same process.
const { document, terms } = workerData;
try {
  parentPort?.postMessage({ read: readDocument(document, terms) }, []);
} catch (error) {
  const reason = error instanceof RegwatchError ? error.message : 'the document cannot be read';
  parentPort?.postMessage({ refused: reason }, []);
}
