import type { Logger } from 'pino';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { type NamedStatement, nameEnvelope, nameStatement } from '../../protocol/log/naming.ts';
import { type Timestamp, timestampOf } from '../../protocol/time.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import type { Naming } from './anchor-submission.ts';
import { Anchorer, type AnchoringState, type BatchStatus } from './anchorer.ts';
import type { AnchoringConfig } from './ledger/config.ts';
import { HederaClient } from './ledger/hedera-client.ts';
import type { LedgerClient } from './ledger/ledger-client.ts';
import { MirrorClient } from './ledger/mirror-client.ts';
import { SpendGuard } from './ledger/spend-guard.ts';
import { mayNameForOther, type NamedForOther, namedForOther, OTHERS_SPEND } from './others-limits.ts';
import {
  type BatchRow,
  outboxEntry,
  readOutbox,
  rescueEntry,
  rescueOutboxTable,
  statementOutboxClosedTable,
  statementOutboxEntry,
  statementOutboxTable,
  type StatementRow,
} from './outbox.ts';

export interface AnchoringOptions {
  readonly config: AnchoringConfig;
  /** This node, whose batches are anchored. */
  readonly node: NodeId;
  /** Hash of the genesis roster. */
  readonly federation: Sha256Hash;
  readonly store: Store;
  readonly naming: Naming;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Logger;
  /** Instead of the SDK's client. */
  readonly ledger?: LedgerClient;
  /** A receipt shows that an own batch is named on the topic. None of these may throw. */
  readonly onNamed?: (batch: number) => void;
  /** The name of a statement is on the topic, or needed no more. */
  readonly onStatementNamed?: () => void;
}

/** When a statement that this node has named is named once more. */
export interface NamingTerms {
  /** What was named before counts no more; null for never. */
  readonly since: Timestamp | null;
  /** What was named after that is named again no sooner. In milliseconds. */
  readonly everyMs: number;
  /** Names of the day for another node that it leaves for what matters more. Default: none. */
  readonly leaves?: number;
}

/** Writes to the ledger what this node names there: its own batches, statements, and what it rescues. */
export interface Anchoring extends AsyncDisposable {
  readonly start: () => void;
  /** Names statements alone: this node may not know its own batches yet. */
  readonly startStatements: () => void;
  /** The row that must land in the write that seals a batch of this node. */
  readonly outboxEntry: (batch: StoredBatch, at: Timestamp) => Operation;
  /** The row that must land in the write that keeps a revocation or roster which this node brings in. */
  readonly statementEntry: (statement: NamedStatement, at: Timestamp) => Operation;
  /**
   * Has a statement named that was kept without that row, unless its name is on its way or counts still, or the day's
   * limit of what is named for its node is reached.
   */
  readonly ensureStatement: (statement: NamedStatement, at: Timestamp, terms: NamingTerms) => Promise<void>;
  /**
   * Has a batch of another node named by this one, unless it is on its way, or the day's limit for that node is
   * reached.
   */
  readonly ensureRescue: (batch: StoredBatch) => Promise<void>;
  /** A batch was sealed or a statement kept: its outbox row is on the disk. */
  readonly noteSealed: () => void;
  /** Another member holds more of the own chain, or what is in force has changed: what waits may depart. */
  readonly noteChange: () => void;
  /** Texts of messages that decided something. */
  readonly noteDecided: (messages: readonly string[]) => void;
  /** Messages that this node paid for are final on the topic and decided nothing. */
  readonly noteUndecided: (messages: readonly string[]) => void;
  /** Lets go of own batches from a number on, which are replaced; resolves once nothing of them is sent any more. */
  readonly withdraw: (from: number) => Promise<void>;
  /** Takes them again. */
  readonly resume: () => void;
  /** The outbox row of a batch of this node; undefined for one that was never sealed here. */
  readonly outboxOf: (batch: number) => Promise<BatchRow | undefined>;
  /** Where a batch of this node stands; undefined for one that was never sealed here. */
  readonly status: (batch: number) => Promise<BatchStatus | undefined>;
  readonly state: () => Promise<AnchoringState>;
}

