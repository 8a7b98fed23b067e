import type { Envelope } from '../chain/envelope.ts';
import type { Suite } from '../suite/suite.ts';
import type { Authority } from './authority.ts';
import { checkDecision } from './check-decision.ts';
import type { OpenedProof } from './opened-proof.ts';
import type { PlacedDecision } from './placed-decision.ts';
import type { Problem } from './problem.ts';
import { countWitnesses, type Witnesses } from './witnesses.ts';

interface Findings {
  readonly decision: readonly Problem[];
  witnesses: Witnesses | undefined;
}

/**
 * What one verdict finds of batches and their decisions, looked at once for all records of a batch. A batch is known by
 * the envelope and the decision as they were read: one of these is of one text, so nothing is taken over from another.
 */
export class JudgedBatches {
  readonly #suite: Suite;
  readonly #authority: Authority;
  readonly #known = new Map<Envelope, Map<PlacedDecision | null, Findings>>();

  constructor(suite: Suite, authority: Authority) {
    this.#suite = suite;
    this.#authority = authority;
  }

  /** What `checkDecision` says of the batch of a proof. */
  decision(opened: OpenedProof): readonly Problem[] {
    const { envelope } = opened;
    return envelope === null
      ? checkDecision(this.#suite, this.#authority, opened)
      : this.#of(opened, envelope).decision;
  }

  /** What `countWitnesses` says of the batch of a proof; null where there is none that was decided. */
  witnesses(opened: OpenedProof): Witnesses | null {
    const { envelope, decision } = opened;
    if (envelope === null || decision === null) return null;
    const findings = this.#of(opened, envelope);
    findings.witnesses ??= countWitnesses(this.#authority, { node: envelope.node, batch: envelope.batch, decision });
    return findings.witnesses;
  }

  #of(opened: OpenedProof, envelope: Envelope): Findings {
    let byDecision = this.#known.get(envelope);
    if (byDecision === undefined) this.#known.set(envelope, (byDecision = new Map()));
    let findings = byDecision.get(opened.decision);
    if (findings === undefined) {
      findings = { decision: checkDecision(this.#suite, this.#authority, opened), witnesses: undefined };
      byDecision.set(opened.decision, findings);
    }
    return findings;
  }
}
