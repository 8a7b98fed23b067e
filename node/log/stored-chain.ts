import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { WholeTexts } from '../../protocol/chain/record.ts';
import type { ChainHistory } from '../../protocol/chain/sources.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { readRecordTexts } from '../records/record-reader.ts';
import { groupTable, recordIndex } from '../records/record-tables.ts';
import type { Store } from '../store/store.ts';
import { chainSourceTable, sourcePart } from './chain-tables.ts';

/** A group as it is stored. */
export interface StoredGroup {
  readonly signed: SignedStatement;
  readonly records: readonly WholeTexts[];
}

/** What the store knows of a node's chain up to the last batch that was derived. */
export function storedHistory(store: Store, node: NodeId): ChainHistory {
  return {
    async sourceHeads(names) {
      const rows = await store.getMany(names.map((name) => chainSourceTable.key(node, sourcePart(name))));
      return rows.map((row) => (row === undefined ? undefined : chainSourceTable.decode(row)));
    },
    async placesOf(ids) {
      const rows = await store.getMany(ids.map((id) => recordIndex.key(id)));
      return rows.map((row) => (row === undefined ? undefined : recordIndex.decode(row)));
    },
  };
}

/**
 * The groups of a batch as they are stored, in order, each with the texts of its records. Ends early where the store
 * does. Throws `StatementError` on a group that does not read.
 */
export async function* storedGroups(
  store: Store,
  { node, first, size }: Pick<Envelope, 'first' | 'node' | 'size'>,
): AsyncGenerator<StoredGroup> {
  const end = first + size;
  await using texts = readRecordTexts(store, node, first, size);
  for await (const [[at = ''], signed] of groupTable.under(store, [node], { from: first })) {
    if (Number(at) >= end) return;
    const { size: count } = groupStatement.parse(signed.statement);
    const records: WholeTexts[] = [];
    while (records.length < count) {
      const next = await texts.next();
      if (next.done === true) break;
      records.push(next.value);
    }
    yield { signed, records };
  }
}
