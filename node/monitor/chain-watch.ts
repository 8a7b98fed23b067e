import type { ServedBatch } from '../../protocol/api/public-record.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { nameEnvelope } from '../../protocol/log/naming.ts';
import {
  type Authorities,
  type Finding,
  judgeCosignature,
  judgeEnvelopes,
  judgeStart,
  openCosignature,
  openEnvelope,
} from '../../protocol/proof/judge.ts';
import { ProofError } from '../../protocol/proof/proof.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { AnchorsAhead } from './anchors-ahead.ts';
import { type ChainState, EMPTY_CHAIN, type OpenBatch, type SeenAnchor } from './state.ts';

/** What a member did, with the statements that prove it. */
export interface Proven {
  readonly finding: Finding;
  readonly statements: readonly SignedStatement[];
}

/** What came of a batch that a node showed. */
export interface Taken {
  readonly proven: readonly Proven[];
  /** A cosignature names another envelope: somewhere there may be a second one. */
  readonly suspect: boolean;
}

/** Envelopes of a chain that are kept to compare others with. */
const RECENT = 64;
/** Batches that wait for the ledger or a quorum: over 80 hours of one every 15 seconds. Past it the chain waits. */
const MAX_OPEN = 20_000;
/** Anchors that fit no envelope, before more are not noted. */
const MAX_FOREIGN = 256;

/** One member's chain: every envelope follows from the one before, is on the ledger, and cosigned by a quorum. */
export class ChainWatch {
  readonly node: NodeId;
  readonly #state: { -readonly [Member in keyof ChainState]: ChainState[Member] };
  #open: Map<number, OpenBatch>;
  readonly #ahead: AnchorsAhead;

  constructor(node: NodeId, state: ChainState = EMPTY_CHAIN) {
    this.node = node;
    this.#state = { ...state, recent: [...state.recent], ahead: [], foreign: [...state.foreign] };
    this.#ahead = new AnchorsAhead(state.ahead);
    this.#open = new Map(state.open.map((open) => [open.batch, open]));
  }

  get head(): number {
    return this.#state.batch;
  }

  get tainted(): boolean {
    return this.#state.tainted;
  }

  get isFull(): boolean {
    return this.#open.size >= MAX_OPEN;
  }

  get open(): Iterable<OpenBatch> {
    return this.#open.values();
  }

  get ahead(): AnchorsAhead {
    return this.#ahead;
  }

  get foreign(): readonly SeenAnchor[] {
    return this.#state.foreign;
  }

  /** Hash of a batch's envelope, of those that are kept. */
  hashAt(batch: number): Sha256Hash | undefined {
    const signed = this.#recent(batch);
    return signed === undefined ? undefined : hashText(nativeSuite, signed.statement);
  }

  taint(): void {
    this.#state.tainted = true;
  }

  /** The batch is closed: on the ledger, and witnessed. */
  close(batch: number): void {
    this.#open.delete(batch);
  }

  /** An anchor that turned out to be that of an envelope which the nodes show. */
  explain(anchor: SeenAnchor): void {
    this.#state.foreign = this.#state.foreign.filter(({ message }) => message !== anchor.message);
  }

  /**
   * Checks a batch that a node showed and goes on from it. Throws `ProofError` or `StatementError` where it does not
   * hold, `UnknownKeyError` where a key is not known yet; what held before it counts.
   */
  take(authorities: Authorities, served: ServedBatch, now: number): Taken {
    const envelope = openEnvelope(authorities, served.envelope);
    if (envelope.node !== this.node || envelope.batch !== served.batch) {
      throw new ProofError(`batch ${envelope.node}/${envelope.batch} in the place of ${this.node}/${served.batch}`);
    }
    if (envelope.batch > this.head + 1) throw new ProofError(`batch ${envelope.batch} comes after ${this.head}`);
    const finding = this.#judge(authorities, served.envelope, envelope);
    if (finding !== null) {
      const before = this.#recent(envelope.batch) ?? this.#recent(envelope.batch - 1);
      const statements = before === undefined ? [served.envelope] : [before, served.envelope];
      return { proven: [{ finding, statements }], suspect: false };
    }
    if (envelope.batch === this.head + 1) this.#append(authorities, served.envelope, envelope, now);
    return this.#witness(authorities, served, envelope);
  }

  /** Takes an anchor of this chain, which may come before its batch. */
  anchored(seen: SeenAnchor): void {
    const open = this.#open.get(seen.batch);
    if (open !== undefined && open.message === seen.message) {
      if (open.anchoredAt === null) this.#open.set(seen.batch, { ...open, anchoredAt: seen.consensus });
      return;
    }
    if (seen.batch > this.head) {
      this.#ahead.add(seen);
      return;
    }
    const { foreign } = this.#state;
    if (foreign.some(({ message }) => message === seen.message)) return;
    if (this.#expects(seen)) return;
    if (foreign.length < MAX_FOREIGN) foreign.push(seen);
  }

  state(): ChainState {
    return { ...this.#state, open: [...this.#open.values()], ahead: this.#ahead.all() };
  }

  #judge(authorities: Authorities, signed: SignedStatement, { batch }: Envelope): Finding | null {
    const same = this.#recent(batch);
    if (same !== undefined) {
      return same.statement === signed.statement ? null : judgeEnvelopes(authorities, same, signed);
    }
    if (batch === 1 && this.head === 0) return judgeStart(authorities, signed);
    const before = this.#recent(batch - 1);
    return before === undefined ? null : judgeEnvelopes(authorities, before, signed);
  }

  #append(authorities: Authorities, signed: SignedStatement, envelope: Envelope, now: number): void {
    const { batch, sealedAt, keyId } = envelope;
    const expected = nameEnvelope(nativeSuite, authorities.rosters.genesis, envelope, signed.statement);
    const message = hashText(nativeSuite, writeLedgerMessage(expected));
    this.#open.set(batch, {
      batch,
      envelope: expected.envelope,
      message,
      sealedAt,
      keyId,
      seenAt: now,
      anchoredAt: null,
      witnesses: [],
    });
    this.#state.batch = batch;
    this.#state.recent.push(signed);
    if (this.#state.recent.length > RECENT) this.#state.recent.shift();
    for (const seen of this.#ahead.take(batch)) this.anchored(seen);
  }

  #witness(authorities: Authorities, served: ServedBatch, { node, batch }: Envelope): Taken {
    const proven: Proven[] = [];
    let suspect = false;
    for (const signed of served.cosignatures) {
      const open = this.#open.get(batch);
      if (open === undefined) break;
      const cosignature = openCosignature(authorities, signed);
      if (cosignature.node !== node || cosignature.batch !== batch) {
        throw new ProofError(`a cosignature of another batch with ${node}/${batch}`);
      }
      const finding = judgeCosignature(authorities, signed);
      if (finding !== null) proven.push({ finding, statements: [signed] });
      else if (cosignature.envelope !== open.envelope) suspect = true;
      else if (!open.witnesses.includes(cosignature.witness)) {
        if (authorities.rosters.member(cosignature.witness) === undefined) continue;
        this.#open.set(batch, { ...open, witnesses: [...open.witnesses, cosignature.witness] });
      }
    }
    return { proven, suspect };
  }

  /** Whether the anchor is that of a kept envelope, as a second message for one batch may be. */
  #expects({ batch, envelope }: SeenAnchor): boolean {
    return this.hashAt(batch) === envelope;
  }

  #recent(batch: number): SignedStatement | undefined {
    return this.#state.recent[batch - this.head - 1 + this.#state.recent.length];
  }
}
