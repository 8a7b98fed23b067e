import { INITIAL_RUNNING_HASH } from '../../protocol/ledger/running-hash.ts';
import type { AccountRow, HeadRow, MessageRow, TopicRow, TransactionRow } from './rows.ts';

export const STORE_FORMAT = 'meridian-local/1';
/** Topics are numbered from here, accounts below, so that an account can still be added later. */
export const FIRST_TOPIC = 5_001n;
export const FEE_ACCOUNT = 98n;

/**
 * The published state: accounts, topics and the head, all of it durable. History is on disk only. Changed by `publish`
 * alone, after the draft's rows have been synced; so whatever can be read from here has been stored.
 */
export class LedgerState {
  readonly accounts = new Map<bigint, Readonly<AccountRow>>();
  readonly topics = new Map<bigint, Readonly<TopicRow>>();
  head: Readonly<HeadRow> = {
    format: STORE_FORMAT,
    lastConsensus: 0n,
    nextEntity: FIRST_TOPIC,
    transactions: 0,
    blocks: 0,
    blockHash: INITIAL_RUNNING_HASH,
    entitiesHash: INITIAL_RUNNING_HASH,
  };

  publish(draft: Draft): void {
    for (const account of draft.accounts.values()) this.accounts.set(account.num, account);
    for (const topic of draft.topics.values()) this.topics.set(topic.num, topic);
    this.head = draft.head;
  }
}

/** One round's changes to the state: copies of what it touched, and the rows it adds. Dropped if the write fails. */
export class Draft {
  readonly accounts = new Map<bigint, AccountRow>();
  readonly topics = new Map<bigint, TopicRow>();
  readonly messages: MessageRow[] = [];
  readonly transactions: TransactionRow[] = [];
  readonly head: HeadRow;
  readonly #state: LedgerState;

  constructor(state: LedgerState) {
    this.#state = state;
    this.head = { ...state.head };
  }

  /** The account as this round has left it so far; changing it changes the draft. */
  account(num: bigint): AccountRow | undefined {
    return copyOnce(this.accounts, this.#state.accounts, num);
  }

  topic(num: bigint): TopicRow | undefined {
    return copyOnce(this.topics, this.#state.topics, num);
  }

  nextEntity(): bigint {
    return this.head.nextEntity++;
  }
}

function copyOnce<T extends object>(
  own: Map<bigint, T>,
  published: Map<bigint, Readonly<T>>,
  num: bigint,
): T | undefined {
  const drafted = own.get(num);
  if (drafted) return drafted;
  const row = published.get(num);
  if (!row) return undefined;
  const copy = { ...row };
  own.set(num, copy);
  return copy;
}
