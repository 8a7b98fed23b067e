import { proto } from '@hiero-ledger/proto';
import type { AcceptedTransactions } from './accepted-transactions.ts';
import type { Nanos } from './consensus-time.ts';
import { entitiesHash } from './entities-hash.ts';
import { Draft, FEE_ACCOUNT, FIRST_TOPIC, LedgerState } from './ledger-state.ts';
import type { LedgerStore } from './ledger-store.ts';
import { MAX_VALIDITY } from './precheck.ts';
import type { AccountRow } from './rows.ts';
import { numberKey } from './table.ts';
import { entityText } from './wire.ts';
import { verifyStore } from './verify-store.ts';

/** An account that exists from the start, or from the start at which it is first named. */
export interface OpeningAccount {
  readonly num: bigint;
  readonly key: proto.IKey;
  readonly tinybars: bigint;
}

const FIRST_OPEN_ACCOUNT = 1_001n;

/**
 * Loads the state, checks the whole store, and adds the accounts that it does not have yet.
 *
 * @param nodes account numbers of the nodes, which are paid fees and can spend nothing
 * @throws Error if the store has been changed, or an account is known under another key
 */
export async function loadState(
  store: LedgerStore,
  accounts: readonly OpeningAccount[],
  nodes: readonly bigint[],
  now: Nanos,
): Promise<LedgerState> {
  const state = new LedgerState();
  const isNew = !(await store.load(state));
  if (!isNew) await verifyStore(store, state);
  const draft = new Draft(state);
  for (const num of [...nodes, FEE_ACCOUNT]) openAccount(draft, { num, key: null, tinybars: 0n }, now);
  for (const { num, key, tinybars } of accounts) {
    const isFree = num >= FIRST_OPEN_ACCOUNT && num < FIRST_TOPIC;
    if (!isFree) throw new Error(`${entityText(num)} is not free for an account`);
    openAccount(draft, { num, key: proto.Key.encode(key).finish(), tinybars }, now);
  }
  draft.head.entitiesHash = entitiesHash(state, draft);
  await store.write(draft, null);
  state.publish(draft);
  return state;
}

/** Fills in the transactions of the last 180 seconds, which could be sent again. */
export async function rememberRecent(accepted: AcceptedTransactions, store: LedgerStore, now: Nanos): Promise<void> {
  const since = now > MAX_VALIDITY ? now - MAX_VALIDITY : 0n;
  for await (const { id, at } of store.transactions.rows({ gte: numberKey(since) })) accepted.settle(id, at);
}

function openAccount(
  draft: Draft,
  { num, key, tinybars }: { num: bigint; key: AccountRow['key']; tinybars: bigint },
  now: Nanos,
): void {
  const known = draft.account(num);
  if (!known) {
    draft.accounts.set(num, { num, key, opening: tinybars, balance: tinybars, created: now });
    return;
  }
  const sameKey = Buffer.compare(known.key ?? new Uint8Array(), key ?? new Uint8Array()) === 0;
  if (!sameKey) throw new Error(`account ${entityText(num)} is stored with another key`);
}
