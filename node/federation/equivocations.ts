import type { Static } from 'typebox';
import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { ProofWord } from '../../protocol/proof/proof-word.ts';
import { Closed } from '../../protocol/shapes.ts';
import { type SignedStatement, SignedStatementShape } from '../../protocol/statement/statement.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import { openStatement } from '../log/members/statement-check.ts';
import { type LoggedRival, rivalNameTable } from '../log/rival-name.ts';
import type { Store } from '../store/store.ts';
import { jsonTable } from '../store/table.ts';
import { isSignedAnew } from './outdone.ts';

/** Two different envelopes for one batch number, both signed by the node. */
export const EquivocationShape = Closed({ first: SignedStatementShape, second: SignedStatementShape });
export type Equivocation = Static<typeof EquivocationShape>;

/** (node, batch) → two envelopes of it. One goes only where better ones of its node fill its place. */
export const equivocationTable = jsonTable('equivocation', EquivocationShape);

/** A number of which a node told two stories. It stands where both its names were read on the ledger. */
export interface FoundEquivocation {
  readonly node: NodeId;
  readonly batch: number;
  readonly stands: boolean;
}

/**
 * Numbers kept about one node: it can make up any, and so can whoever stole its key. Those of all members fit into one
 * answer.
 */
export const MAX_PROOFS = 64;

/** What two envelopes come to, by what this node has read of the ledger. */
export type JudgePair = (pair: Equivocation) => Promise<ProofWord>;

interface Kept {
  readonly node: NodeId;
  readonly batch: number;
  /** The two envelopes; null where only the ledger speaks of a second one. */
  readonly pair: {
    readonly keyIds: readonly Sha256Hash[];
    /** Whether they differ as an envelope does from one that was signed again under another key. */
    readonly isAnew: boolean;
    readonly word: ProofWord;
  } | null;
}

/**
 * The numbers of which nodes told two stories, by their signatures and by the ledger. They accuse, and move no verdict:
 * what the log decided stands (protocol §2). An envelope that was signed again, as its key was revoked, is no second
 * story.
 *
 * Ownership: `#found` is moved with the rows, after they are written.
 */
export class Equivocations {
  readonly #store: Store;
  readonly #keys: FederationKeys;
  readonly #judge: JudgePair;
  readonly #found = new Map<NodeId, Map<number, Kept>>();
  readonly #locks = new KeyedLock<NodeId>();

  private constructor(store: Store, keys: FederationKeys, judge: JudgePair) {
    this.#store = store;
    this.#keys = keys;
    this.#judge = judge;
  }

  /** Reads the store. Nothing stands before `reconsider`: what the judge knows may not be open yet. */
  static async open(store: Store, keys: FederationKeys, judge: JudgePair): Promise<Equivocations> {
    const equivocations = new Equivocations(store, keys, judge);
    for await (const [, { first, second }] of equivocationTable.under(store, [])) {
      const [a, b] = [envelopeStatement.parse(first.statement), envelopeStatement.parse(second.statement)];
      equivocations.#remember(keptOf(a, b, 'two-signed'));
    }
    for await (const [[node = '', batch = '']] of rivalNameTable.under(store, [])) {
      equivocations.#noteName(nodeId(node), Number(batch));
    }
    return equivocations;
  }

