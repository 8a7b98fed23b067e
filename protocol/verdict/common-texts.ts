import { type Envelope, envelopeStatement } from '../chain/envelope.ts';
import { type Group, groupStatement } from '../statement/group.ts';
import type { Suite } from '../suite/suite.ts';
import type { DecisionProof } from './bundle.ts';
import { PlacedDecision } from './placed-decision.ts';

interface Memory<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** Where what was read is kept: by its text, or by the proof that it is of. */
export interface TextMemories {
  readonly decisions: Memory<DecisionProof, PlacedDecision>;
  readonly envelopes: Memory<string, Envelope>;
  readonly groups: Memory<string, Group>;
}

/**
 * Reads receipts, envelopes and decisions, each once for as long as it is kept, however many proofs have it in common.
 * What does not read is kept nowhere.
 */
export class CommonTexts {
  readonly #suite: Suite;
  readonly #memories: TextMemories;

  /** `memories`: default to those that keep all that is read. */
  constructor(
    suite: Suite,
    memories: TextMemories = { decisions: new Map(), envelopes: new Map(), groups: new Map() },
  ) {
    this.#suite = suite;
    this.#memories = memories;
  }

  /** Throws `StatementError` where the text is no decision. */
  decision(proof: DecisionProof): PlacedDecision {
    const known = this.#memories.decisions.get(proof);
    if (known !== undefined) return known;
    const placed = new PlacedDecision(this.#suite, proof);
    this.#memories.decisions.set(proof, placed);
    return placed;
  }

  /** Throws `StatementError` where the text is no envelope. */
  envelope(text: string): Envelope {
    const known = this.#memories.envelopes.get(text);
    if (known !== undefined) return known;
    const envelope = envelopeStatement.parse(text);
    this.#memories.envelopes.set(text, envelope);
    return envelope;
  }

  /** Throws `StatementError` where the text is no receipt. */
  group(text: string): Group {
    const known = this.#memories.groups.get(text);
    if (known !== undefined) return known;
    const group = groupStatement.parse(text);
    this.#memories.groups.set(text, group);
    return group;
  }
}
