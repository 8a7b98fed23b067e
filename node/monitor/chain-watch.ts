import type { ServedBatch } from '../../protocol/api/public-record.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { nameEnvelope } from '../../protocol/log/naming.ts';
import {
  type Authorities,
  type Finding,
  judgeEnvelopes,
  judgeStart,
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

/** Envelopes of a chain that are kept to compare others with. */
const RECENT = 64;
/** Batches that wait for the ledger: over 80 hours of one every 15 seconds. Past it the chain waits. */
const MAX_OPEN = 20_000;
/** Anchors that fit no envelope, before more are not noted. */
const MAX_FOREIGN = 256;

/** One member's chain: every envelope follows from the one before, and is on the ledger. */
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

  /** The batch is closed: on the ledger. */
  close(batch: number): void {
    this.#open.delete(batch);
  }

  /** An anchor that turned out to be that of an envelope which the nodes show. */
  explain(anchor: SeenAnchor): void {
    this.#state.foreign = this.#state.foreign.filter(({ message }) => message !== anchor.message);
  }

  /**
   * Checks a batch that a node showed and goes on from it; what it proves against its node, null where nothing. Throws
   * `ProofError` or `StatementError` where it does not hold, `UnknownKeyError` where a key is not known yet; what held
   * before it counts.
   */
  take(authorities: Authorities, served: ServedBatch, now: number): Proven | null {
    const envelope = openEnvelope(authorities, served.envelope);
    if (envelope.node !== this.node || envelope.batch !== served.batch) {
      throw new ProofError(`batch ${envelope.node}/${envelope.batch} in the place of ${this.node}/${served.batch}`);
    }
    if (envelope.batch > this.head + 1) throw new ProofError(`batch ${envelope.batch} comes after ${this.head}`);
    const finding = this.#judge(authorities, served.envelope, envelope);
    if (finding !== null) {
      const before = this.#recent(envelope.batch) ?? this.#recent(envelope.batch - 1);
      const statements = before === undefined ? [served.envelope] : [before, served.envelope];
      return { finding, statements };
    }
    if (envelope.batch === this.head + 1) this.#append(authorities, served.envelope, envelope, now);
    return null;
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
    });
    this.#state.batch = batch;
    this.#state.recent.push(signed);
    if (this.#state.recent.length > RECENT) this.#state.recent.shift();
    for (const seen of this.#ahead.take(batch)) this.anchored(seen);
  }

  /** Whether the anchor is that of a kept envelope, as a second message for one batch may be. */
  #expects({ batch, envelope }: SeenAnchor): boolean {
    return this.hashAt(batch) === envelope;
  }

  #recent(batch: number): SignedStatement | undefined {
    return this.#state.recent[batch - this.head - 1 + this.#state.recent.length];
  }
}
