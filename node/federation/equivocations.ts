import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { NodeId } from '../../protocol/ids.ts';
import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import { SignedStatementShape } from '../../protocol/statement/statement.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';
import { envelopeStands } from './envelope-standing.ts';
import type { FederationKeys } from './federation-keys.ts';
import type { LedgerView } from './ledger-view.ts';
import { PeerStatementError } from './peer-statement-error.ts';
import { openStatement } from './statement-check.ts';

/** Two different envelopes for one batch number, both signed by the node: proof for anyone that it told two stories. */
export const EquivocationShape = Type.Object(
  { first: SignedStatementShape, second: SignedStatementShape },
  { additionalProperties: false },
);
export type Equivocation = Static<typeof EquivocationShape>;

const compiled = Compile(EquivocationShape);

/** (node, batch) → the proof. One goes only where its node has given more than are kept. */
export const equivocationTable = new Table(
  'equivocation',
  jsonCodec((value: unknown): value is Equivocation => compiled.Check(value)),
);

/** A proof about one batch. It counts as long as both its envelopes stand: what a thief signed accuses nobody. */
export interface FoundEquivocation {
  readonly node: NodeId;
  readonly batch: number;
  readonly stands: boolean;
}

/**
 * Proofs kept about one node: it can make any number about batches that never were, and so can whoever stole its key.
 * Those of all members fit into one answer.
 */
export const MAX_PROOFS = 64;

/**
 * The equivocations that this node can prove. A batch with one that stands is never cosigned, nor is any later batch of
 * its node. One of which an envelope fell with a revoked key is kept and shown, and taints nothing.
 */
export class Equivocations {
  readonly #store: Store;
  readonly #keys: FederationKeys;
  readonly #ledger: Pick<LedgerView, 'envelopeAnchor'>;
  readonly #found = new Map<NodeId, Map<number, FoundEquivocation>>();
  /** Lowest equivocated batch of each node, of the proofs that stand. */
  readonly #lowest = new Map<NodeId, number>();

  private constructor(store: Store, keys: FederationKeys, ledger: Pick<LedgerView, 'envelopeAnchor'>) {
    this.#store = store;
    this.#keys = keys;
    this.#ledger = ledger;
  }

  static async open(
    store: Store,
    keys: FederationKeys,
    ledger: Pick<LedgerView, 'envelopeAnchor'>,
  ): Promise<Equivocations> {
    const equivocations = new Equivocations(store, keys, ledger);
    for await (const [, proof] of equivocationTable.under(store, [])) {
      const { node, batch } = envelopeStatement.parse(proof.first.statement);
      equivocations.#remember({ node, batch, stands: await equivocations.#stands(proof) });
    }
    return equivocations;
  }

  /** Whether the node's chain can no longer be trusted at this batch. */
  taints(node: NodeId, batch: number): boolean {
    return batch >= this.#lowestOf(node);
  }

  all(): readonly FoundEquivocation[] {
    return this.#found
      .values()
      .flatMap((found) => found.values())
      .toArray();
  }