/** Reads the store only: the ledger need not be there, now or at `start`. */
export async function openAnchoring(options: AnchoringOptions): Promise<Anchoring> {
  const { config, federation, store } = options;
  const mirror = new MirrorClient(config.mirrors);
  const ledger = options.ledger ?? new HederaClient(config);
  const guard = await SpendGuard.open(store, config.spend);
  const { feeTinybars } = guard.limits;
  const guardOf = (kind: NamedForOther) => {
    const { limits, row } = OTHERS_SPEND[kind];
    return SpendGuard.open(store, { ...limits, feeTinybars }, row);
  };
  const othersGuards = { rescue: await guardOf('rescue'), revocation: await guardOf('revocation') };
  const anchorer = new Anchorer({ ...options, ledger, mirror, guard, othersGuards });
  const locks = new KeyedLock();
  const messageOf = (statement: NamedStatement) => nameStatement(nativeSuite, federation, statement);
  const statementEntry: Anchoring['statementEntry'] = (named, at) => {
    const message = messageOf(named);
    return statementOutboxEntry(message.statement, writeLedgerMessage(message), at);
  };
  return {
    start: () => anchorer.start(),
    startStatements: () => anchorer.startStatements(),
    outboxEntry({ envelope, signed }, at) {
      const message = nameEnvelope(nativeSuite, federation, envelope, signed.statement);
      return outboxEntry(envelope.batch, writeLedgerMessage(message), at);
    },
    statementEntry,
    ensureStatement(statement, at, { since, everyMs, leaves }) {
      const message = messageOf(statement);
      return locks.exclusive(message.statement, async () => {
        const isUnderWay = (await statementOutboxTable.get(store, message.statement)) !== undefined;
        const named = sentAt(await statementOutboxClosedTable.get(store, message.statement));
        const now = Date.parse(at);
        const isRecent = named !== undefined && now - Date.parse(named) < everyMs;
        const counts = isRecent && (since === null || named >= since);
        if (isUnderWay || counts) return;
        const isOfOther = message.type === 'revocation' && message.node !== options.node;
        if (isOfOther && !(await mayNameForOther(store, 'revocation', message.node, now, leaves))) return;
        const counted = isOfOther ? [await namedForOther(store, 'revocation', message.node, now)] : [];
        await store.write([
          statementOutboxClosedTable.del(message.statement),
          statementEntry(statement, at),
          ...counted,
        ]);
        anchorer.noteSealed();
      });
    },
    ensureRescue({ envelope, signed }) {
      const { node: rescued, batch } = envelope;
      return locks.exclusive(`rescue ${rescued}`, async () => {
        if ((await rescueOutboxTable.get(store, rescued, batch)) !== undefined) return;
        const now = options.now();
        if (!(await mayNameForOther(store, 'rescue', rescued, now))) return;
        const message = writeLedgerMessage(nameEnvelope(nativeSuite, federation, envelope, signed.statement));
        await store.write([
          rescueEntry(rescued, batch, message, timestampOf(now)),
          await namedForOther(store, 'rescue', rescued, now),
        ]);
        anchorer.noteSealed();
      });
    },
    noteChange: () => anchorer.noteChange(),
    noteDecided: (messages) => anchorer.noteDecided(messages),
    noteUndecided: (messages) => anchorer.noteUndecided(messages),
    withdraw: (from) => anchorer.withdraw(from),
    resume: () => anchorer.resume(),
    noteSealed: () => anchorer.noteSealed(),
    outboxOf: (batch) => readOutbox(store, batch),
    status: (batch) => anchorer.status(batch),
    state: () => anchorer.state(),
    // The anchorer first: its trips still use the client.
    async [Symbol.asyncDispose]() {
      await anchorer[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
    },
  };
}

/** When the transaction was made that named a statement last. */
function sentAt(closed: StatementRow | undefined): Timestamp | undefined {
  return closed?.history.findLast(({ status }) => status === 'prepared')?.at;
}
