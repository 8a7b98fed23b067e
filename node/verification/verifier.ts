import { setImmediate } from 'node:timers/promises';
import { type Bundle, type BundleAnchor, parseBundle, type Proof } from '../../protocol/bundle/bundle.ts';
import { type JudgedLinked, judgeLinked } from '../../protocol/bundle/judge-linked.ts';
import { type OpenedBundle, openBundle } from '../../protocol/bundle/opened-bundle.ts';
import type { Federation } from '../../protocol/bundle/opened-proof.ts';
import type { AnchoringStatus, Finding, PayloadState, Verdict } from '../../protocol/bundle/verdict.ts';
import { judge } from '../../protocol/bundle/verify.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { JsonValue } from '../../protocol/json/value.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { AttestationRecord } from '../../protocol/statement/record.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { type OpenedPayload, PayloadDamagedError } from '../payload/payload-vault.ts';
import { disclosureOf } from './bundles.ts';
import { cachingSuite } from './caching-suite.ts';
import type { Evidence } from './evidence.ts';
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

const UNREAD_ANCHOR: Finding = {
  check: 'bundleBinding',
  code: 'anchor-mismatch',
  detail: 'the ledger, as this node has read it, does not show the anchor message there',
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
   * Verdict on a bundle, pinned to this node's federation, with the revocations that this node knows and by its own
   * reading of the ledger. Throws `BundleError` where it is malformed.
   */
  async verifyBundle(value: JsonValue): Promise<Verdict> {
    const bundle = parseBundle(value);
    const { keys, now } = this.#options;
    const pin = keys.rosters.genesis;
    const { revocations } = keys.statements();
    const opened = openBundle(this.#suite, bundle, { revocations });
    const judged = await this.#judgeEach(bundle.linked ?? [], opened, pin);
    const findings = [...opened.findings, ...(await this.#anchorFindings(opened))];
    return judge(this.#suite, { ...opened, findings }, judged, { pin, at: timestampOf(now()) });
  }

  /** A bundle's own word on when it reached consensus is not enough for one who reads the ledger. */
  async #anchorFindings({ bundle: { anchor }, anchorMessage }: OpenedBundle): Promise<readonly Finding[]> {
    if (anchor === null || anchorMessage === null) return [];
    return (await this.#options.contradicts(anchor)) ? [UNREAD_ANCHOR] : [];
  }

  /** Judges linked records one by one; other requests get their turn in between. */
  async #judgeEach(proofs: readonly Proof[], federation: Federation, pin?: Sha256Hash): Promise<JudgedLinked[]> {
    const judged: JudgedLinked[] = [];
    for (const proof of proofs) {
      judged.push(judgeLinked(this.#suite, proof, federation, pin));
      await setImmediate();
    }
    return judged;
  }
}
