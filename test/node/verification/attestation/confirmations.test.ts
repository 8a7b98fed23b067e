import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { newRecordId } from '../../../../node/records/record-id.ts';
import { Confirmations } from '../../../../node/verification/attestation/confirmation-watch.ts';
import { nodeId } from '../../../../protocol/ids.ts';

const NEVER_MS = 60_000;
const id = newRecordId(nodeId('eu'), 0);
const open = new AbortController().signal;

test('a confirmed range wakes those who wait for a record in it, and nobody else', async () => {
  const confirmations = new Confirmations();
  const woken: number[] = [];
  const waits = [9, 10, 12, 12, 13].map((seq) =>
    confirmations.wait({ seq, id }, seq === 9 || seq === 13 ? 60 : NEVER_MS, open).then(() => woken.push(seq)),
  );
  confirmations.note(10, 3);
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(woken, [10, 12, 12]);
  assert.equal(
    confirmations.awaited.map(({ seq }) => seq),
    [9, 13],
  );
  await Promise.all(waits);
});

test('a wait ends with its time or its caller', async () => {
  const confirmations = new Confirmations();
  const started = performance.now();
  await confirmations.wait({ seq: 1, id }, 30, open);
  assert.ok(performance.now() - started >= 25);
  const gone = new AbortController();
  const wait = confirmations.wait({ seq: 1, id }, NEVER_MS, gone.signal);
  gone.abort();
  await wait;
  await confirmations.wait({ seq: 1, id }, NEVER_MS, gone.signal);
  confirmations.note(1, 1);
});

test.run();
