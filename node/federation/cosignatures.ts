import { hashText } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Envelope } from '../../protocol/statement/envelope.ts';
import { type Cosignature, cosignatureStatement } from '../../protocol/statement/cosignature.ts';
import { type SignedStatement, signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { timestampOf } from '../../protocol/time.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { StoredBatch } from '../sealing/batch-tables.ts';
import { statementCodec } from '../store/statement-codec.ts';
import type { Store } from '../store/store.ts';
import { numberCodec, Table } from '../store/table.ts';
import type { FederationKeys } from './federation-keys.ts';
import { Lanes } from '../lanes.ts';
import { PeerStatementError } from './peer-statement-error.ts';
import { openStatement } from './statement-check.ts';
import { mayWitness, passUnwitnessed } from './witness-terms.ts';

/** (node, batch, witness) → cosignature. */
export const cosignatureTable = new Table('cosignature', statementCodec);
/** (node, witness) → batch up to which the witness's cosignatures are all here. */
export const cosignedTable = new Table('cosigned', numberCodec);

/**
 * Cosignatures of all witnesses on all chains. A witness cosigns a chain in order, so what is missing is a range.
 *
 * Ownership: a watermark is moved in the lane of its node and witness alone, with the row that moves it.
 */
export class Cosignatures {
  readonly #store: Store;
  readonly #keys: FederationKeys;
  /** `node/witness` → watermark of `cosignedTable`. */
  readonly #watermarks = new Map<string, number>();
  readonly #lanes = new Lanes<string>();

  private constructor(store: Store, keys: FederationKeys) {
    this.#store = store;
    this.#keys = keys;
  }

  static async open(store: Store, keys: FederationKeys): Promise<Cosignatures> {
    const cosignatures = new Cosignatures(store, keys);
    for await (const [[node, witness], batch] of cosignedTable.under(store, [])) {
      cosignatures.#watermarks.set(`${node}/${witness}`, batch);
    }
    return cosignatures;
  }

  /** Batch up to which a witness's cosignatures of a chain are all here, as far as its batches were its to witness. */
  watermark(node: NodeId, witness: NodeId): number {
    return this.#watermarks.get(`${node}/${witness}`) ?? 0;
  }

  /** Makes this node's cosignature of a batch that it holds whole and checked, and keeps it. */
  async witness(batch: StoredBatch, self: NodeId, signer: Signer, now: number): Promise<SignedStatement> {
    const { envelope, signed: envelopeSigned } = batch;
    const cosignature: Cosignature = {
      v: 1,
      type: 'cosign',
      node: envelope.node,
      batch: envelope.batch,
      envelope: hashText(nativeSuite, envelopeSigned.statement),
      witness: self,
      at: timestampOf(now),
      keyId: signer.keyId,
    };
    const signed = await signStatement(cosignatureStatement, cosignature, signer);
    await this.#keep(cosignature, signed);
    return signed;
  }

  /** Checks a peer's cosignature and keeps it. Returns it, or null where it was known. Throws `PeerStatementError`. */
  async learn(signed: SignedStatement): Promise<Cosignature | null> {
    const cosignature = openStatement(this.#keys, cosignatureStatement, signed, ({ witness, keyId, at }) => ({
      node: witness,
      keyId,
      at,
      first: 0,
    }));
    const { node, witness } = cosignature;
    if (witness === node) throw new PeerStatementError('malformed', 'a node cannot witness its own batch');
    return (await this.#keep(cosignature, signed)) ? cosignature : null;
  }

  /** All cosignatures of a batch, in order of witness. */
  async of(node: NodeId, batch: number): Promise<SignedStatement[]> {
    const found: SignedStatement[] = [];
    for await (const [, signed] of cosignatureTable.under(this.#store, [node, batch])) found.push(signed);
    return found;
  }

  /** Those by members whom the batch's roster names: no other may witness it. */
  async counted({ node, batch, roster }: Envelope): Promise<SignedStatement[]> {
    const named = this.#keys.rosters.version(roster);
    const found = await this.of(node, batch);
    return found.filter(({ statement }) => mayWitness(named, cosignatureStatement.parse(statement).witness));
  }

  /** A witness's cosignatures of a chain from batch `from` on, in order. */
  async *from(node: NodeId, witness: NodeId, from: number): AsyncGenerator<SignedStatement> {
    for (let batch = from; batch <= this.watermark(node, witness); batch++) {
      const signed = await cosignatureTable.get(this.#store, node, batch, witness);
      const passed = signed === undefined ? await this.#pass(node, witness, batch - 1) : batch;
      if (passed < batch) return;
      if (signed !== undefined) yield signed;
      batch = passed;
    }
  }

  #pass(node: NodeId, witness: NodeId, from: number): Promise<number> {
    return passUnwitnessed(this.#store, this.#keys.rosters, node, witness, from);
  }

  /** Whether it was new. The first one of a witness for a batch stays. */
  #keep({ node, batch, witness }: Cosignature, signed: SignedStatement): Promise<boolean> {
    const key = `${node}/${witness}`;
    return this.#lanes.exclusive(key, async () => {
      if ((await cosignatureTable.get(this.#store, node, batch, witness)) !== undefined) return false;
      let upTo = this.watermark(node, witness);
      if (batch > upTo + 1) upTo = await this.#pass(node, witness, upTo);
      if (batch === upTo + 1) {
        upTo = batch;
        while ((await cosignatureTable.get(this.#store, node, upTo + 1, witness)) !== undefined) upTo++;
      }
      await this.#store.write([
        cosignatureTable.put([node, batch, witness], signed),
        cosignedTable.put([node, witness], upTo),
      ]);
      this.#watermarks.set(key, upTo);
      return true;
    });
  }
}
