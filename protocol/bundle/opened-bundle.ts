import { KeyDirectory, KeyError } from '../keys/key-directory.ts';
import { RosterChain } from '../keys/roster-chain.ts';
import { type AnchorMessage, parseAnchorMessage } from '../ledger/anchor-message.ts';
import { leafHash } from '../merkle/hash.ts';
import { type Cosignature, cosignatureStatement } from '../statement/cosignature.ts';
import { type Envelope, envelopeStatement } from '../statement/envelope.ts';
import { type Group, groupStatement } from '../statement/group.ts';
import { type AttestationRecord, recordText } from '../statement/record.ts';
import type { SignedStatement } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Bundle } from './bundle.ts';
import type { Check, Finding, FindingCode } from './verdict.ts';

/** What the checks work on: every text of the bundle read, or null where it cannot be, with the finding kept. */
export interface OpenedBundle {
  readonly bundle: Bundle;
  readonly record: AttestationRecord | null;
  readonly leaf: Uint8Array | null;
  readonly group: Group | null;
  readonly envelope: Envelope | null;
  readonly cosignatures: readonly { readonly signed: SignedStatement; readonly value: Cosignature }[];
  readonly anchorMessage: AnchorMessage | null;
  readonly rosters: RosterChain | null;
  readonly keys: KeyDirectory | null;
  readonly findings: readonly Finding[];
}

/** Rosters and keys that a verifier has checked already, in place of those that a bundle carries. */
export interface KnownFederation {
  readonly rosters: RosterChain;
  readonly keys: KeyDirectory;
}

/** Reads every statement of a bundle. What does not read becomes a finding, so that all faults are named at once. */
export function openBundle(suite: Suite, bundle: Bundle, known?: KnownFederation): OpenedBundle {
  const findings: Finding[] = [];
  const read = <Value>(check: Check, code: FindingCode, open: () => Value): Value | null => {
    try {
      return open();
    } catch (error) {
      findings.push({ check, code, detail: error instanceof Error ? error.message : code });
      return null;
    }
  };
  const record = read('leafRederived', 'record-malformed', () => readRecord(bundle.record));
  const rosters = known?.rosters ?? read('sigValid', 'roster-invalid', () => RosterChain.open(suite, bundle.rosters));
  return {
    bundle,
    record,
    leaf: record === null ? null : leafHash(suite, bundle.record),
    group: read('bundleBinding', 'statement-malformed', () => groupStatement.parse(bundle.receipt.statement)),
    envelope: read('bundleBinding', 'statement-malformed', () =>
      bundle.batch === null ? null : envelopeStatement.parse(bundle.batch.envelope),
    ),
    cosignatures: bundle.cosignatures.flatMap((signed) => {
      const value = read('bundleBinding', 'statement-malformed', () => cosignatureStatement.parse(signed.statement));
      return value === null ? [] : [{ signed, value }];
    }),
    anchorMessage: read('bundleBinding', 'anchor-malformed', () =>
      bundle.anchor === null ? null : parseAnchorMessage(bundle.anchor.message),
    ),
    rosters,
    keys: known?.keys ?? (rosters === null ? null : openKeys(suite, bundle, rosters, findings)),
    findings,
  };
}

/** The record of a text that re-canonicalises to itself byte for byte. Throws where it does not, or is no record. */
function readRecord(text: string): AttestationRecord {
  const record = recordText.parse(text);
  if ((record.sourceSeq === 1) !== (record.sourcePrev === null)) {
    throw new RangeError('record: only the first record of a source has none before it');
  }
  return record;
}

function openKeys(suite: Suite, bundle: Bundle, rosters: RosterChain, findings: Finding[]): KeyDirectory {
  const keys = new KeyDirectory(suite, () => rosters);
  const add = (code: FindingCode, apply: () => unknown) => {
    try {
      apply();
    } catch (error) {
      const detail = error instanceof KeyError ? `${error.code}: ${error.message}` : code;
      findings.push({ check: 'sigValid', code, detail });
    }
  };
  for (const signed of bundle.keys) add('certificate-invalid', () => keys.addCertificate(signed));
  for (const signed of bundle.revocations) add('revocation-invalid', () => keys.addRevocation(signed));
  return keys;
}