  /**
   * Checks a proof and keeps it, if it is wanted; one that stands takes the place of one that does not. Returns whether it
   * was new. Throws `PeerStatementError` where it proves nothing.
   */
  async learn(proof: Equivocation): Promise<boolean> {
    const first = openEnvelope(this.#keys, proof.first);
    const second = openEnvelope(this.#keys, proof.second);
    const sameBatch = first.node === second.node && first.batch === second.batch;
    if (!sameBatch || proof.first.statement === proof.second.statement) {
      throw new PeerStatementError('malformed', 'the two envelopes do not contradict each other');
    }
    const { node, batch } = first;
    if (!this.wants(node, batch)) return false;
    const { directory } = this.#keys;
    const isOwn = [first, second].every(({ keyId }) => directory.compromisedSince(node, keyId) === null);
    // Remembered at once, so that a batch with two stories is not cosigned while the proof is on its way to the disk.
    const stands = isOwn || (await this.#stands(proof));
    if (!this.wants(node, batch) || (!stands && (this.knows(node, batch) || this.#isFull(node)))) return false;
    const dropped = !this.knows(node, batch) && this.#isFull(node) ? this.#drop(node) : undefined;
    this.#remember({ node, batch, stands });
    await this.#store.write([
      equivocationTable.put([node, batch], proof),
      ...(dropped === undefined ? [] : [equivocationTable.del(node, dropped)]),
    ]);
    return true;
  }

  /**
   * Whether a proof about the batch that stands would be kept: of a node with many, one about an earlier batch than all
   * that are here, since its chain is tainted from there on.
   */
  wants(node: NodeId, batch: number): boolean {
    if (this.proves(node, batch)) return false;
    return this.knows(node, batch) || !this.#isFull(node) || batch < this.#lowestOf(node);
  }

  /** Whether a proof about the batch is here. */
  knows(node: NodeId, batch: number): boolean {
    return this.#found.get(node)?.has(batch) === true;
  }

  /** Whether a proof about the batch is here that stands. */
  proves(node: NodeId, batch: number): boolean {
    return this.#found.get(node)?.get(batch)?.stands === true;
  }

  /**
   * Judges the proofs about a node once more, or those about one of its batches: a key of it was revoked, or the ledger
   * showed the batch.
   */
  async reconsider(node: NodeId, only?: number): Promise<void> {
    for (const found of this.#found.get(node)?.values() ?? []) {
      if (only !== undefined && found.batch !== only) continue;
      const proof = await equivocationTable.get(this.#store, node, found.batch);
      const stands = proof === undefined ? found.stands : await this.#stands(proof);
      // Not where another proof took its place meanwhile.
      if (this.#found.get(node)?.get(found.batch) === found) this.#remember({ ...found, stands });
    }
  }

  /** Every proof, for a peer that asks. */
  async *proofs(): AsyncGenerator<Equivocation> {
    for await (const [, proof] of equivocationTable.under(this.#store, [])) yield proof;
  }

  async #stands({ first, second }: Equivocation): Promise<boolean> {
    for (const { statement } of [first, second]) {
      const envelope = envelopeStatement.parse(statement);
      if (!(await envelopeStands(this.#keys.directory, this.#ledger, envelope, statement))) return false;
    }
    return true;
  }

  #isFull(node: NodeId): boolean {
    return (this.#found.get(node)?.size ?? 0) >= MAX_PROOFS;
  }

  #lowestOf(node: NodeId): number {
    return this.#lowest.get(node) ?? Number.POSITIVE_INFINITY;
  }

  /** Forgets one of a node's proofs, never the lowest that stands: one that does not, or the one of the latest batch. */
  #drop(node: NodeId): number | undefined {
    const found = this.#found.get(node);
    const all = [...(found?.values() ?? [])];
    const batch = (all.find(({ stands }) => !stands) ?? all.toSorted((a, b) => b.batch - a.batch)[0])?.batch;
    if (batch !== undefined) found?.delete(batch);
    return batch;
  }

  #remember(equivocation: FoundEquivocation): void {
    const { node, batch } = equivocation;
    const found = this.#found.get(node) ?? new Map<number, FoundEquivocation>();
    this.#found.set(node, found.set(batch, equivocation));
    const lowest = this.#lowest.get(node);
    if (equivocation.stands) this.#lowest.set(node, Math.min(batch, lowest ?? batch));
    else if (lowest === batch) this.#lowest.set(node, lowestOf(found));
  }
}

function lowestOf(found: ReadonlyMap<number, FoundEquivocation>): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const { batch, stands } of found.values()) if (stands) lowest = Math.min(lowest, batch);
  return lowest;
}

/** Reads and checks a peer's envelope. Throws `PeerStatementError`. */
export function openEnvelope(
  keys: Pick<FederationKeys, 'rosters' | 'directory'>,
  signed: Equivocation['first'],
): Envelope {
  return openStatement(keys, envelopeStatement, signed, ({ node, keyId, first }) => ({ node, keyId, first }));
}
