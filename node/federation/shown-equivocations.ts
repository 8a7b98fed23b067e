import type { ShownEnvelope, ShownEquivocation } from '../../protocol/api/equivocations.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { FederationLog } from '../log/federation-log.ts';
import { type LedgerName, rivalNameTable } from '../log/rival-name.ts';
import { readBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import type { Table } from '../store/table.ts';
import { type Equivocations, equivocationTable } from './equivocations.ts';

export interface ShownSources {
  readonly store: Store;
  readonly equivocations: Pick<Equivocations, 'isShown' | 'proves'>;
  readonly federationLog: Pick<FederationLog, 'decisionOf' | 'rivalOf'>;
}

/** A number of a node. */
export interface BatchPlace {
  readonly node: NodeId;
  readonly batch: number;
}

/**
 * The numbers that a node told two stories of, by the ledger or by envelopes that members showed, in order from after a
 * place on; `next` is the place to go on after, null at the end.
 */
export async function shownAfter(
  sources: ShownSources,
  after: BatchPlace | null,
  limit: number,
): Promise<{ readonly page: readonly ShownEquivocation[]; readonly next: BatchPlace | null }> {
  const { store, equivocations } = sources;
  const places = [
    ...(await placesOf(store, equivocationTable, after, limit + 1)),
    ...(await placesOf(store, rivalNameTable, after, limit + 1)),
  ];
  const inOrder = new Map(places.toSorted(inOrderOfKeys).map((place) => [keyOf(place), place] as const));
  const taken = [...inOrder.values()].slice(0, limit);
  const shown = taken.filter(({ node, batch }) => equivocations.isShown(node, batch));
  const page = await Promise.all(shown.map((place) => shownOf(sources, place)));
  return { page, next: inOrder.size > limit ? (taken.at(-1) ?? null) : null };
}

async function placesOf(
  store: Store,
  table: Table<unknown>,
  after: BatchPlace | null,
  limit: number,
): Promise<BatchPlace[]> {
  const range = after === null ? { limit } : { limit, after: keyOf(after) };
  const rows = await Array.fromAsync(table.under(store, [], range));
  return rows.map(([[node = '', batch = '']]) => ({ node: nodeId(node), batch: Number(batch) }));
}

/** As the keys of both tables name it. */
function keyOf({ node, batch }: BatchPlace): string {
  return rivalNameTable.key(node, batch).slice(rivalNameTable.name.length + 1);
}

function inOrderOfKeys(a: BatchPlace, b: BatchPlace): number {
  return keyOf(a) < keyOf(b) ? -1 : 1;
}

async function shownOf(
  { store, equivocations, federationLog }: ShownSources,
  { node, batch }: BatchPlace,
): Promise<ShownEquivocation> {
  const pair = await equivocationTable.get(store, node, batch);
  const held = await readBatch(store, node, batch);
  const signed = new Map<Sha256Hash, SignedStatement>();
  for (const each of [held?.signed, pair?.first, pair?.second]) {
    if (each !== undefined) signed.set(hashText(nativeSuite, each.statement), each);
  }
  const decided = await federationLog.decisionOf(node, batch);
  const rival = await federationLog.rivalOf(node, batch);
  const envelopes: ShownEnvelope[] = [];
  for (const [name, isDecided] of [[decided, true] as const, [rival, false] as const]) {
    const envelope = name === undefined ? null : envelopeNamed(name.message);
    if (name === undefined || envelope === null) continue;
    envelopes.push({ envelope, name: shownName(name), decided: isDecided, signed: signed.get(envelope) ?? null });
    signed.delete(envelope);
  }
  const besides = [...signed].map(([envelope, each]) => ({ envelope, name: null, decided: false, signed: each }));
  const all = [...envelopes, ...besides].slice(0, MAX_ENVELOPES);
  return { node, batch, stands: equivocations.proves(node, batch), envelopes: all };
}

/** Envelopes of one number that are shown: those that the ledger names come first. */
const MAX_ENVELOPES = 4;

function shownName({ sequence, consensusTimestamp, payer }: Omit<LedgerName, 'index' | 'message'>) {
  return { sequence, consensusTimestamp, payer };
}

function envelopeNamed(message: string): Sha256Hash | null {
  const named = parseLedgerMessage(message);
  return named.type === 'batch' ? named.envelope : null;
}
