import { setImmediate } from 'node:timers/promises';
import type { Bundle, BundleAnchor, Proof } from '../../protocol/bundle/bundle.ts';
import { type JudgedLinked, judgeLinked } from '../../protocol/bundle/judge-linked.ts';
import { openBundle } from '../../protocol/bundle/opened-bundle.ts';
import type { Federation } from '../../protocol/bundle/opened-proof.ts';
import type { AnchoringStatus, Finding, PayloadState, Verdict } from '../../protocol/bundle/verdict.ts';
import { judge } from '../../protocol/bundle/verify.ts';
import type { ParseOptions } from '../../protocol/json/parse.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { type OpenedPayload, PayloadDamagedError } from '../payload/payload-vault.ts';
import { disclosureOf } from './bundles.ts';
import type { BundleJudge } from './bundle-judge.ts';
import { cachingSuite } from './caching-suite.ts';
import type { Evidence } from './evidence.ts';
import type { JudgingTerms } from './judge-bundle.ts';
import type { LinkedEvidence } from './linked-evidence.ts';
import { type RecordLinks, recordLinks } from './record-links.ts';

/** Salt and payload of a record wherever it lives, or why they cannot be had. */
export type PayloadAnswer = OpenedPayload | Exclude<PayloadState, 'available'>;

export interface VerifierOptions {
  readonly keys: FederationKeys;
  /** Evidence that this node holds, or that it can ask the record's own node for. */
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  /** Evidence that this node holds about the records linked to one. */
  readonly linked: (subject: AttestationRecord) => Promise<LinkedEvidence>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
  /** Anchoring status of a record as this node knows it. */
  readonly status: (evidence: Evidence) => Promise<AnchoringStatus>;
  /** Whether an anchor is none by this node's own reading of the ledger. */
  readonly contradicts: (anchor: BundleAnchor) => Promise<boolean>;
  readonly now: () => number;
  /** Judges the bundles that anyone brings. */
  readonly judge: Pick<BundleJudge, 'judge'>;
}

export interface RecordVerdict extends Verdict {
  readonly evidence: Evidence;
  readonly links: RecordLinks;
}

const DAMAGED_PAYLOAD: Finding = {
  check: 'payloadHashMatch',
  code: 'payload-mismatch',
  detail: 'the stored payload is not the one that was encrypted',
};

/** Verifies records from the stored bytes, and bundles that anyone brings, by the same checks and evidence rules. */
export class Verifier {
  readonly #options: VerifierOptions;
  readonly #suite = cachingSuite(nativeSuite);

  constructor(options: VerifierOptions) {
    this.#options = options;
  }

  /**
   * Verdict on a record of any node; undefined where no node at hand knows it. Throws `EvidenceDamagedError` where the
   * stored evidence cannot even be read.
   */
  async verifyRecord(id: RecordId): Promise<RecordVerdict | undefined> {
    const { keys, status, now } = this.#options;
    const evidence = await this.#options.evidence(id);
    if (evidence === undefined) return undefined;
    const [answer, known, linked] = await Promise.all([
      this.#payloadOf(evidence),
      status(evidence),
      this.#options.linked(evidence.record),
    ]);
    const bundle: Bundle =
      typeof answer === 'string' ? evidence.bundle : { ...evidence.bundle, disclosure: disclosureOf(answer) };
    const federation: Federation = { rosters: keys.rosters, keys: keys.directory };
    const proofs = [...linked.evidence, ...linked.incidents].map((found) => found.bundle);
    const judged = await this.#judgeEach(proofs, federation);
    const opened = openBundle(this.#suite, bundle, { federation });
    const verdict = judge(this.#suite, opened, judged, { at: timestampOf(now()) });
    const { leafRederived, payloadHashMatch, proofWalk, bundleBinding, sigValid } = verdict.checks;
    const onLedger = known === 'anchored' || known === 'confirmed';
    return {
      ...verdict,
      verified:
        onLedger &&
        leafRederived &&
        proofWalk &&
        bundleBinding &&
        sigValid &&
        (payloadHashMatch || (typeof answer === 'string' && answer !== 'damaged')),
      payloadState: typeof answer === 'string' && answer !== 'damaged' ? answer : 'available',
      problems: answer === 'damaged' ? [...verdict.problems, DAMAGED_PAYLOAD] : verdict.problems,
      status: known,
      evidence,
      links: recordLinks(evidence.record, judged, linked.truncated),
    };
  }

  async #payloadOf(evidence: Evidence): Promise<PayloadAnswer | 'damaged'> {
    try {
      return await this.#options.payload(evidence);
    } catch (error) {
      if (error instanceof PayloadDamagedError) return 'damaged';
      throw error;
    }
  }

  /**
   * Verdict on the text of a bundle, pinned to this node's federation, with the revocations that this node knows and by
   * its own reading of the ledger. `limits`: on its JSON. Throws what `JudgingThread.judge` throws.
   */
  async verifyBundle(text: string, limits: ParseOptions): Promise<Verdict> {
    const { keys, now, judge: apart, contradicts } = this.#options;
    const terms: JudgingTerms = {
      pin: keys.rosters.genesis,
      revocations: keys.statements().revocations,
      at: timestampOf(now()),
      limits,
      isContradicted: false,
    };
    const { verdict, anchor } = await apart.judge(text, terms);
    // A bundle's own word on when it reached consensus is not enough for one who reads the ledger.
    if (anchor === null || !(await contradicts(anchor))) return verdict;
    return (await apart.judge(text, { ...terms, isContradicted: true })).verdict;
  }

  /** Judges linked records one by one; other requests get their turn in between. */
  async #judgeEach(proofs: readonly Proof[], federation: Federation): Promise<JudgedLinked[]> {
    const judged: JudgedLinked[] = [];
    for (const proof of proofs) {
      judged.push(judgeLinked(this.#suite, proof, federation));
      await setImmediate();
    }
    return judged;
  }
}
