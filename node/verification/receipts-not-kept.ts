import type { Logger } from 'pino';
import Type, { type Static } from 'typebox';
import { RECEIPTS_OF_A_NODE } from '../../protocol/api/equivocations.ts';
import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { Decision } from '../../protocol/log/decision.ts';
import { judgeProof } from '../../protocol/proof/judge-proof.ts';
import { type MisdeedProof, PROOF_FORMAT } from '../../protocol/proof/misdeed.ts';
import { Base64urlShape, Closed, Sha256Shape } from '../../protocol/shapes.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import { PathShape } from '../../protocol/verdict/bundle.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import { openStatement } from '../log/members/statement-check.ts';
import { readBatchLeaf, readBatchOf, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import { decisionNaming, readBatchPath } from './evidence.ts';
import { type FederationProofSources, placeDecision, proveFederation } from './federation-proof.ts';
import type { GivenReceipt } from './judge-bundle.ts';
import { type LogKnowledge, logViewOf } from './log-knowledge.ts';
import type { ProofTrees } from './proof-trees.ts';

const KeptShape = Closed({ statement: Type.String(), signature: Base64urlShape, leaf: Sha256Shape, path: PathShape });
type KeptReceipt = Static<typeof KeptShape>;

/** (node, seq) → a receipt of the node for that record, in whose place the decided batch holds another one. */
export const receiptNotKeptTable = jsonTable('receipt-not-kept', KeptShape);

export interface ReceiptSources extends FederationProofSources {
  readonly store: Store;
  readonly trees: ProofTrees;
  readonly keys: FederationProofSources['keys'] & Pick<FederationKeys, 'directory' | 'rosters'>;
  readonly knowledge: FederationProofSources['knowledge'] & Pick<LogKnowledge, 'ask'>;
  readonly log: Logger;
}

/** A record whose receipt its node did not keep. */
export interface BrokenPromise {
  readonly node: NodeId;
  readonly seq: number;
}

/** The decided batch that holds a number of its node, with the leaf that it has there. */
interface DecidedPlace {
  readonly batch: StoredBatch;
  readonly decision: Decision;
  readonly leaf: Sha256Hash;
}

/**
 * Receipts that the decided batch does not keep (protocol §8), from anyone who shows them: each is compared with the
 * batch that this node holds, and kept where it proves to anyone that its node broke its word. Whoever stole a key
 * could sign as many: what a compromised key signed is neither kept nor shown.
 */
export class ReceiptsNotKept {
  readonly #sources: ReceiptSources;
  readonly #locks = new KeyedLock<NodeId>();

  constructor(sources: ReceiptSources) {
    this.#sources = sources;
  }

  /**
   * Takes a receipt that somebody shows. Resolves to whether it is evidence that was not kept yet. Costs a look at one
   * row where the batch keeps it, and one signature where it is nobody's. Throws `LogDamagedError`.
   */
  async note(given: GivenReceipt): Promise<boolean> {
    const place = await this.#placeOf(given);
    if (place === null || place.leaf === given.leaf || !this.#isSigned(given)) return false;
    return this.#locks.exclusive(given.node, () => this.#keep(given, place));
  }

  /** Every record of which a receipt is kept that stands, in order of nodes and numbers. */
  async all(): Promise<readonly BrokenPromise[]> {
    const rows = await Array.fromAsync(receiptNotKeptTable.under(this.#sources.store, []));
    return rows.flatMap(([[name = '', seq = ''], kept]) => {
      const node = nodeId(name);
      return this.#stands(node, kept) ? [{ node, seq: Number(seq) }] : [];
    });
  }

  /** The files that prove it to others, at most `RECEIPTS_OF_A_NODE`. Throws `LogDamagedError`. */
  async proofsOf(node: NodeId): Promise<readonly MisdeedProof[]> {
    const proofs: MisdeedProof[] = [];
    for await (const [[seq = ''], kept] of receiptNotKeptTable.under(this.#sources.store, [node])) {
      const given = { node, seq: Number(seq), ...kept };
      const place = this.#stands(node, kept) ? await this.#placeOf(given) : null;
      if (place !== null) proofs.push(await this.#proofOf(given, place));
    }
    return proofs;
  }

  async #keep(given: GivenReceipt, place: DecidedPlace): Promise<boolean> {
    const { store, knowledge, log } = this.#sources;
    const { node, seq, leaf, statement, signature, path } = given;
    if ((await receiptNotKeptTable.get(store, node, seq)) !== undefined) return false;
    const rows = await Array.fromAsync(receiptNotKeptTable.under(store, [node]));
    const fallen = rows.find(([, kept]) => !this.#stands(node, kept));
    if (rows.length >= RECEIPTS_OF_A_NODE && fallen === undefined) return false;
    const proof = await this.#proofOf(given, place);
    const { index } = place.decision;
    const answers = await knowledge.ask({ places: [index], sizes: [], batches: [] });
    const verdict = judgeProof(nativeSuite, proof, { log: logViewOf(answers) });
    if (!verdict.proven) return false;
    const isFull = rows.length >= RECEIPTS_OF_A_NODE;
    await store.write([
      receiptNotKeptTable.put([node, seq], { statement, signature, leaf, path: [...path] }),
      ...(isFull && fallen !== undefined ? [receiptNotKeptTable.del(node, Number(fallen[0][0]))] : []),
    ]);
    log.error({ node, seq, batch: place.batch.envelope.batch }, 'a decided batch does not keep a receipt of its node');
    return true;
  }

  /** Null where this node does not hold the batch, or holds another one than was decided. */
  async #placeOf({ node, seq }: Pick<GivenReceipt, 'node' | 'seq'>): Promise<DecidedPlace | null> {
    const { store, federationLog } = this.#sources;
    const batch = await readBatchOf(store, node, seq);
    if (batch === undefined) return null;
    const decision = await decisionNaming((of, number) => federationLog.decisionOf(of, number), batch);
    const leaf = await readBatchLeaf(store, batch.envelope, seq);
    return decision && { batch, decision, leaf: writeSha256(leaf) };
  }

  /** Whether the node it speaks of signed it, by a key that nobody else may have held. */
  #isSigned(given: GivenReceipt): boolean {
    const { keys } = this.#sources;
    try {
      const { node } = openStatement(keys, groupStatement, given, ({ node: by, keyId, first }) => ({
        node: by,
        keyId,
        first,
      }));
      return node === given.node && this.#stands(node, given);
    } catch (error) {
      if (error instanceof PeerStatementError) return false;
      throw error;
    }
  }

  #stands(node: NodeId, { statement }: Pick<KeptReceipt, 'statement'>): boolean {
    const { keyId } = groupStatement.parse(statement);
    return this.#sources.keys.directory.compromisedSince(node, keyId) === null;
  }

  async #proofOf(given: GivenReceipt, { batch, decision, leaf }: DecidedPlace): Promise<MisdeedProof> {
    const { federationLog } = this.#sources;
    const { node, seq, statement, signature, path } = given;
    const { envelope, signed } = batch;
    const signing = [
      { node, keyId: groupStatement.parse(statement).keyId },
      { node, keyId: envelope.keyId },
    ];
    const subject = { node, batch: envelope.batch, decision };
    const { statements, sizes } = await proveFederation(this.#sources, [subject], signing);
    const batchPath = (await readBatchPath(this.#sources, envelope, seq)).map(writeSha256);
    return {
      format: PROOF_FORMAT,
      misdeed: {
        type: 'receipt-not-kept',
        seq,
        receipt: { statement, signature, leaf: given.leaf, path: [...path] },
        batch: { envelope: signed.statement, signature: signed.signature, leaf, path: batchPath },
        decision: await placeDecision(federationLog, decision, sizes),
      },
      ...statements,
    };
  }
}
