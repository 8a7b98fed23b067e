import { KeyDirectory, KeyError } from '../keys/key-directory.ts';
import { RosterChain } from '../keys/roster-chain.ts';
import type { SignedStatement } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Bundle } from './bundle.ts';
import { type Federation, type OpenedProof, openProof } from './opened-proof.ts';
import type { Finding, FindingCode } from './verdict.ts';

/** Keys and revocations that do not hold before the others are left unread: it is settled then, and each costs a signature. */
const MAX_KEY_FAULTS = 16;

/** A bundle with the proof of its record opened. The linked records are opened one by one, as they are judged. */
export interface OpenedBundle extends OpenedProof {
  readonly bundle: Bundle;
}

/** What the verifier knows beside the bundle. */
export interface KnownBeside {
  /** Rosters and keys that it has checked already, in the place of the bundle's. */
  readonly federation?: Federation;
  /** Revocations: whoever made the bundle may have left them out. One that does not hold in its rosters is passed over. */
  readonly revocations?: readonly SignedStatement[];
}

/**
 * Opens a bundle under the rosters and keys that it carries, and what the verifier knows. What does not read becomes a
 * finding.
 */
export function openBundle(suite: Suite, bundle: Bundle, known: KnownBeside = {}): OpenedBundle {
  const findings: Finding[] = [];
  const federation = known.federation ?? openFederation(suite, bundle, findings, known.revocations ?? []);
  const opened = openProof(suite, bundle, federation);
  return { ...opened, bundle, findings: [...findings, ...opened.findings] };
}

function openFederation(
  suite: Suite,
  bundle: Bundle,
  findings: Finding[],
  revocations: readonly SignedStatement[],
): Federation {
  try {
    const rosters = RosterChain.open(suite, bundle.rosters);
    const keys = openKeys(suite, bundle, rosters, findings);
    for (const signed of revocations) addKnown(keys, signed);
    return { rosters, keys };
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'unreadable rosters';
    findings.push({ check: 'sigValid', code: 'roster-invalid', detail });
    return { rosters: null, keys: null };
  }
}

function addKnown(keys: KeyDirectory, signed: SignedStatement): void {
  try {
    keys.addRevocation(signed);
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
  }
}

function openKeys(suite: Suite, bundle: Bundle, rosters: RosterChain, findings: Finding[]): KeyDirectory {
  const keys = new KeyDirectory(suite, () => rosters);
  const add = (code: FindingCode, apply: () => unknown) => {
    if (findings.length >= MAX_KEY_FAULTS) return;
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
