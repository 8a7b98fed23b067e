import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import { SignedStatementShape } from '../../protocol/statement/statement.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';
import type { FederationKeys } from './federation-keys.ts';
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

/** A proof about one batch. It counts while both its keys do: what a thief signed accuses nobody. */
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

/** What is remembered of a proof: the keys that signed its envelopes. */
interface Kept {
  readonly node: NodeId;
  readonly batch: number;
  readonly keyIds: readonly Sha256Hash[];
}

/**
 * The equivocations that this node can prove. They accuse, and move no verdict. One of which a key was compromised is kept
 * and shown, and taints nothing.
 */
export class Equivocations {
  readonly #store: Store;
  readonly #keys: FederationKeys;
  readonly #found = new Map<NodeId, Map<number, Kept>>();

  private constructor(store: Store, keys: FederationKeys) {
    this.#store = store;
    this.#keys = keys;
  }

  static async open(store: Store, keys: FederationKeys): Promise<Equivocations> {
    const equivocations = new Equivocations(store, keys);
    for await (const [, { first, second }] of equivocationTable.under(store, [])) {
      const [a, b] = [envelopeStatement.parse(first.statement), envelopeStatement.parse(second.statement)];
      equivocations.#remember({ node: a.node, batch: a.batch, keyIds: [a.keyId, b.keyId] });
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
      .map((kept) => ({ node: kept.node, batch: kept.batch, stands: this.#stands(kept) }))
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
    const kept: Kept = { node, batch, keyIds: [first.keyId, second.keyId] };
    if (!this.#stands(kept) && (this.knows(node, batch) || this.#isFull(node))) return false;
    const dropped = !this.knows(node, batch) && this.#isFull(node) ? this.#drop(node) : undefined;
    this.#remember(kept);
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
    const kept = this.#found.get(node)?.get(batch);
    return kept !== undefined && this.#stands(kept);
  }

  /** Every proof, for a peer that asks. */
  async *proofs(): AsyncGenerator<Equivocation> {
    for await (const [, proof] of equivocationTable.under(this.#store, [])) yield proof;
  }

  #stands({ node, keyIds }: Kept): boolean {
    const { directory } = this.#keys;
    return keyIds.every((keyId) => directory.compromisedSince(node, keyId) === null);
  }

  #isFull(node: NodeId): boolean {
    return (this.#found.get(node)?.size ?? 0) >= MAX_PROOFS;
  }

  #lowestOf(node: NodeId): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const kept of this.#found.get(node)?.values() ?? []) {
      if (kept.batch < lowest && this.#stands(kept)) lowest = kept.batch;
    }
    return lowest;
  }

  /** Forgets one of a node's proofs, never the lowest that stands: one that does not, or the one of the latest batch. */
  #drop(node: NodeId): number | undefined {
    const found = this.#found.get(node);
    const all = [...(found?.values() ?? [])];
    const batch = (all.find((kept) => !this.#stands(kept)) ?? all.toSorted((a, b) => b.batch - a.batch)[0])?.batch;
    if (batch !== undefined) found?.delete(batch);
    return batch;
  }

  #remember(kept: Kept): void {
    const found = this.#found.get(kept.node) ?? new Map<number, Kept>();
    this.#found.set(kept.node, found.set(kept.batch, kept));
  }
}

/** Reads and checks a peer's envelope. Throws `PeerStatementError`. */
export function openEnvelope(
  keys: Pick<FederationKeys, 'rosters' | 'directory'>,
  signed: Equivocation['first'],
): Envelope {
  return openStatement(keys, envelopeStatement, signed, ({ node, keyId, first }) => ({ node, keyId, first }));
}
