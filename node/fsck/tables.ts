import type { Store } from '../store/store.ts';
import { accountCheck } from './check-accounts.ts';
import { agentCheck } from './check-agents.ts';
import { auditLogCheck } from './check-audit-log.ts';
import { calendarCheck } from './check-calendars.ts';
import { CHAIN_TABLES } from './check-chains.ts';
import { foreignAccountCheck } from './check-foreign-accounts.ts';
import { guardCheck } from './check-guards.ts';
import { KEY_TABLES } from './check-keys.ts';
import { linkedCheck, subjectCheck } from './check-links.ts';
import { listCheck } from './check-lists.ts';
import { logCheck } from './check-log.ts';
import { equivocationCheck, receiptCheck, rescueCheck, rivalCheck } from './check-misbehaviour.ts';
import { outboxCheck } from './check-outbox.ts';
import { packCheck } from './check-packs.ts';
import { secondFactorsCheck } from './check-second-factors.ts';
import { peopleCheck } from './check-people.ts';
import { paymentCheck } from './check-payments.ts';
import { regwatchCheck } from './check-regwatch.ts';
import { retentionCheck } from './check-retention.ts';
import { settlementCheck } from './check-settlements.ts';
import { shareCheck } from './check-shares.ts';
import { signInCheck } from './check-sign-ins.ts';
import { formatCheck, purgeCheck, restorationCheck, startCheck } from './check-start-state.ts';
import { statementCheck } from './check-statements.ts';
import { mailAlertCheck } from './check-mail-alerts.ts';
import { oversightCheck } from './check-oversight.ts';
import { webhookCheck } from './check-webhooks.ts';
import type { TableCheck } from './check.ts';
import { ownVouchedCheck, sealingKeyCheck } from './derived-walk.ts';
import type { Report } from './report.ts';
import { distinctParts } from './rows.ts';

/** What is checked row by row once the keys are known, and the chains, with which it is compared. */
export const TABLE_CHECKS: readonly TableCheck[] = [
  equivocationCheck,
  receiptCheck,
  logCheck,
  rivalCheck,
  ownVouchedCheck,
  sealingKeyCheck,
  outboxCheck,
  rescueCheck,
  statementCheck,
  formatCheck,
  guardCheck,
  accountCheck,
  shareCheck,
  signInCheck,
  peopleCheck,
  secondFactorsCheck,
  foreignAccountCheck,
  agentCheck,
  purgeCheck,
  auditLogCheck,
  linkedCheck,
  retentionCheck,
  subjectCheck,
  paymentCheck,
  settlementCheck,
  listCheck,
  regwatchCheck,
  packCheck,
  webhookCheck,
  mailAlertCheck,
  oversightCheck,
  calendarCheck,
  restorationCheck,
  startCheck,
];

/** The closed list of a store's tables. A table that no check knows is a problem wherever it turns up. */
export const CHECKED_TABLES: ReadonlySet<string> = new Set(
  [...KEY_TABLES, ...CHAIN_TABLES, ...TABLE_CHECKS.flatMap(({ tables }) => tables)].map(({ name }) => name),
);

export async function findUnknownTables(store: Store, report: Report): Promise<void> {
  for await (const name of distinctParts(store, '')) {
    if (CHECKED_TABLES.has(name)) continue;
    const row = await store.first({ gte: name });
    report.problem(name, row?.[0] ?? null, 'stands in no known table');
  }
}
