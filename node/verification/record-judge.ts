import type { Timestamp } from '../../protocol/time.ts';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import { type Bundle, BUNDLE_FORMAT, type DecisionProof } from '../../protocol/verdict/bundle.ts';
import type { Known } from '../../protocol/verdict/known.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { cachingSuite } from './caching-suite.ts';
import type { Evidence } from './evidence.ts';
import { isUnclear, type LogKnowledge, logViewOf } from './log-knowledge.ts';
import { certificatesOf, keysSigning } from './signing-keys.ts';

export interface RecordJudgeOptions {
  readonly keys: FederationKeys;
  readonly knowledge: Pick<LogKnowledge, 'ask'>;
}

/** What is judged beside the record's own proof. */
export interface Judging extends Pick<Known, 'anchored' | 'payload'> {
  readonly disclosure?: NonNullable<Bundle['disclosure']>;
  readonly linked?: readonly Evidence[];
  readonly at?: Timestamp;
}

/**
 * The verdict on records that this node holds evidence of, by its own log: rosters, revocations and checkpoints are those
 * that it knows, so that none of them travels, and none is checked again.
 */
export class RecordJudge {
  readonly #options: RecordJudgeOptions;
  readonly #suite = cachingSuite(nativeSuite);

  constructor(options: RecordJudgeOptions) {
    this.#options = options;
  }

  /** Throws `LogDamagedError`. */
  async judge(evidence: Evidence, judging: Judging = {}): Promise<Verdict> {
    const { keys, knowledge } = this.#options;
    const { disclosure, linked = [], ...known } = judging;
    const all = [evidence, ...linked];
    const answers = await knowledge.ask({
      places: all.flatMap(({ decision }) => (decision === null ? [] : [decision.index])),
      sizes: [],
      batches: all.flatMap(({ proof: { batch } }) => (batch === null ? [] : [envelopeStatement.parse(batch.envelope)])),
    });
    const signing = keysSigning(all.map(({ proof }) => proof));
    const log = isUnclear(answers, signing) ? { ...answers, checkpoints: [] } : answers;
    const bundle: Bundle = {
      format: BUNDLE_FORMAT,
      ...evidence.proof,
      decision: unplaced(evidence.decision),
      checkpoints: [],
      keys: certificatesOf(keys, signing),
      revocations: [],
      rosters: answers.rosters.map(({ text, decision }) => ({
        text,
        decision: decision === null ? null : { text: decision, paths: [] },
      })),
      ...(disclosure === undefined ? {} : { disclosure }),
      linked: linked.map(({ proof: { record, receipt, batch }, decision }) => {
        return { record, receipt, batch, decision: unplaced(decision) };
      }),
    };
    return verifyBundle(this.#suite, bundle, { ...known, log: logViewOf(log) });
  }
}

/** A decision of the own log: it needs no path. */
function unplaced(decision: Decision | null): DecisionProof | null {
  return decision && { text: decisionText.write(decision), paths: [] };
}
