import { type Envelope, envelopeStatement } from '../chain/envelope.ts';
import { type Group, groupStatement } from '../statement/group.ts';
import type { Suite } from '../suite/suite.ts';
import type { DecisionProof } from './bundle.ts';
import { PlacedDecision } from './placed-decision.ts';

/**
 * Reads receipts, envelopes and decisions, each once, however many proofs have it in common. What does not read is kept
 * nowhere.
 */
export class CommonTexts {
  readonly #suite: Suite;
  readonly #decisions = new Map<DecisionProof, PlacedDecision>();
  readonly #envelopes = new Map<string, Envelope>();
  readonly #groups = new Map<string, Group>();

  constructor(suite: Suite) {
    this.#suite = suite;
  }

  /** Throws `StatementError` where the text is no decision. */
  decision(proof: DecisionProof): PlacedDecision {
    const known = this.#decisions.get(proof);
    if (known !== undefined) return known;
    const placed = new PlacedDecision(this.#suite, proof);
    this.#decisions.set(proof, placed);
    return placed;
  }

  /** Throws `StatementError` where the text is no envelope. */
  envelope(text: string): Envelope {
    const known = this.#envelopes.get(text);
    if (known !== undefined) return known;
    const envelope = envelopeStatement.parse(text);
    this.#envelopes.set(text, envelope);
    return envelope;
  }

  /** Throws `StatementError` where the text is no receipt. */
  group(text: string): Group {
    const known = this.#groups.get(text);
    if (known !== undefined) return known;
    const group = groupStatement.parse(text);
    this.#groups.set(text, group);
    return group;
  }
}
