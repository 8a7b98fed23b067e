/**
 * Whose fault a refusal is. `decided`: of the envelope that was decided, so that no copy of the batch will ever do.
 * `origin`: its node signed what does not fit together. `copy`: these bytes are not what was signed or decided, or
 * something is not known here yet, so another copy, or the same one later, may do.
 */
export type RefusalFault = 'copy' | 'decided' | 'origin';

/** Why a batch is not derived (protocol §4, `vouched`), and whose fault that is. */
export const REFUSALS = {
  /** The text is not the one that the decision names. */
  'envelope-not-decided': 'copy',
  'envelope-malformed': 'decided',
  'node-mismatch': 'decided',
  'batch-mismatch': 'decided',
  'batch-too-large': 'decided',
  'prev-mismatch': 'decided',
  /** The envelope does not begin at the node's next record. */
  'range-gap': 'decided',
  'sealed-before-from': 'decided',
  'from-too-early': 'decided',
  /** The envelope names another key than the decision. */
  'key-not-decided': 'decided',
  /** No certificate that is known covers the key. */
  'key-not-certified': 'copy',
  'signature-invalid': 'copy',
  'group-malformed': 'copy',
  /** The group is not the next one of this node. */
  'group-gap': 'copy',
  'group-out-of-batch': 'copy',
  /** The group is by another key than the envelope. */
  'group-key-mismatch': 'copy',
  'group-incomplete': 'copy',
  'group-root-mismatch': 'copy',
  'body-mismatch': 'copy',
  'record-too-long': 'origin',
  'record-malformed': 'origin',
  'record-out-of-place': 'origin',
  'submitted-outside-batch': 'origin',
  'id-repeated': 'origin',
  'source-skipped': 'origin',
  'source-prev-mismatch': 'origin',
  'batch-incomplete': 'copy',
  'root-mismatch': 'origin',
} as const satisfies Readonly<Record<string, RefusalFault>>;
export type RefusalCode = keyof typeof REFUSALS;

/** A batch of a member that is not derived. */
export class ChainRefusal extends Error {
  override readonly name = 'ChainRefusal';
  readonly code: RefusalCode;
  /** Record that it was found at; null where it concerns the envelope or a group. */
  readonly seq: number | null;

  constructor(code: RefusalCode, message: string, seq: number | null = null) {
    super(message);
    this.code = code;
    this.seq = seq;
  }

  /** The refusal for what a reader threw. */
  static because(code: RefusalCode, error: unknown, seq: number | null = null): ChainRefusal {
    return new ChainRefusal(code, error instanceof Error ? error.message : 'unreadable', seq);
  }

  get fault(): RefusalFault {
    return REFUSALS[this.code];
  }
}
