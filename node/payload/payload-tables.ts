import type { RecordId } from '../../protocol/ids.ts';
import { CoveringRows } from '../store/covering-rows.ts';
import { joinFrames, splitFrames } from '../store/frames.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { bytesCodec, Table } from '../store/table.ts';
import { type OpenedPayload, PayloadDamagedError, type PayloadVault, type SealedPayload } from './payload-vault.ts';

const ROW_RECORDS = 64;
/** Bytes of ciphertext after which a row is full, so that reading one payload never reads many large ones. */
const ROW_BYTES = 256 << 10;

/** (first seq) → ciphertexts of this node's own records, in order of seq. */
export const payloadTable = new Table('payload', bytesCodec);
/** (record id) → seed of the data key. Deleting the row erases the payload. */
export const payloadKeyTable = new Table('payload-key', bytesCodec);

/** Rows of the payloads of neighbouring records, the first of them with seq `first`. */
export function payloadOperations(
  first: number,
  payloads: readonly { readonly id: RecordId; readonly sealed: SealedPayload }[],
): Operation[] {
  const operations: Operation[] = payloads.map(({ id, sealed }) => payloadKeyTable.put([id], sealed.seed));
  let row: Uint8Array[] = [];
  let rowFirst = first;
  let rowBytes = 0;
  payloads.forEach(({ sealed }, i) => {
    if (row.length >= ROW_RECORDS || rowBytes >= ROW_BYTES) {
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
  store: Store,
  vault: PayloadVault,
  id: RecordId,
  seq: number,
): Promise<OpenedPayload | 'erased'> {
  const seed = await payloadKeyTable.get(store, id);
  if (seed === undefined) return 'erased';
  const ciphertext = await ciphertexts.find(store, [], seq);
  if (ciphertext === undefined) throw new PayloadDamagedError(`the payload of ${id} is missing`);
  return vault.open(id, { seed, ciphertext });
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
