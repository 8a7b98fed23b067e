import type { PaymentCipher } from '../../../node/payments/payment-cipher.ts';
import type { Operation } from '../../../node/store/operation.ts';
import type { Store } from '../../../node/store/store.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import { filesHolding } from '../../fixtures/store-files.ts';

/** Keys of the rows whose value holds the text. */
export async function rowsHolding(store: Store, text: string): Promise<string[]> {
  const rows = await Array.fromAsync(store.range({}));
  return rows.filter(([, value]) => Buffer.from(value).includes(text)).map(([key]) => key);
}

/** Digits of a hash that are looked for together: compression may write any few of them as a repetition. */
const PIECE = 16;

/** Names of the store's files that hold a part of a hash. */
export async function filesTelling(directory: string, hash: Sha256Hash): Promise<string[]> {
  const digits = hash.slice('sha256:'.length);
  const found = new Set<string>();
  for (let at = 0; at < digits.length; at += PIECE) {
    for (const file of await filesHolding(directory, Buffer.from(digits.slice(at, at + PIECE)))) found.add(file);
  }
  return [...found];
}

/** Writes the rows that tell a request as the release before did: by its hash. Resolves to how many these are. */
export async function asBefore(store: Store, cipher: PaymentCipher, request: Sha256Hash): Promise<number> {
  const operations: Operation[] = [];
  for await (const [key, bytes] of store.range({ gte: 'payment', lt: 'payment0' })) {
    const text = Buffer.from(bytes).toString();
    const before = text.replace(cipher.digest(request), request);
    if (before !== text) operations.push({ type: 'put', key, value: Buffer.from(before) });
  }
  await store.write(operations);
  return operations.length;
}
