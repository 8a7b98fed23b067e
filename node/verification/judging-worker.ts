// A thread that judges bundles, one after the other. What it throws ends it, and fails the bundle under work.
import { parentPort } from 'node:worker_threads';
import { BundleError } from '../../protocol/bundle/bundle.ts';
import { JsonError } from '../../protocol/json/value.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { cachingSuite } from './caching-suite.ts';
import { judgeBundle } from './judge-bundle.ts';
import type { JudgingOrder, JudgingWord } from './judging-thread.ts';

const suite = cachingSuite(nativeSuite);

parentPort?.on('message', (order: JudgingOrder) => parentPort?.postMessage(wordOn(order), []));

function wordOn({ text, terms }: JudgingOrder): JudgingWord {
  try {
    return { judged: judgeBundle(suite, text, terms) };
  } catch (error) {
    if (error instanceof BundleError) return { malformed: { pointer: error.pointer, message: error.message } };
    if (error instanceof JsonError) return { notJson: { code: error.code, message: error.message } };
    throw error;
  }
}
