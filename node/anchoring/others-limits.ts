import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { NodeId } from '../../protocol/ids.ts';
import { Closed, CountShape } from '../../protocol/shapes.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';
import type { SpendLimits } from '../ledger/spend-guard.ts';

/** What is named for another node. */
export type NamedForOther = 'rescue' | 'revocation';

/** Names a day for one other node, so that no node can make the others pay for more (TRUST §2). */
const PER_DAY: Readonly<Record<NamedForOther, number>> = { rescue: 64, revocation: 8 };

/** The row of the spend guard that counts what is named for others, apart from this node's own. */
export const OTHERS_SPEND_ROW = 'others';
/** Of all other nodes together: what sixteen of them may need in a day, within four hours. */
export const OTHERS_SPEND_LIMITS: Partial<SpendLimits> = {
  transactionsPerHour: 256,
  transactionsPerDay: 1_024,
  tinybarsPerDay: 3_000_000_000,
};

const DAY_MS = 24 * 60 * 60 * 1000;

const CountRowShape = Closed({ day: CountShape, names: CountShape });
type CountRow = Static<typeof CountRowShape>;
const compiled = Compile(CountRowShape);

/** (kind, other node) → names of the UTC day in force. */
export const namedForOtherTable = new Table(
  'named-for-other',
  jsonCodec((value: unknown): value is CountRow => compiled.Check(value)),
);

/** Whether one name more for that node is within the day's limit, at a time in epoch milliseconds. */
export async function mayNameForOther(store: Store, kind: NamedForOther, node: NodeId, now: number): Promise<boolean> {
  return (await countAt(store, kind, node, now)).names < PER_DAY[kind];
}

/** Row that counts one name more, for the write that brings it into the outbox. One caller a node at a time. */
export async function namedForOther(
  store: Store,
  kind: NamedForOther,
  node: NodeId,
  now: number,
): Promise<Operation> {
  const { day, names } = await countAt(store, kind, node, now);
  return namedForOtherTable.put([kind, node], { day, names: names + 1 });
}

/** A clock that goes back stays in the later day. */
async function countAt(store: Store, kind: NamedForOther, node: NodeId, now: number): Promise<CountRow> {
  const today = Math.floor(now / DAY_MS);
  const row = await namedForOtherTable.get(store, kind, node);
  return row === undefined || row.day < today ? { day: today, names: 0 } : row;
}
