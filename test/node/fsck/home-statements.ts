import { pino } from 'pino';
import { Accounts } from '../../../node/accounts/accounts.ts';
import { wantedStatementTable } from '../../../node/accounts/elsewhere/held-statement-tables.ts';
import { HeldStatements } from '../../../node/accounts/elsewhere/held-statements.ts';
import { StatementPublisher } from '../../../node/accounts/statements/statement-publisher.ts';
import { newestVersion, statementDueTable } from '../../../node/accounts/statements/statement-tables.ts';
import type { Intake } from '../../../node/intake/intake.ts';
import type { PayloadCipher } from '../../../node/records/payload/payload-cipher.ts';
import { readPayload } from '../../../node/records/payload/payload-tables.ts';
import { readRecord } from '../../../node/records/record-reader.ts';
import type { Store } from '../../../node/store/store.ts';
import { encodeBase64url } from '../../../protocol/bytes.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { until } from '../../fixtures/until.ts';

/** A node that states an account. */
export interface StatingNode {
  readonly node: NodeId;
  readonly store: Store;
  readonly intake: Intake;
  readonly cipher: PayloadCipher;
}

/** The account of a node that names others. */
export const statedAccount = (node: NodeId): string => `acc_${node}_stated`;

/**
 * An account of one key that names these nodes; one version of its statement is recorded, and a change is still due.
 */
export async function stateAccount(
  { node, store, intake }: StatingNode,
  nodes: readonly NodeId[],
  now: () => number,
): Promise<void> {
  const account = statedAccount(node);
  await using accounts = await Accounts.open({ store, node, now, isMember: (other) => nodes.includes(other) });
  await accounts.create({ id: account, tier: 'standard', nodes });
  await accounts.keys.create(account, { preset: 'admin' }, 'operator');
  {
    await using publisher = new StatementPublisher({
      store,
      accountStore: accounts.accountStore,
      record: (draft) => intake.submit(draft),
      random: () => 0,
      log: pino({ level: 'silent' }),
    });
    publisher.start();
    await until(
      'nothing to be due',
      async () => (await Array.fromAsync(statementDueTable.under(store, []))).length === 0,
    );
  }
  await accounts.setTier(account, 'enterprise');
}

/** Holds, in a node's store, the statement of another one's account, as it was given; the log has not decided it. */
export async function holdStatement(to: Store, { node, store, cipher }: StatingNode): Promise<void> {
  const account = statedAccount(node);
  const newest = await newestVersion(store, account, node);
  const record = newest && (await readRecord(to, newest.id))?.record;
  if (record === undefined) throw new Error(`no statement of ${account}`);
  const payload = await readPayload(store, cipher, record.id, record.seq);
  if (payload === 'erased') throw new Error(`the statement of ${account} is erased`);
  const { id, seq } = record;
  const version = { id, seq, salt: encodeBase64url(payload.salt), text: payload.text };
  const held = await HeldStatements.open(to);
  await held.keep(node, account, [version], [wantedStatementTable.put([node, account, seq], id)]);
}
