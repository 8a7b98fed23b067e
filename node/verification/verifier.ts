import type { Logger } from 'pino';
import { type EvidenceState, MAX_OTHERS } from '../../protocol/api/verify.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { isIncidentAbout } from '../../protocol/evidence/incident.ts';
import { type LinkedRecord, speakingFor } from '../../protocol/evidence/linked-record.ts';
import { isOverrideOf } from '../../protocol/evidence/oversight.ts';
import { sessionOf } from '../../protocol/evidence/session.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { ParseOptions } from '../../protocol/json/parse.ts';
import type { RecordKind } from '../../protocol/statement/vocabulary.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { PayloadState } from '../../protocol/verdict/payload.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { COMPUTED_VERDICTS } from '../accounts/limits/route-weights.ts';
import { BusyError, Semaphore } from '../concurrency/semaphore.ts';
import { SingleFlight } from '../concurrency/single-flight.ts';
import { type OpenedPayload, PayloadDamagedError } from '../records/payload/payload-cipher.ts';
import { disclosureOf } from './bundles.ts';
import { evidenceStateOf, type ReviewEvidence, type ReviewEvidences } from './evidence-states.ts';
import type { Evidence } from './evidence.ts';
import type { GivenReceipt, JudgingTerms } from './judge-bundle.ts';
import { type AskedBundle, type BundleBytes, JudgingThread } from './judging-thread.ts';
import type { LinkedReader } from './linked-evidence.ts';
import type { LogKnowledge } from './log-knowledge.ts';
import type { ReceiptsNotKept } from './receipts-not-kept.ts';
import type { Judging, RecordJudge } from './record-judge.ts';

/** A usual bundle has about 60,000. In bytes. */
const SHORT_BYTES = 256 << 10;

/** A short bundle waits behind none that is longer. */
export function isShortBundle(bytes: number): boolean {
  return bytes <= SHORT_BYTES;
}

/** Judges bundles apart from the event loop: short ones in one thread, long ones in another. */
export class BundleJudge implements AsyncDisposable {
  readonly #short = new JudgingThread();
  readonly #long = new JudgingThread();

  /** What a bundle asks a node's log about, and the bundle. Throws what `JudgingThread.questions` throws. */
  questions(bundle: BundleBytes, limits: ParseOptions): Promise<AskedBundle> {
    return this.#threadFor(bundle).questions(bundle, limits);
  }

  /** Throws what `JudgingThread.judge` throws. */
  judge(bundle: BundleBytes, terms: JudgingTerms): Promise<Verdict> {
    return this.#threadFor(bundle).judge(bundle, terms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#short[Symbol.asyncDispose](), this.#long[Symbol.asyncDispose]()]);
  }

  #threadFor(bundle: BundleBytes): JudgingThread {
    return isShortBundle(bundle.length) ? this.#short : this.#long;
  }
}

/** Records that are asked about at the same time, those that are being read of or asked for at other nodes included. */
const MOST_UNDER_WAY = COMPUTED_VERDICTS.places + COMPUTED_VERDICTS.waiting;

/** Salt and payload of a record wherever it lives, or why they cannot be had. */
export type PayloadAnswer = OpenedPayload | Exclude<PayloadState, 'damaged' | 'disclosed'>;

export interface VerifierOptions {
  /** Evidence that this node holds, or that it can ask the record's own node for. */
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  /** Evidence that this node holds about the records linked to one. */
  readonly linked: Pick<LinkedReader, 'note' | 'read'>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
  /** Whether the payloads of reviews are still held. */
  readonly reviewEvidence: Pick<ReviewEvidences, 'of'>;
  /** Whether the ledger took a transaction of this node that names the record's batch. */
  readonly anchored: (evidence: Evidence) => Promise<boolean>;
  readonly records: Pick<RecordJudge, 'judge'>;
  readonly knowledge: Pick<LogKnowledge, 'ask'>;
  readonly now: () => number;
  /** Judges the bundles that anyone brings. */
  readonly bundles: Pick<BundleJudge, 'judge' | 'questions'>;
  /** Told of the receipts of bundles that are not verified. */
  readonly receipts: Pick<ReceiptsNotKept, 'note'>;
  readonly log: Logger;
}

/** The verdict on a record of which this node has evidence. */
export interface VerifiedRecord {
  readonly verdict: Verdict;
  readonly evidence: Evidence;
  readonly links: RecordLinks;
  /** What this node has of the evidence itself, beside what the records show. */
  readonly evidenceState: EvidenceState | null;
  readonly reviewEvidence: readonly ReviewEvidence[];
}

/**
 * Verifies records from the stored bytes, and bundles that anyone brings, by the one verdict and this node's own log.
 */
export class Verifier {
  readonly #options: VerifierOptions;
  readonly #underWay = new SingleFlight<VerifiedRecord | undefined>();
  readonly #places = new Semaphore(COMPUTED_VERDICTS);

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  /**
   * Verdict on a record of any node; undefined where no node at hand knows it. Throws `EvidenceDamagedError` where the
   * stored evidence cannot even be read. Who asks for one record at the same time shares one verdict, which is on what
   * there was after all of them had asked. Rejects with `BusyError` where too many verdicts wait.
   */
  verifyRecord(id: RecordId): Promise<VerifiedRecord | undefined> {
    const isOneMore = !this.#underWay.has(id);
    if (isOneMore && this.#underWay.size >= MOST_UNDER_WAY) {
      return Promise.reject(new BusyError('too many verdicts wait'));
    }
    return this.#underWay.do(id, () => this.#verify(id));
  }

