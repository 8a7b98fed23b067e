// A thread that checks pages, and ends when it is given one that begins with the batch named when it was made.
import { parentPort } from 'node:worker_threads';
import { unpackBytes } from '../../../node/federation/packed-page.ts';
import { decodeItem } from '../../../node/federation/page-forms.ts';
import type { PageOrder } from '../../../node/federation/page-checks.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';

/** Number of the batch. */
const FATAL_BATCH = 3;

parentPort?.on('message', (page: PageOrder) => {
  const [first] = unpackBytes(page);
  const item = first && decodeItem(first);
  if (item?.kind === 'envelope' && envelopeStatement.parse(item.signed.statement).batch === FATAL_BATCH) process.exit();
});
await import('../../../node/federation/page-worker.ts');
