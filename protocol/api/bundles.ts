import Type, { type Static } from 'typebox';
import { Closed, NodeIdShape, OrNull, RecordIdShape, TimestampShape } from '../shapes.ts';
import { RECORD_KINDS } from '../statement/vocabulary.ts';
import { BUNDLE_FORMAT, BundleShape, MAX_LINKED, PublicProofShape } from '../verdict/bundle.ts';
import { AccountVersionShape, EVIDENCE, EVIDENCE_EXAMPLE } from './evidence.ts';
import { EXAMPLE_HASH, EXAMPLE_IDS, EXAMPLE_SUBMITTED_AT } from './example-ids.ts';
import {
  CHECKS_EXAMPLE,
  ChecksShape,
  PAYLOAD_STATES,
  ProblemsShape,
  STATUSES,
  VERDICT_EXAMPLE,
  VerdictShape,
  WordShape,
} from './verdict.ts';

/** `GET /v1/bundles/:id`: the bare bundle. */
export const BundleAnswerShape = BundleShape;

/** `GET /v1/proofs/:id`: the bare proof. */
export const ProofAnswerShape = PublicProofShape;

const SwitchShape = Type.Enum(['0', '1']);

/** `GET /v1/bundles/:id`: what is asked for where it is `1`. */
export const BundleQueryShape = Closed({
  /** What there is of a record that is not on the ledger yet. */
  partial: Type.Optional(SwitchShape),
  /** Salt and payload. */
  disclosure: Type.Optional(SwitchShape),
  /** The linked records that the evidence rules read. */
  linked: Type.Optional(SwitchShape),
});

/** `POST /v1/bundles/verify`: the checks on a bundle that anyone brings. */
export const BundleVerdictShape = Closed({
  verified: Type.Boolean(),
  witnessed: Type.Boolean(),
  checks: ChecksShape,
  payloadState: Type.Enum([...PAYLOAD_STATES]),
  status: Type.Enum([...STATUSES]),
  problems: ProblemsShape,
  verdict: VerdictShape,
  /** Null where it cannot be read. */
  record: OrNull(
    Closed({ id: RecordIdShape, kind: Type.Enum([...RECORD_KINDS]), node: NodeIdShape, submittedAt: TimestampShape }),
  ),
  ...EVIDENCE,
  /** In the order of the bundle. One that does not hold counts for nothing. */
  linked: Type.Array(
    Closed({
      id: OrNull(RecordIdShape),
      kind: OrNull(Type.Enum([...RECORD_KINDS])),
      node: OrNull(NodeIdShape),
      holds: Type.Boolean(),
      /** It holds, and its node speaks for the account. One that does not turns no flag. */
      speaks: Type.Boolean(),
      /** The version by which its node speaks or does not; null where none is needed, or none is shown. */
      accountStatement: OrNull(AccountVersionShape),
      word: WordShape,
      problems: ProblemsShape,
    }),
    { maxItems: MAX_LINKED },
  ),
});
export type BundleVerdictAnswer = Static<typeof BundleVerdictShape>;

const PATH_OF_EXAMPLE = { size: 1205, path: [EXAMPLE_HASH, EXAMPLE_HASH] };
const DECISION_OF_EXAMPLE = {
  text: '{"consensusTimestamp":"1795253408.107000000","index":1204,"message":"{…}","type":"decision","v":1}',
  paths: [PATH_OF_EXAMPLE],
};

/** What of a bundle is the same in a public proof. */
const PROOF_OF_EXAMPLE = {
  receipt: { statement: '{"type":"group","v":1}', signature: 'c2lnbmF0dXJl', path: [EXAMPLE_HASH] },
  batch: { envelope: '{"type":"batch","v":2}', signature: 'c2lnbmF0dXJl', path: [EXAMPLE_HASH, EXAMPLE_HASH] },
  decision: DECISION_OF_EXAMPLE,
  checkpoints: [{ text: '{"node":"us","size":1205,"type":"checkpoint","v":1}', signature: 'c2lnbmF0dXJl' }],
  keys: [{ statement: '{"type":"key","v":1}', signature: 'c2lnbmF0dXJl' }],
  revocations: [],
  rosters: [{ text: '{"type":"roster","v":2,"version":1}', decision: null }],
};
const HEAD_OF_EXAMPLE = '{"body":"sha256:9f86…","v":2}';

/** Of the right form, with its statements, signatures and keys cut short: it does not verify. */
export const BUNDLE_EXAMPLE = {
  format: BUNDLE_FORMAT,
  record: { head: HEAD_OF_EXAMPLE, body: '{"account":"acc_eu_example","claims":{"channel":"direct"}}' },
  ...PROOF_OF_EXAMPLE,
};

/** The same, of the record's head alone. */
export const PROOF_EXAMPLE = {
  format: BUNDLE_FORMAT,
  record: { head: HEAD_OF_EXAMPLE, body: null },
  ...PROOF_OF_EXAMPLE,
};

export const BUNDLE_VERDICT_EXAMPLE = {
  verified: true,
  witnessed: true,
  checks: CHECKS_EXAMPLE,
  payloadState: 'available',
  status: 'confirmed',
  problems: [],
  verdict: VERDICT_EXAMPLE,
  record: { id: EXAMPLE_IDS.decision, kind: 'decision', node: 'eu', submittedAt: EXAMPLE_SUBMITTED_AT },
  ...EVIDENCE_EXAMPLE,
  linked: [
    {
      id: EXAMPLE_IDS.sessionStart,
      kind: 'session_start',
      node: 'eu',
      holds: true,
      speaks: true,
      accountStatement: null,
      word: 'verified',
      problems: [],
    },
  ],
};
