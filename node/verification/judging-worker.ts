// A thread that judges bundles, one after the other. What it throws ends it, and fails the bundle under work.
import { parentPort } from 'node:worker_threads';
import { JsonError } from '../../protocol/json/value.ts';
import { FileError } from '../../protocol/verdict/file-reader.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { cachingSuite } from '../keys/caching-suite.ts';
import { judgeBundle, questionsOf } from './judge-bundle.ts';
import type { JudgingOrder, JudgingWord } from './judging-thread.ts';

const suite = cachingSuite(nativeSuite);

parentPort?.on('message', (order: JudgingOrder) => {
  const { buffer } = order.bundle;
  const word = wordOn(order);
  parentPort?.postMessage(word, 'questions' in word ? [buffer] : []);
  free(buffer);
});

function wordOn(order: JudgingOrder): JudgingWord {
  const { bundle } = order;
  const text = Buffer.from(bundle.buffer, bundle.byteOffset, bundle.byteLength).toString('utf8');
  if ('terms' in order) free(bundle.buffer);
  try {
    if ('limits' in order) return { questions: questionsOf(suite, text, order.limits), bundle };
    return { judged: judgeBundle(suite, text, order.terms) };
  } catch (error) {
    if (error instanceof FileError) {
      const { code, pointer, message } = error;
      return { malformed: { code, pointer, message } };
    }
    if (error instanceof JsonError) return { notJson: { code: error.code, message: error.message } };
    throw error;
  }
}

/** A buffer that is not given back is freed at once, and not when the heap is next looked through. */
function free(buffer: ArrayBuffer): void {
  if (!buffer.detached) buffer.transfer(0);
}
