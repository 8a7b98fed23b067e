import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { WholeTexts } from '../../protocol/chain/record.ts';
import type { ChainHistory } from '../../protocol/chain/sources.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { readTextRows } from '../records/record-reader.ts';
import { groupTable, recordIndex } from '../records/record-tables.ts';
import type { Store } from '../store/store.ts';
import { chainSourceTable, sourcePart } from '../records/chain-tables.ts';

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
 * The same for a batch of this node's own that is not sealed yet. Ids are not looked for: intake writes the row of each
 * with its record, over any earlier row of that id, so that none of them leads before the batch.
 */
export function draftHistory(store: Store, node: NodeId): ChainHistory {
  return { ...storedHistory(store, node), placesOf: async (ids) => ids.map(() => undefined) };
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
  await using rows = readTextRows(store, node, first, size);
  let left: readonly WholeTexts[] = [];
  for await (const [[at = ''], signed] of groupTable.under(store, [node], { from: first })) {
    if (Number(at) >= end) return;
    const { size: count } = groupStatement.parse(signed.statement);
    const records: WholeTexts[] = [];
    while (records.length < count) {
      if (left.length === 0) {
        const next = await rows.next();
        if (next.done === true) break;
        left = next.value;
      }
      const taken = left.slice(0, count - records.length);
      left = left.slice(taken.length);
      for (const texts of taken) records.push(texts);
    }
    yield { signed, records };
  }
}
