import type { TopicPoint } from '../../../node/anchoring/ledger/topic-point.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import type { SealedBatch } from '../../fixtures/federation-log-batch.ts';

/** What members tell each other. */
export type Said =
  | { readonly kind: 'told'; readonly point: TopicPoint }
  | { readonly kind: 'checkpoint'; readonly signed: SignedCheckpoint }
  | { readonly kind: 'batches'; readonly batches: readonly SealedBatch[] }
  /** Envelopes whose batches the sender holds. */
  | { readonly kind: 'held'; readonly envelopes: readonly Sha256Hash[] }
  | { readonly kind: 'rosters'; readonly texts: readonly string[] }
  /** Asks for what the sender itself once sealed and signed. */
  | { readonly kind: 'ask' }
  | {
      readonly kind: 'answer';
      readonly batches: readonly SealedBatch[];
      readonly checkpoints: readonly SignedCheckpoint[];
    };

export interface Letter {
  readonly from: NodeId;
  readonly to: NodeId;
  readonly said: Said;
}

/** Letters under way at most: what was sent first is lost. */
const MOST_LETTERS = 256;

/** Letters under way between members. A letter is lost where its members are parted when it is sent or arrives. */
export class Network {
  #letters: Letter[] = [];
  #cut: ReadonlySet<NodeId> = new Set();

  get size(): number {
    return this.#letters.length;
  }

  /** Parts these members from all others. */
  part(members: Iterable<NodeId>): void {
    this.#cut = new Set(members);
  }

  areJoined(a: NodeId, b: NodeId): boolean {
    return this.#cut.has(a) === this.#cut.has(b);
  }

  send(letter: Letter): void {
    if (!this.areJoined(letter.from, letter.to)) return;
    this.#letters.push(letter);
    if (this.#letters.length > MOST_LETTERS) this.#letters.shift();
  }

  /** Takes a letter out, the oldest by default; undefined where it is lost or none is under way. */
  take(which = 0): Letter | undefined {
    const [letter] = this.#letters.splice(which % Math.max(1, this.#letters.length), 1);
    return letter !== undefined && this.areJoined(letter.from, letter.to) ? letter : undefined;
  }

  double(which: number): void {
    const letter = this.#letters[which % Math.max(1, this.#letters.length)];
    if (letter !== undefined) this.#letters.push(letter);
  }
}
