import {
  type Audit,
  type AuditCheck,
  MANDATORY_CHECKS,
  type MandatoryCheck,
  OPTIONAL_CHECKS,
  type OptionalCheck,
} from '../../../protocol/api/verify-audit.ts';
import { failed, type Outcome, skipped, warningIn } from './outcome.ts';

export type Outcomes = Readonly<Record<MandatoryCheck | OptionalCheck, Outcome>>;

/** The checks in their order. */
export function listChecks(outcomes: Outcomes): AuditCheck[] {
  const list = (names: readonly (MandatoryCheck | OptionalCheck)[], mandatory: boolean): AuditCheck[] =>
    names.map((name) => ({ name, result: outcomes[name].result, mandatory, detail: outcomes[name].detail }));
  return [...list(MANDATORY_CHECKS, true), ...list(OPTIONAL_CHECKS, false)];
}

/** A mandatory check that fails is a `fail`, else one that could not be made leaves it open. The others have no say. */
export function verdictOf(checks: readonly AuditCheck[]): Audit['verdict'] {
  const results = checks.filter(({ mandatory }) => mandatory).map(({ result }) => result);
  if (results.includes('fail')) return 'fail';
  return results.includes('skipped') ? 'inconclusive' : 'pass';
}

/** The verdict in a sentence. */
export function summaryOf(checks: readonly AuditCheck[]): string {
  const mandatory = checks.filter((check) => check.mandatory);
  const named = (result: AuditCheck['result']): string[] =>
    mandatory.filter((check) => check.result === result).map(({ name }) => name);
  const [failing, open] = [named('fail'), named('skipped')];
  if (failing.length > 0) return `Of ${mandatory.length} mandatory checks these fail: ${failing.join(', ')}.`;
  if (open.length > 0) return `Of ${mandatory.length} mandatory checks these could not be made: ${open.join(', ')}.`;
  return `All ${mandatory.length} mandatory checks pass.`;
}

/** What changes no verdict and should be looked at: checks that pass with a warning, and optional ones that fail. */
export function warningsOf(checks: readonly AuditCheck[]): string[] {
  return checks.flatMap((check) => {
    const warning = check.result === 'fail' && !check.mandatory ? check.detail : warningIn(check);
    return warning === undefined ? [] : [`${check.name}: ${warning}`];
  });
}

/** What is left to say of a record that this node holds and cannot read any more. */
export function damagedOutcomes(): Outcomes {
  const open = skipped('what this node holds of it cannot be read');
  return {
    'record-proof': failed('what this node holds of it cannot be read'),
    'ledger-message': open,
    'consensus-time': open,
    'signing-keys': open,
    'source-sequence': open,
    'other-node': open,
    'linked-records': open,
    'retention-lock': open,
    'duplicate-request': open,
    'anchoring-delay': open,
    'signature-algorithm': open,
  };
}
