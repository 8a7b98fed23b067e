import { hash } from 'node:crypto';
import { type ChainState, ChainStateShape } from '../../protocol/chain/chain-state.ts';
import type { MovedSource, SourceName } from '../../protocol/chain/sources.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Closed, OrdinalShape, Sha256Shape } from '../../protocol/shapes.ts';
import type { Operation } from '../store/operation.ts';
import type { Rows } from '../store/store.ts';
import { jsonTable, numberCodec, Table } from '../store/table.ts';

const SourceRowShape = Closed({ sourceSeq: OrdinalShape, leaf: Sha256Shape });

/**
 * (node) → where its chain stands after the last batch that was derived here: of this node's own chain the last that it
 * sealed, of another's the last that was decided and derived.
 */
export const chainStateTable = jsonTable('chain-state', ChainStateShape);
/** (node, hash of account and source) → the source's last record within the batches derived. */
export const chainSourceTable = jsonTable('chain-source', SourceRowShape);

/** (node, key id) → the last batch that was derived here and is signed by that key, of other nodes' chains. */
export const sealingKeyTable = new Table('sealing-key', numberCodec);

/** (this node) → its last batch up to which the log decided those that it holds. */
export const ownVouchedTable = new Table('own-vouched', numberCodec);

/** Key part of a source; the length keeps two names from running into one. */
export function sourcePart(source: SourceName): string {
  return hash('sha256', sourceName(source), 'hex');
}

/** A text of a source that no other one has, whatever stands in its account and its id. */
export function sourceName({ account, sourceId }: SourceName): string {
  return `${account.length} ${account}${sourceId}`;
}

/** Rows of a batch that was derived, for one atomic write: what its chain goes on from. */
export function derivedOperations(state: ChainState, sources: readonly MovedSource[]): Operation[] {
  return [chainStateTable.put([state.node], state), ...sources.map((source) => sourceOperation(state.node, source))];
}

function sourceOperation(node: NodeId, source: MovedSource): Operation {
  const { sourceSeq, leaf } = source.head;
  return chainSourceTable.put([node, sourcePart(source)], { sourceSeq, leaf });
}

/** Keys by which derived batches of a node are signed, each with its last one. */
export async function sealingKeysOf(store: Rows, node: NodeId): Promise<ReadonlyMap<string, number>> {
  const keys = new Map<string, number>();
  for await (const [[keyId = ''], batch] of sealingKeyTable.under(store, [node])) keys.set(keyId, batch);
  return keys;
}
