import type { RecordId } from '../../../protocol/ids.ts';
import { CoveringRows } from '../../store/covering-rows.ts';
import { joinFrames, splitFrames } from '../../store/frames.ts';
import type { Operation } from '../../store/operation.ts';
import type { Reads } from '../../store/store.ts';
import { bytesCodec, Table } from '../../store/table.ts';
import { KEY_ROW_RECORDS, keyOperations, readSeed } from './payload-keys.ts';
import { type OpenedPayload, PayloadDamagedError, type PayloadCipher, type SealedPayload } from './payload-cipher.ts';

/** Bytes of ciphertext after which a row is full, so that reading one payload never reads many large ones. */
const ROW_BYTES = 256 << 10;

/** (first seq) → ciphertexts of this node's own records, in order of seq. */
export const payloadTable = new Table('payload', bytesCodec);

/** Rows of the payloads of a group's records, the first of them with seq `first`, and of their keys. */
export function payloadOperations(
  first: number,
  payloads: readonly { readonly id: RecordId; readonly sealed: SealedPayload }[],
): Operation[] {
  const operations = keyOperations(first, payloads);
  let row: Uint8Array[] = [];
  let rowFirst = first;
  let rowBytes = 0;
  payloads.forEach(({ sealed }, i) => {
    if (row.length >= KEY_ROW_RECORDS || rowBytes >= ROW_BYTES) {
      operations.push(payloadTable.put([rowFirst], joinFrames(row)));
      row = [];
      rowFirst = first + i;
      rowBytes = 0;
    }
    row.push(sealed.ciphertext);
    rowBytes += sealed.ciphertext.length;
  });
  if (row.length > 0) operations.push(payloadTable.put([rowFirst], joinFrames(row)));
  return operations;
}

/** Salt and payload of an own record, or `erased`. Throws `PayloadDamagedError`. */
export async function readPayload(
  store: Reads,
  cipher: PayloadCipher,
  id: RecordId,
  seq: number,
): Promise<OpenedPayload | 'erased'> {
  const seed = await readSeed(store, { id, seq });
  if (seed === undefined) return 'erased';
  const ciphertext = await ciphertexts.find(store, [], seq);
  if (ciphertext === undefined) throw new PayloadDamagedError(`the payload of ${id} is missing`);
  return cipher.open(id, { seed, ciphertext });
}

/** Whether there is the ciphertext of the own record `seq`, erased or not. */
export async function hasPayload(store: Reads, seq: number): Promise<boolean> {
  return (await ciphertexts.find(store, [], seq)) !== undefined;
}

const ciphertexts = new CoveringRows<readonly [], Uint8Array, Uint8Array>({
  table: payloadTable,
  open: ({ first, value }, seq) => frameOf(value, seq - first),
});

/** Undefined where the row is damaged or too short. */
function frameOf(row: Uint8Array, index: number): Uint8Array | undefined {
  try {
    return splitFrames(row)[index];
  } catch {
    return undefined;
  }
}