  /** Whether the node is proven to have told two stories. */
  accuses(node: NodeId): boolean {
    return [...(this.#found.get(node)?.values() ?? [])].some(stands);
  }

  /**
   * Whether the node's own signature is under two stories, wherever they were named: it is to sign nothing more. What a
   * compromised key signed may be an attacker's, and what was signed again is no equivocation.
   */
  isForked(node: NodeId): boolean {
    const { directory } = this.#keys;
    return [...(this.#found.get(node)?.values() ?? [])].some(({ pair }) => {
      if (pair === null || this.#isExcused(node, pair)) return false;
      return pair.keyIds.every((keyId) => directory.compromisedSince(node, keyId) === null);
    });
  }

  /** What is to be shown. */
  all(): readonly FoundEquivocation[] {
    return this.#kept()
      .filter(({ node, pair }) => pair === null || !this.#isExcused(node, pair))
      .map((kept) => ({ node: kept.node, batch: kept.batch, stands: stands(kept) }));
  }

  /** Whether a number that the store speaks of is to be shown: not one that was signed again. */
  isShown(node: NodeId, batch: number): boolean {
    const pair = this.#found.get(node)?.get(batch)?.pair ?? null;
    return pair === null || !this.#isExcused(node, pair);
  }

  /** Numbers of which both envelopes are here. */
  pairs(): readonly FoundEquivocation[] {
    return this.#kept()
      .filter(({ pair }) => pair !== null)
      .map((kept) => ({ node: kept.node, batch: kept.batch, stands: stands(kept) }));
  }

  /**
   * Checks two envelopes and keeps them, where they are wanted. Returns whether they were new. Throws
   * `PeerStatementError` where they contradict nothing, and what the store throws.
   */
  async learn(proof: Equivocation): Promise<boolean> {
    const first = openEnvelope(this.#keys, proof.first);
    const second = openEnvelope(this.#keys, proof.second);
    const { node, batch } = first;
    if (second.node !== node || second.batch !== batch || proof.first.statement === proof.second.statement) {
      throw new PeerStatementError('malformed', 'the two envelopes do not contradict each other');
    }
    return this.#locks.exclusive(node, () => this.#learn(proof, first, second));
  }

  async #learn(proof: Equivocation, first: Envelope, second: Envelope): Promise<boolean> {
    const { node, batch } = first;
    if (this.proves(node, batch)) return false;
    const kept = keptOf(first, second, await this.#judge(proof));
    if (kept.pair !== null && this.#isExcused(node, kept.pair)) return false;
    const before = this.#found.get(node)?.get(batch);
    if (before !== undefined && before.pair !== null && !stands(kept)) return false;
    const dropped = before === undefined ? this.#placeFor(kept) : null;
    if (dropped === undefined) return false;
    await this.#store.write([
      equivocationTable.put([node, batch], proof),
      ...(dropped === null ? [] : [equivocationTable.del(node, dropped.batch)]),
    ]);
    this.#remember(kept);
    if (dropped !== null) this.#found.get(node)?.delete(dropped.batch);
    return true;
  }

  /** The ledger names rivals. Resolves once the pairs that are here are judged by them. */
  async noteRivals(rivals: readonly LoggedRival[]): Promise<void> {
    for (const { node, batch } of rivals) this.#noteName(node, batch);
    for (const node of new Set(rivals.map((rival) => rival.node))) await this.reconsider(node);
  }

  /** Judges the pairs of a node once more, or of all: the ledger named an envelope, or revoked a key. */
  async reconsider(only?: NodeId): Promise<void> {
    for (const kept of this.#kept()) {
      if (kept.pair === null || (only !== undefined && kept.node !== only)) continue;
      const proof = await equivocationTable.get(this.#store, kept.node, kept.batch);
      if (proof === undefined) continue;
      const word = await this.#judge(proof);
      // Not where another pair took its place meanwhile.
      const isSame = this.#found.get(kept.node)?.get(kept.batch) === kept;
      if (isSame) this.#remember({ ...kept, pair: { ...kept.pair, word } });
    }
  }

  /** Whether both envelopes of a number that a peer speaks of are to be asked for. */
  wants(node: NodeId, batch: number): boolean {
    const known = this.#found.get(node)?.get(batch);
    return known === undefined ? !this.#isFull(node) : known.pair === null;
  }

  /** Whether two envelopes of the number are here. */
  knows(node: NodeId, batch: number): boolean {
    return (this.#found.get(node)?.get(batch)?.pair ?? null) !== null;
  }

  /** Whether two envelopes are here by keys that nobody else may have held, whatever the ledger says of them. */
  isSigned(node: NodeId, batch: number): boolean {
    const pair = this.#found.get(node)?.get(batch)?.pair ?? null;
    return pair !== null && pair.word !== 'key-revoked' && !this.#isExcused(node, pair);
  }

  /** Whether they are here and stand. */
  proves(node: NodeId, batch: number): boolean {
    const kept = this.#found.get(node)?.get(batch);
    return kept !== undefined && stands(kept);
  }

  /** Every pair, for a peer that asks. */
  async *proofs(): AsyncGenerator<Equivocation> {
    for await (const [, proof] of equivocationTable.under(this.#store, [])) yield proof;
  }

  #kept(): readonly Kept[] {
    return [...this.#found.values()].flatMap((found) => Array.from(found.values()));
  }

  /** One of the two may be the other signed again: its key was revoked, and the ledger does not name both. */
  #isExcused(node: NodeId, { isAnew, keyIds, word }: NonNullable<Kept['pair']>): boolean {
    if (!isAnew || word === 'proven') return false;
    return keyIds.some((keyId) => this.#keys.directory.revocation(node, keyId) !== undefined);
  }

  #isFull(node: NodeId): boolean {
    return (this.#found.get(node)?.size ?? 0) >= MAX_PROOFS;
  }

  /** What gives way to a number that is new: null where there is room, undefined where all that is kept is better. */
  #placeFor(kept: Kept): Kept | null | undefined {
    if (!this.#isFull(kept.node)) return null;
    const [worst] = [...(this.#found.get(kept.node)?.values() ?? [])].toSorted((a, b) => -compare(a, b));
    return worst !== undefined && compare(kept, worst) < 0 ? worst : undefined;
  }

  #noteName(node: NodeId, batch: number): void {
    if (this.#found.get(node)?.has(batch) !== true && !this.#isFull(node)) this.#remember({ node, batch, pair: null });
  }

  #remember(kept: Kept): void {
    const found = this.#found.get(kept.node) ?? new Map<number, Kept>();
    this.#found.set(kept.node, found.set(kept.batch, kept));
  }
}

function keptOf(first: Envelope, second: Envelope, word: ProofWord): Kept {
  const { node, batch } = first;
  return { node, batch, pair: { keyIds: [first.keyId, second.keyId], isAnew: isSignedAnew(first, second), word } };
}

function stands({ pair }: Kept): boolean {
  return pair?.word === 'proven';
}

/** First what stands, then what the ledger speaks of, then the rest; of each the earliest number first. */
function compare(a: Kept, b: Kept): number {
  return rank(a) - rank(b) || a.batch - b.batch;
}

function rank(kept: Kept): number {
  if (stands(kept)) return 0;
  return kept.pair === null ? 1 : 2;
}

/** Reads and checks a peer's envelope. Throws `PeerStatementError`. */
export function openEnvelope(keys: Pick<FederationKeys, 'rosters' | 'directory'>, signed: SignedStatement): Envelope {
  return openStatement(keys, envelopeStatement, signed, ({ node, keyId, first }) => ({ node, keyId, first }));
}
