import type { FederationKeys } from '../../../node/log/members/federation-keys.ts';
import { rosterVoteTable } from '../../../node/federation/roster-votes.ts';
import type { NodeKeys } from '../../../node/keys/node-keys.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { rosterTextTable } from '../../../node/log/log-tables.ts';
import type { Store } from '../../../node/store/store.ts';
import { hashText } from '../../../protocol/hash.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { statementRow } from './home-anchors.ts';

/**
 * Two rosters that may be the second, both on their way to the ledger, of which the node voted for the one returned
 * last.
 */
export async function addRosters(store: Store, keys: FederationKeys, own: NodeKeys): Promise<string> {
  const { current, hash } = keys.rosters;
  let text = '';
  for (const name of ['left', 'second']) {
    const signed = await signStatement(rosterStatement, { ...current, version: 2, previous: hash, name }, own.identity);
    text = signed.statement;
    await store.write([
      rosterVoteTable.put([2], { signed, at: current.issuedAt }),
      rosterTextTable.put([hashText(nativeSuite, text)], text),
      statementRow(keys, { type: 'roster', text }, current.issuedAt).entry,
    ]);
  }
  return text;
}
