import type { Static } from 'typebox';
import type { NodeId } from '../../protocol/ids.ts';
import { Closed, CountShape } from '../../protocol/shapes.ts';
import type { Operation } from '../store/operation.ts';
import type { Rows } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import type { SpendLimits } from './ledger/spend-guard.ts';

/** What is named for another node. */
export type NamedForOther = 'rescue' | 'revocation';

/** Names a day for one other node, so that no node can make the others pay for more (protocol §2). */
const PER_DAY: Readonly<Record<NamedForOther, number>> = { rescue: 64, revocation: 8 };

/**
 * What is named for others is counted apart from this node's own, and revocations apart from rescues: nodes that leave
 * their batches to others must not keep a stolen key's revocation waiting. Of all other nodes together: the rescues
 * that sixteen of them may need in a day, within four hours.
 */
export const OTHERS_SPEND: Readonly<
  Record<NamedForOther, { readonly row: string; readonly limits: Partial<SpendLimits> }>
> = {
  rescue: {
    row: 'others',
    limits: { transactionsPerHour: 256, transactionsPerDay: 1_024, tinybarsPerDay: 3_000_000_000 },
  },
  revocation: {
    row: 'others-revocations',
    limits: { transactionsPerHour: 64, transactionsPerDay: 256, tinybarsPerDay: 750_000_000 },
  },
};

const DAY_MS = 24 * 60 * 60 * 1000;

const CountRowShape = Closed({ day: CountShape, names: CountShape });
type CountRow = Static<typeof CountRowShape>;

/** (kind, other node) → names of the UTC day in force. */
export const namedForOtherTable = jsonTable('named-for-other', CountRowShape);

/**
 * Whether one name more for that node is within the day's limit, at a time in epoch milliseconds, and leaves so many of
 * them for what matters more.
 */
export async function mayNameForOther(
  store: Rows,
  kind: NamedForOther,
  node: NodeId,
  now: number,
  leaves = 0,
): Promise<boolean> {
  return (await countAt(store, kind, node, now)).names < PER_DAY[kind] - leaves;
}

/** Row that counts one name more, for the write that brings it into the outbox. One caller a node at a time. */
export async function namedForOther(store: Rows, kind: NamedForOther, node: NodeId, now: number): Promise<Operation> {
  const { day, names } = await countAt(store, kind, node, now);
  return namedForOtherTable.put([kind, node], { day, names: names + 1 });
}

/** A clock that goes back stays in the later day; where that is after tomorrow, the clock was wrong then. */
async function countAt(store: Rows, kind: NamedForOther, node: NodeId, now: number): Promise<CountRow> {
  const today = Math.floor(now / DAY_MS);
  const row = await namedForOtherTable.get(store, kind, node);
  return row?.day === today || row?.day === today + 1 ? row : { day: today, names: 0 };
}

/** The nodes in the order in which they are served, those first that least was named for on that day. */
export async function leastNamedFirst(
  store: Rows,
  kind: NamedForOther,
  nodes: readonly NodeId[],
  now: number,
): Promise<readonly NodeId[]> {
  const counted = await Promise.all(
    [...new Set(nodes)].map(async (node) => ({ node, names: (await countAt(store, kind, node, now)).names })),
  );
  return counted.toSorted((a, b) => a.names - b.names || (a.node < b.node ? -1 : 1)).map(({ node }) => node);
}
