import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { DEFAULT_PORT_BASE, planCluster } from '../../../cluster/plan.ts';
import { ensureLedgerAccounts } from '../../../cluster/supervisor/ledger-accounts.ts';

const home = await mkdtemp(join(tmpdir(), 'meridian-accounts-'));
test.after(() => rm(home, { recursive: true, force: true }));

test('the ledger opens an account for each node and one for a node that joins, each with a key of its own', async () => {
  const { nodes, ledgerAccounts } = planCluster(DEFAULT_PORT_BASE);
  const joining = ledgerAccounts.filter((account) => !nodes.some(({ operatorId }) => operatorId === account));
  assert.equal(joining, ['0.0.1006'], 'the account that node/README.md names');
  const { operators, accountsFile } = await ensureLedgerAccounts(home, ledgerAccounts);
  assert.equal(Object.keys(operators), [...nodes.map(({ operatorId }) => operatorId), ...joining]);
  assert.is(new Set(Object.values(operators)).size, ledgerAccounts.length);
  const opened: { readonly account: string }[] = JSON.parse(await readFile(accountsFile, 'utf8'));
  assert.equal(
    opened.map(({ account }) => account),
    ledgerAccounts,
  );
  assert.equal((await ensureLedgerAccounts(home, ledgerAccounts)).operators, operators, 'no key is made twice');
});

test.run();
