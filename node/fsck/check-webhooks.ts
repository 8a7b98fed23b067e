import { isWebhookId } from '../../protocol/api/webhooks.ts';
import {
  alertMarkTable,
  deliveryDueTable,
  deliveryTable,
  toldBatchTable,
  webhookTable,
} from '../alerts/webhook-tables.ts';
import type { Check, TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** Webhooks under their accounts, what is delivered to them, and the index of what is due, which is of what is pending. */
export const webhookCheck: TableCheck = {
  tables: [webhookTable, deliveryTable, deliveryDueTable, alertMarkTable, toldBatchTable],
  async run(check) {
    await checkWebhooks(check);
    await checkDeliveries(check);
    await checkDue(check);
    await Array.fromAsync(readRows(check, alertMarkTable));
    await Array.fromAsync(readRows(check, toldBatchTable));
  },
};

async function checkWebhooks(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, webhookTable)) {
    check.report.count('webhooks');
    if (value === undefined || (value.account === parts[0] && value.id === parts[1])) continue;
    check.report.problem(webhookTable.name, key, 'is of another account, or another webhook');
  }
}

async function checkDeliveries(check: Check): Promise<void> {
  for await (const { key, parts, value } of readRows(check, deliveryTable)) {
    if (value === undefined) continue;
    const problem = (detail: string): void => check.report.problem(deliveryTable.name, key, detail);
    const { id, webhook, account, state, nextAt } = value;
    if (webhook !== parts[0] || id !== parts[1]) problem('is of another webhook, or another delivery');
    if ((await deliveryDueTable.get(check.store, nextAt, webhook, id)) === undefined && state === 'pending') {
      problem('is pending, and is not among those that are due');
    }
    if ((await webhookTable.get(check.store, account, webhook).catch(() => undefined)) === undefined) {
      check.report.warning(deliveryTable.name, key, 'is of a webhook that is not there: it is removed when it is due');
    }
  }
}

async function checkDue(check: Check): Promise<void> {
  for await (const { key, parts } of readRows(check, deliveryDueTable)) {
    const [at, webhook = '', id = ''] = parts;
    const found = isWebhookId(webhook)
      ? await deliveryTable.get(check.store, webhook, id).catch(() => undefined)
      : undefined;
    if (found?.state === 'pending' && found.nextAt === Number(at)) continue;
    check.report.problem(deliveryDueTable.name, key, 'is of a delivery that is not pending at this time');
  }
}
