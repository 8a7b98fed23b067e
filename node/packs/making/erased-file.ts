import type { RecordId } from '../../../protocol/ids.ts';
import { packErasures } from '../../../protocol/pack/pack-lines.ts';
import type { AskedOfNode, Erasure } from './asked-records.ts';

/** A record whose content is gone; `erasure` is null where no record of it is known. */
export interface ErasedRecord {
  readonly attestationId: RecordId;
  readonly erasure: Erasure | null;
}

/** Joins erased records of a pack, in their order, to the records of their erasures. */
export function erasedRecords(ids: readonly RecordId[], asked: readonly AskedOfNode[]): readonly ErasedRecord[] {
  const known = new Map(asked.flatMap(({ erasures }) => [...erasures]));
  return ids.map((attestationId) => ({ attestationId, erasure: known.get(attestationId) ?? null }));
}

/** Text of `erasures.json`. */
export function erasuresText(
  erased: readonly ErasedRecord[],
  replaced: readonly { readonly path: string; readonly reason: string }[],
): string {
  return packErasures.write({
    erased: erased.map(({ attestationId, erasure }) => ({
      attestationId,
      erasure: erasure?.id ?? null,
      erasedAt: erasure?.at ?? null,
    })),
    replaced: [...replaced],
  });
}
