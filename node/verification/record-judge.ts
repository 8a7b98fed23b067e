import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { SigningContext } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Bundle, DecisionProof } from '../../protocol/verdict/bundle.ts';
import { type JoinedRosters, joinRosters } from '../../protocol/verdict/join-rosters.ts';
import type { Known } from '../../protocol/verdict/known.ts';
import { type OpenedProof, openProof, proofOf } from '../../protocol/verdict/opened-proof.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { verifyOpened } from '../../protocol/verdict/verify.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import type { CachingSuite } from '../keys/caching-suite.ts';
import { checkedSuite } from '../keys/native-suite.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { storedStatements } from '../records/stored-statements.ts';
import type { Evidence } from './evidence.ts';
import { isUnclear, type LogKnowledge, logViewOf, type RosterInForce } from './log-knowledge.ts';
import { certificatesOf, type NodeKey } from './signing-keys.ts';

export interface RecordJudgeOptions {
  readonly keys: FederationKeys;
  readonly knowledge: Pick<LogKnowledge, 'ask'>;
  /** Default: the one that remembers what was checked as it arrived. */
  readonly suite?: CachingSuite;
}

/** What is judged beside the record's own proof. */
export interface Judging extends Pick<Known, 'anchored' | 'payload'> {
  readonly disclosure?: NonNullable<Bundle['disclosure']>;
  readonly linked?: readonly Evidence[];
  readonly at?: Timestamp;
}

/**
 * The verdict on records that this node holds evidence of, by its own log: rosters, revocations and checkpoints are
 * those that it knows, so that none of them travels, and none is checked again.
 *
 * What follows from the bytes of evidence alone is remembered for as long as the evidence is; what the log says of it
 * is asked each time.
 */
export class RecordJudge {
  readonly #keys: FederationKeys;
  readonly #knowledge: Pick<LogKnowledge, 'ask'>;
  readonly #suite: CachingSuite;
  readonly #opened = new WeakMap<Evidence, OpenedProof>();
  readonly #unplacedOf = new WeakMap<Decision, DecisionProof>();
  readonly #joined = new WeakMap<readonly RosterInForce[], JoinedRosters>();

  constructor({ keys, knowledge, suite = checkedSuite }: RecordJudgeOptions) {
    this.#keys = keys;
    this.#knowledge = knowledge;
    this.#suite = suite;
  }

  /** Throws `LogDamagedError`. */
  async judge(evidence: Evidence, judging: Judging = {}): Promise<Verdict> {
    const { disclosure, linked: beside = [], ...known } = judging;
    const slices = new TimeSlices();
    const all: OpenedProof[] = [];
    for (const each of [evidence, ...beside]) {
      if (slices.isOver) await slices.rest();
      all.push(this.#open(each));
    }
    await this.#checkApart(all);
    // From here on nothing is waited for but the log: the verdict is by what it says now.
    const answers = await this.#knowledge.ask({
      places: all.flatMap(({ decision }) => decision?.value.index ?? []),
      sizes: [],
      batches: all.flatMap(({ envelope }) => envelope ?? []),
    });
    const signing = all.flatMap(keysOf);
    const log = logViewOf(isUnclear(answers, signing) ? { ...answers, checkpoints: [] } : answers);
    const [own, ...linked] = all;
    if (own === undefined) throw new RangeError('evidence of nothing');
    const statements = { checkpoints: [], keys: certificatesOf(this.#keys, signing), revocations: [] };
    const disclosed = disclosure === undefined ? own : { ...own, proof: { ...own.proof, disclosure } };
    return verifyOpened(this.#suite, { own: disclosed, linked, statements }, this.#join(answers.rosters), {
      ...known,
      log,
    });
  }

  #open(evidence: Evidence): OpenedProof {
    const known = this.#opened.get(evidence);
    if (known !== undefined) return known;
    const { proof, decision } = evidence;
    const opened = openProof(
      this.#suite,
      proofOf({ ...proof, decision: decision && this.#unplaced(decision) }),
      storedStatements,
    );
    this.#opened.set(evidence, opened);
    return opened;
  }

  /** A decision of the own log: it needs no path. */
  #unplaced(decision: Decision): DecisionProof {
    const known = this.#unplacedOf.get(decision);
    if (known !== undefined) return known;
    const proof = { text: decisionText.write(decision), paths: [] };
    this.#unplacedOf.set(decision, proof);
    return proof;
  }

  /** The rosters of the own log are known whole: nothing else is asked about them. */
  #join(rosters: readonly RosterInForce[]): JoinedRosters {
    const known = this.#joined.get(rosters);
    if (known !== undefined) return known;
    const entries = rosters.map(({ text, decision }) => {
      return { text, decision: decision === null ? null : { text: decision, paths: [] } };
    });
    const joined = joinRosters(this.#suite, entries, { log: rostersAlone(rosters) });
    this.#joined.set(rosters, joined);
    return joined;
  }

  /** Checks the signatures of proofs in other threads, each once, so that the verdict finds them checked. */
  async #checkApart(all: readonly OpenedProof[]): Promise<void> {
    const groups = new Map(all.map((opened) => [opened.proof.receipt.text, opened]));
    const batches = new Map(all.map((opened) => [opened.envelope, opened]));
    await Promise.all([
      ...[...groups.values()].map(({ group, proof: { receipt } }) => {
        return group && this.#check(group, receipt.text, receipt.signature, groupStatement.context);
      }),
      ...[...batches.values()].map(({ envelope, proof: { batch } }) => {
        return envelope && batch && this.#check(envelope, batch.text, batch.signature, envelopeStatement.context);
      }),
    ]);
  }

  async #check(
    { node, keyId }: NodeKey,
    statement: string,
    signature: string | null,
    context: SigningContext,
  ): Promise<void> {
    const key = this.#keys.directory.get(node, keyId);
    if (key === undefined || signature === null) return;
    await this.#suite.checkApart(key.publicKey, { statement, signature }, context);
  }
}

function keysOf({ group, envelope }: OpenedProof): readonly NodeKey[] {
  return [group, envelope].filter((signed) => signed !== null);
}

function rostersAlone(rosters: readonly RosterInForce[]): NonNullable<Known['log']> {
  return {
    rootAt: () => undefined,
    decisionAt: () => undefined,
    decidedBatch: () => undefined,
    rosters,
    revocations: [],
    checkpoints: [],
  };
}
