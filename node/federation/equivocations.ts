import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { NodeId } from '../../protocol/ids.ts';
import { type Envelope, envelopeStatement } from '../../protocol/statement/envelope.ts';
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

/** (node, batch) → the proof. Never deleted. */
export const equivocationTable = new Table(
  'equivocation',
  jsonCodec((value: unknown): value is Equivocation => compiled.Check(value)),
);

/** The equivocations that this node can prove. A batch with one is never cosigned, nor is any later batch of its node. */
export class Equivocations {
  readonly #store: Store;
  readonly #keys: FederationKeys;
  /** Lowest equivocated batch of each node. */
  readonly #lowest = new Map<NodeId, number>();
  readonly #found: { readonly node: NodeId; readonly batch: number }[] = [];

  private constructor(store: Store, keys: FederationKeys) {
    this.#store = store;
    this.#keys = keys;
  }

  static async open(store: Store, keys: FederationKeys): Promise<Equivocations> {
    const equivocations = new Equivocations(store, keys);
    for await (const [, proof] of equivocationTable.under(store, [])) {
      const { node, batch } = envelopeStatement.parse(proof.first.statement);
      equivocations.#remember(node, batch);
    }
    return equivocations;
  }

  /** Whether the node's chain can no longer be trusted at this batch. */
  taints(node: NodeId, batch: number): boolean {
    return batch >= (this.#lowest.get(node) ?? Number.POSITIVE_INFINITY);
  }

  all(): readonly { readonly node: NodeId; readonly batch: number }[] {
    return this.#found;
  }

  /** Checks a proof and keeps it. Returns whether it was new. Throws `PeerStatementError` where it proves nothing. */
  async learn(proof: Equivocation): Promise<boolean> {
    const first = openEnvelope(this.#keys, proof.first);
    const second = openEnvelope(this.#keys, proof.second);
    const sameBatch = first.node === second.node && first.batch === second.batch;
    if (!sameBatch || proof.first.statement === proof.second.statement) {
      throw new PeerStatementError('malformed', 'the two envelopes do not contradict each other');
    }
    const { node, batch } = first;
    if (this.knows(node, batch)) return false;
    // Remembered at once, so that a batch with two stories is not cosigned while the proof is on its way to the disk.
    this.#remember(node, batch);
    await this.#store.write([equivocationTable.put([node, batch], proof)]);
    return true;
  }

  knows(node: NodeId, batch: number): boolean {
    return this.#found.some((found) => found.node === node && found.batch === batch);
  }

  /** Every proof, for a peer that asks. */
  async *proofs(): AsyncGenerator<Equivocation> {
    for await (const [, proof] of equivocationTable.under(this.#store, [])) yield proof;
  }

  #remember(node: NodeId, batch: number): void {
    this.#lowest.set(node, Math.min(batch, this.#lowest.get(node) ?? batch));
    this.#found.push({ node, batch });
  }
}

/** Reads and checks a peer's envelope. Throws `PeerStatementError`. */
export function openEnvelope(
  keys: Pick<FederationKeys, 'rosters' | 'directory'>,
  signed: Equivocation['first'],
): Envelope {
  return openStatement(keys, envelopeStatement, signed, ({ node, keyId, sealedAt: at, first }) => ({
    node,
    keyId,
    at,
    first,
  }));
}
