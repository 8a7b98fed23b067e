import Type, { type Static } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { utf8, decodeUtf8 } from '../../protocol/bytes.ts';
import { ClaimsShape, LinksShape } from '../../protocol/chain/claims.ts';
import type { RecordId } from '../../protocol/ids.ts';
import { Closed, RecordIdShape, Sha256Shape } from '../../protocol/shapes.ts';
import { RECORD_KINDS } from '../../protocol/statement/vocabulary.ts';
import type { PreparedDraft } from '../intake/draft.ts';
import { preparedKeyTable } from '../records/payload/payload-keys.ts';
import type { SealedPayload } from '../records/payload/payload-cipher.ts';
import { joinFrames, splitFrames } from '../store/frames.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { PaymentDamagedError } from './payment-cipher.ts';
import { keyParts, type PaymentKey } from './payment-key.ts';
import { paymentDraftTable } from './payment-tables.ts';

const PreparedShape = Closed({
  id: RecordIdShape,
  kind: Type.Enum([...RECORD_KINDS]),
  account: Type.String({ minLength: 1 }),
  sourceId: Type.String({ minLength: 1 }),
  payloadHash: Sha256Shape,
  claims: ClaimsShape,
  links: LinksShape,
});
/** A prepared record, and the ciphertext of its payload. */
export interface PreparedRow extends Readonly<Static<typeof PreparedShape>> {
  readonly ciphertext: SealedPayload['ciphertext'];
}

/** Seeds that are read at once. */
const READ_TOGETHER = 256;

const compiledPrepared = Compile(PreparedShape);

/**
 * Rows of records that are prepared for a payment. The seed of a payload's key stands under the record's id until the
 * record is made: the write that makes it moves the seed to the row of its group, and its erasure purges both places.
 */
export async function preparedOperations(key: PaymentKey, prepared: readonly PreparedDraft[]): Promise<Operation[]> {
  const operations: Operation[] = [];
  await new TimeSlices().each(prepared, ({ draft, id, payloadHash, claims, links, sealed }, place) => {
    const { kind, account, sourceId } = draft;
    const head = utf8(JSON.stringify({ id, kind, account, sourceId, payloadHash, claims, links }));
    operations.push(
      paymentDraftTable.put([...keyParts(key), place], joinFrames([head, sealed.ciphertext])),
      preparedKeyTable.put([id], sealed.seed),
    );
  });
  return operations;
}

/** The end of the rows of so many prepared records; of their seeds nothing is said. */
export function preparedRemovals(key: PaymentKey, count: number): Operation[] {
  return Array.from({ length: count }, (_, place) => paymentDraftTable.del(...keyParts(key), place));
}

/** The end of what opens their payloads here: nothing does any more, or the seeds stand with the records. */
export function seedRemovals(ids: readonly RecordId[]): Operation[] {
  return ids.map((id) => preparedKeyTable.del(id));
}

/**
 * Ids of the records that are prepared for a payment, in order. Throws `HeldDamagedError` where a row does not read.
 */
export async function preparedIds(store: Store, key: PaymentKey): Promise<readonly RecordId[]> {
  return (await readRows(store, key)).map(({ id }) => id);
}

/**
 * What is prepared for a payment, in order. Throws `HeldDamagedError` where a row or a seed is not as it was written.
 */
export async function readPrepared(store: Store, key: PaymentKey): Promise<readonly PreparedDraft[]> {
  const rows = await readRows(store, key);
  const seeds: (Uint8Array | undefined)[] = [];
  for (let at = 0; at < rows.length; at += READ_TOGETHER) {
    const some = rows.slice(at, at + READ_TOGETHER);
    seeds.push(...(await store.getMany(some.map(({ id }) => preparedKeyTable.key(id)))));
  }
  return rows.map(({ id, kind, account, sourceId, payloadHash, claims, links, ciphertext }, place) => {
    const seed = seeds[place];
    if (seed === undefined) throw new PaymentDamagedError(`the key of the payload of ${id} is missing`);
    return { draft: { kind, account, sourceId }, id, payloadHash, claims, links, sealed: { seed, ciphertext } };
  });
}

async function readRows(store: Store, key: PaymentKey): Promise<readonly PreparedRow[]> {
  const rows: PreparedRow[] = [];
  const slices = new TimeSlices();
  for await (const [, bytes] of paymentDraftTable.under(store, keyParts(key))) {
    if (slices.isOver) await slices.rest();
    rows.push(preparedRow(bytes));
  }
  return rows;
}

/** Throws `HeldDamagedError`. */
export function preparedRow(bytes: Uint8Array): PreparedRow {
  try {
    const [head, ciphertext, ...more] = splitFrames(bytes);
    const value: unknown = head === undefined ? undefined : JSON.parse(decodeUtf8(head));
    if (compiledPrepared.Check(value) && ciphertext !== undefined && more.length === 0) return { ...value, ciphertext };
  } catch {
    // Refused below like a row of another form.
  }
  throw new PaymentDamagedError('a prepared record does not read');
}
