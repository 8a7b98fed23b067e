import { type Bundle, parseBundle } from '../../protocol/bundle/bundle.ts';
import { openBundle } from '../../protocol/bundle/opened-bundle.ts';
import type { AnchoringStatus, Finding, PayloadState, Verdict } from '../../protocol/bundle/verdict.ts';
import { judge, verifyBundle } from '../../protocol/bundle/verify.ts';
import type { JsonValue } from '../../protocol/json/value.ts';
import type { RecordId } from '../../protocol/ids.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { type OpenedPayload, PayloadDamagedError } from '../payload/payload-vault.ts';
import { disclosureOf } from './bundles.ts';
import { cachingSuite } from './caching-suite.ts';
import type { Evidence } from './evidence.ts';

/** Salt and payload of a record wherever it lives, or why they cannot be had. */
export type PayloadAnswer = OpenedPayload | Exclude<PayloadState, 'available'>;

export interface VerifierOptions {
  readonly keys: FederationKeys;
  /** Evidence that this node holds, or that it can ask the record's own node for. */
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
  /** Anchoring status of a record as this node knows it. */
  readonly status: (evidence: Evidence) => Promise<AnchoringStatus>;
}

export interface RecordVerdict extends Verdict {
  readonly evidence: Evidence;
}

const DAMAGED_PAYLOAD: Finding = {
  check: 'payloadHashMatch',
  code: 'payload-mismatch',
  detail: 'the stored payload is not the one that was encrypted',
};

/** Verifies records from the stored bytes, and bundles that anyone brings, by the same five checks. */
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
    const { keys, status } = this.#options;
    const evidence = await this.#options.evidence(id);
    if (evidence === undefined) return undefined;
    const [answer, known] = [await this.#payloadOf(evidence), await status(evidence)];
    const bundle: Bundle =
      typeof answer === 'string' ? evidence.bundle : { ...evidence.bundle, disclosure: disclosureOf(answer) };
    const opened = openBundle(this.#suite, bundle, { rosters: keys.rosters, keys: keys.directory });
    const verdict = judge(this.#suite, opened);
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

  /** Verdict on a bundle, pinned to this node's federation. Throws `BundleError` where it is malformed. */
  verifyBundle(value: JsonValue): Verdict {
    return verifyBundle(this.#suite, parseBundle(value), { pin: this.#options.keys.rosters.genesis });
  }
}
