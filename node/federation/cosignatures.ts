import { hashText } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
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
import { Slices } from '../turns.ts';

/** (node, batch, witness) → cosignature. */
export const cosignatureTable = new Table('cosignature', statementCodec);
/** (node, witness) → batch up to which the witness's cosignatures are all here. */
export const cosignedTable = new Table('cosigned', numberCodec);

/** Cosignatures that are read together. */
const READ_AT_ONCE = 32;

interface Made {
  readonly cosignature: Cosignature;
  readonly signed: SignedStatement;
}

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

  /** Makes this node's cosignatures of batches of one chain that it holds whole and checked; keeps them in one write. */
  async witness(
    batches: readonly StoredBatch[],
    self: NodeId,
    signer: Signer,
    now: number,
  ): Promise<SignedStatement[]> {
    const made: Made[] = [];
    const slices = new Slices();
    for (const { envelope, signed: envelopeSigned } of batches) {
      if (slices.isOver) await slices.rest();
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
      made.push({ cosignature, signed: await signStatement(cosignatureStatement, cosignature, signer) });
    }
    await this.#keep(made, () => true);
    return made.map(({ signed }) => signed);
  }

  /** Checks a peer's cosignature and keeps it. Returns it, or null where it was known. Throws `PeerStatementError`. */
  async learn(signed: SignedStatement): Promise<Cosignature | null> {
    const cosignature = this.#open(signed);
    const isNew = await this.#keep([{ cosignature, signed }], () => true);
    return isNew ? cosignature : null;
  }

  /**
   * Checks many cosignatures at once and keeps those that hold, those of one witness on one chain in one write. What is
   * known is not checked again.
   */
  async learnAll(signed: readonly SignedStatement[], onRefused: (error: PeerStatementError) => void): Promise<void> {
    const holds = (read: () => Cosignature) => {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof PeerStatementError)) throw error;
        onRefused(error);
        return undefined;
      }
    };
    const made = signed.flatMap((statement): Made[] => {
      const cosignature = holds(() => readCosignature(statement));
      return cosignature === undefined ? [] : [{ cosignature, signed: statement }];
    });
    for (const run of Map.groupBy(made, ({ cosignature: { node, witness } }) => `${node}/${witness}`).values()) {
      await this.#keep(run, (one) => holds(() => this.#open(one.signed)) !== undefined);
    }
  }

  /** Whether a witness's cosignature of a batch is here, of whichever envelope. */
  async has(node: NodeId, batch: number, witness: NodeId): Promise<boolean> {
    if (batch <= this.watermark(node, witness)) return true;
    return (await cosignatureTable.get(this.#store, node, batch, witness)) !== undefined;
  }

  /** All cosignatures of a batch, in order of witness. */
  async of(node: NodeId, batch: number): Promise<SignedStatement[]> {
    const found: SignedStatement[] = [];
    for await (const [, signed] of cosignatureTable.under(this.#store, [node, batch])) found.push(signed);
    return found;
  }

  /** Those by members, of whichever roster. */
  async counted({ node, batch }: Envelope): Promise<SignedStatement[]> {
    const { rosters } = this.#keys;
    const found = await this.of(node, batch);
    return found.filter(
      ({ statement }) => rosters.member(cosignatureStatement.parse(statement).witness) !== undefined,
    );
  }

  /** A witness's cosignatures of a chain from batch `from` on, in order. */
  async *from(node: NodeId, witness: NodeId, from: number): AsyncGenerator<SignedStatement> {
    for (let batch = from; batch <= this.watermark(node, witness); batch++) {
      const upTo = Math.min(batch + READ_AT_ONCE - 1, this.watermark(node, witness));
      const batches = Array.from({ length: upTo - batch + 1 }, (_, i) => batch + i);
      const rows = await this.#store.getMany(batches.map((number) => cosignatureTable.key(node, number, witness)));
      const end = rows.findIndex((row) => row === undefined);
      for (const row of end < 0 ? rows : rows.slice(0, end)) if (row) yield cosignatureTable.decode(row);
      if (end >= 0) return;
      batch = upTo;
    }
  }

  /** Throws `PeerStatementError`. */
  #open(signed: SignedStatement): Cosignature {
    const cosignature = openStatement(this.#keys, cosignatureStatement, signed, ({ witness, keyId, at }) => ({
      node: witness,
      keyId,
      at,
      first: 0,
    }));
    if (cosignature.witness === cosignature.node) {
      throw new PeerStatementError('malformed', 'a node cannot witness its own batch');
    }
    return cosignature;
  }

  /**
   * Keeps what one witness made of one chain, in one write, but nothing that is known or does not hold. Whether any was
   * new. The first one of a witness for a batch stays.
   */
  async #keep(made: readonly Made[], holds: (one: Made) => boolean): Promise<boolean> {
    const [first] = made;
    if (first === undefined) return false;
    const { node, witness } = first.cosignature;
    const key = `${node}/${witness}`;
    return this.#lanes.exclusive(key, async () => {
      const fresh = await this.#fresh(made, holds);
      if (fresh.size === 0) return false;
      const upTo = await this.#watermarkWith(node, witness, fresh);
      const rows = [...fresh].map(([batch, signed]) => cosignatureTable.put([node, batch, witness], signed));
      await this.#store.write([...rows, cosignedTable.put([node, witness], upTo)]);
      this.#watermarks.set(key, upTo);
      return true;
    });
  }

  async #fresh(made: readonly Made[], holds: (one: Made) => boolean): Promise<Map<number, SignedStatement>> {
    const known = await this.#store.getMany(
      made.map(({ cosignature: { node, batch, witness } }) => cosignatureTable.key(node, batch, witness)),
    );
    const fresh = new Map<number, SignedStatement>();
    await new Slices().each(made, (one, i) => {
      const { batch } = one.cosignature;
      if (known[i] === undefined && !fresh.has(batch) && holds(one)) fresh.set(batch, one.signed);
    });
    return fresh;
  }

  /** Batch up to which nothing is missing once those that are fresh are here too. */
  async #watermarkWith(node: NodeId, witness: NodeId, fresh: ReadonlyMap<number, SignedStatement>): Promise<number> {
    let upTo = this.watermark(node, witness);
    const follows = async () =>
      fresh.has(upTo + 1) || (await cosignatureTable.get(this.#store, node, upTo + 1, witness)) !== undefined;
    while (await follows()) upTo++;
    return upTo;
  }
}

/** Reads who witnesses what, and checks nothing. Throws `PeerStatementError`. */
function readCosignature({ statement }: SignedStatement): Cosignature {
  try {
    return cosignatureStatement.parse(statement);
  } catch (error) {
    throw new PeerStatementError('malformed', error instanceof Error ? error.message : 'unreadable cosignature');
  }
}
