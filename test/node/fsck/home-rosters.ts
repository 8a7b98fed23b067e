import type { FederationKeys } from '../../../node/federation/federation-keys.ts';
import { rosterVoteTable } from '../../../node/federation/roster-votes.ts';
import type { NodeKeys } from '../../../node/keys/node-keys.ts';
import type { Store } from '../../../node/store/store.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { statementRow } from './home-anchors.ts';

/**
 * A second roster, another that a quorum of one signed beside it, both on their way to the ledger, and the vote on the
 * first.
 */
export async function addRosters(store: Store, keys: FederationKeys, node: NodeId, own: NodeKeys): Promise<void> {
  const { book } = keys;
  const { current, hash } = book.chain;
  for (const name of ['second', 'rival']) {
    const roster = { ...current, version: 2, previous: hash, name };
    const { statement, signature } = await signStatement(rosterStatement, roster, own.identity);
    await book.learn({ statement, signatures: [{ node, signature }] });
    await store.write([statementRow(keys, { type: 'roster', text: statement }, current.issuedAt).entry]);
    if (name === 'second') await store.write([rosterVoteTable.put([2], { statement, signature })]);
  }
}
