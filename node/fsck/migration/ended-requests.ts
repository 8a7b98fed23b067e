import type { Logger } from 'pino';
import { type PaymentKey, keyParts, readKeyParts } from '../../payments/payment-key.ts';
import { endedRequestOperations } from '../../payments/payment-store.ts';
import {
  paymentAnswerTable,
  paymentIdentifierTable,
  type PaymentRow,
  paymentTable,
} from '../../payments/payment-tables.ts';
import type { Operation } from '../../store/operation.ts';
import type { Rows, Store } from '../../store/store.ts';

/** Rows of payments that are looked at together. */
const TOGETHER = 1_024;
/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';

/** Rows by key, and what takes their former bytes out of the files. */
export type PurgedRows = Rows & Pick<Store, 'purge'>;

/**
 * Payments whose answer had ended before this release tell their request by a hash, from which it can be guessed. The
 * hash is taken out of their rows and out of the files of the store.
 *
 * Crash order: can be run again, and purges again whatever it finds done.
 */
export async function endFormerRequests(store: PurgedRows, log: Pick<Logger, 'info'> | null): Promise<void> {
  const bounds = { lt: paymentTable.name + AFTER_SLASH, limit: TOGETHER };
  let after = `${paymentTable.name}/`;
  for (;;) {
    // A page is read to its end before the purge, which waits for the reads under way.
    const page = await Array.fromAsync(store.range({ ...bounds, gt: after }));
    const last = page.at(-1);
    if (last === undefined) return;
    [after] = last;
    const operations: Operation[] = [];
    for (const [key, bytes] of page) operations.push(...(await endedIn(store, key, bytes)));
    if (operations.length === 0) continue;
    await store.write(operations);
    try {
      await store.purge(operations.map(({ key }) => key));
    } catch (error) {
      log?.info({ err: error }, 'requests of ended payments are not yet out of the files of the store');
    }
  }
}

/** None where the answer of the payment is held, or the row does not read. */
async function endedIn(store: Rows, rowKey: string, bytes: Uint8Array): Promise<Operation[]> {
  const key = readKeyParts(rowKey.slice(paymentTable.name.length + 1).split('/'));
  const row = rowOf(bytes);
  if (key === undefined || row?.state !== 'published' || (await isHeld(store, key))) return [];
  const { identifier } = row;
  const named =
    identifier === null
      ? undefined
      : await paymentIdentifierTable.get(store, key.payer, identifier).catch(() => undefined);
  return endedRequestOperations(key, row, named);
}

async function isHeld(store: Rows, key: PaymentKey): Promise<boolean> {
  return (await store.get(paymentAnswerTable.key(...keyParts(key)))) !== undefined;
}

/** A row that does not read is for `fsck` to name, and no reason for a node not to start. */
function rowOf(bytes: Uint8Array): PaymentRow | undefined {
  try {
    return paymentTable.decode(bytes);
  } catch {
    return undefined;
  }
}