  async #verify(id: RecordId): Promise<VerifiedRecord | undefined> {
    const { anchored, records, now } = this.#options;
    const evidence = await this.#options.evidence(id);
    if (evidence === undefined) return undefined;
    const [payload, taken, named] = await Promise.all([
      this.#payloadOf(evidence),
      anchored(evidence),
      this.#namedBy(evidence),
    ]);
    // Who waits for another node holds no place.
    using _place = await this.#places.enter();
    const found = await this.#options.linked.read(evidence, named);
    const about = [...found.evidence, ...found.incidents];
    const linked = [...about, ...found.statements];
    const verdict = await records.judge(evidence, { ...payload, anchored: taken, linked, at: timestampOf(now()) });
    const judged = linked.map((each, i): LinkedRecord => {
      const { holds = false, speaks = false } = verdict.linked[i] ?? {};
      this.#options.linked.note(each, holds);
      return { record: each.record, holds, speaks };
    });
    const { record } = evidence;
    return {
      verdict,
      evidence,
      links: recordLinks(record, judged.slice(0, about.length), found.truncated),
      evidenceState: evidenceStateOf(verdict.facts.payload),
      reviewEvidence: await this.#options.reviewEvidence.of(record, speakingFor(record, judged)),
    };
  }

  /** Evidence about what a record names that this node does not hold: it may not hold those either. */
  async #namedBy({ record, isHeld }: Evidence): Promise<readonly Evidence[]> {
    if (isHeld) return [];
    const ids = [record.links.agent, sessionOf(record)].filter((id) => id !== undefined);
    const found = await Promise.all(ids.map((id) => this.#options.evidence(id).catch(() => undefined)));
    return found.filter((one) => one !== undefined);
  }

  /**
   * Verdict on a bundle, which is taken, pinned to this node's federation and by this node's own log. `limits`: on its
   * JSON. Throws what `JudgingThread.judge` throws.
   */
  async verifyBundle(bundle: BundleBytes, limits: ParseOptions): Promise<Verdict> {
    const { now, bundles, knowledge } = this.#options;
    const asked = await bundles.questions(bundle, limits);
    const { receipt, ...questions } = asked.questions;
    const log = await knowledge.ask(questions);
    const verdict = await bundles.judge(asked.bundle, { log, at: timestampOf(now()), limits });
    // What is verified is in the decided batch.
    if (receipt !== null && !verdict.verified) await this.#note(receipt);
    return verdict;
  }

  /** The verdict is what was asked for: it is given whatever becomes of the receipt. */
  async #note(receipt: GivenReceipt): Promise<void> {
    try {
      await this.#options.receipts.note(receipt);
    } catch (error) {
      const { node, seq } = receipt;
      this.#options.log.error({ err: error, node, seq }, 'a receipt could not be compared with the decided batch');
    }
  }

  async #payloadOf(evidence: Evidence): Promise<Pick<Judging, 'disclosure' | 'payload'>> {
    try {
      const answer = await this.#options.payload(evidence);
      if (typeof answer !== 'string') return { disclosure: disclosureOf(answer) };
      return answer === 'withheld' ? {} : { payload: answer };
    } catch (error) {
      if (error instanceof PayloadDamagedError) return { payload: 'damaged' };
      throw error;
    }
  }
}

/** A linked record that counts for nothing, and the node that says so. */
interface OtherRecord {
  readonly id: RecordId;
  readonly kind: RecordKind;
  readonly node: NodeId;
}

/** What anyone may know of the records linked to one: how many that hold, and their ids. Nobody is named. */
interface RecordLinks {
  readonly overrides: number;
  readonly incidents: number;
  /** Whether it was made in a session. */
  readonly session: boolean;
  readonly ids: readonly RecordId[];
  /** Those that hold and are said to be of its account, by nodes that do not speak for the account. */
  readonly others: readonly OtherRecord[];
  /** Whether there are more than were counted. */
  readonly truncated: boolean;
}

/** Counts the linked records of the subject's account that hold and whose nodes speak for the account. */
function recordLinks(subject: AttestationRecord, linked: readonly LinkedRecord[], truncated: boolean): RecordLinks {
  const speaking = speakingFor(subject, linked);
  const others = linked.filter(({ record, holds, speaks }) => holds && !speaks && record.account === subject.account);
  return {
    overrides: speaking.filter((record) => isOverrideOf(subject, record)).length,
    incidents: speaking.filter((record) => isIncidentAbout(subject, record)).length,
    session: sessionOf(subject) !== undefined,
    ids: speaking.map(({ id }) => id),
    others: others.slice(0, MAX_OTHERS).map(({ record: { id, kind, node } }) => ({ id, kind, node })),
    truncated: truncated || others.length > MAX_OTHERS,
  };
}
