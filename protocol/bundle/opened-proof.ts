import type { KeyDirectory } from '../keys/key-directory.ts';
import type { RosterChain } from '../keys/roster-chain.ts';
import { type LedgerMessage, parseLedgerMessage } from '../log/message.ts';
import { type Cosignature, cosignatureStatement } from '../statement/cosignature.ts';
import { type Envelope, envelopeStatement } from '../chain/envelope.ts';
import { type Group, groupStatement } from '../statement/group.ts';
import { type AttestationRecord, openRecord, recordLeaf } from '../chain/record.ts';
import type { SignedStatement } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Proof } from './bundle.ts';
import type { Check, Finding, FindingCode } from './verdict.ts';

/** By whose rosters and keys proofs are judged; null where a bundle's do not hold. */
export interface Federation {
  readonly rosters: RosterChain | null;
  readonly keys: KeyDirectory | null;
}

/** What the checks work on: every text of a proof read, or null where it cannot be, with the finding kept. */
export interface OpenedProof extends Federation {
  readonly proof: Proof;
  readonly record: AttestationRecord | null;
  readonly leaf: Uint8Array | null;
  readonly group: Group | null;
  readonly envelope: Envelope | null;
  readonly cosignatures: readonly { readonly signed: SignedStatement; readonly value: Cosignature }[];
  readonly anchorMessage: LedgerMessage | null;
  readonly findings: readonly Finding[];
}

/** Reads every statement of a proof. What does not read becomes a finding, so that all faults are named at once. */
export function openProof(suite: Suite, proof: Proof, { rosters, keys }: Federation): OpenedProof {
  const findings: Finding[] = [];
  const read = <Value>(check: Check, code: FindingCode, open: () => Value): Value | null => {
    try {
      return open();
    } catch (error) {
      findings.push({ check, code, detail: error instanceof Error ? error.message : code });
      return null;
    }
  };
  const record = read('leafRederived', 'record-malformed', () => openRecord(suite, proof.record));
  return {
    proof,
    record,
    leaf: record === null ? null : recordLeaf(suite, proof.record.head),
    group: read('bundleBinding', 'statement-malformed', () => groupStatement.parse(proof.receipt.statement)),
    envelope: read('bundleBinding', 'statement-malformed', () =>
      proof.batch === null ? null : envelopeStatement.parse(proof.batch.envelope),
    ),
    cosignatures: proof.cosignatures.flatMap((signed) => {
      const value = read('bundleBinding', 'statement-malformed', () => cosignatureStatement.parse(signed.statement));
      return value === null ? [] : [{ signed, value }];
    }),
    anchorMessage: read('bundleBinding', 'anchor-malformed', () =>
      proof.anchor === null ? null : parseLedgerMessage(proof.anchor.message),
    ),
    rosters,
    keys,
    findings,
  };
}
