import type { Logger } from 'pino';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import type { DailyUsage } from '../accounts/limits/daily-usage.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { EvidenceTally } from '../records/counts/evidence-tally.ts';
import type { PayloadCipher } from '../records/payload/payload-cipher.ts';
import { RecordCounters } from '../records/record-counters.ts';
import { readRecord } from '../records/record-reader.ts';
import { TimeSteps } from '../records/time-steps.ts';
import type { DuePurges } from '../store/due-purges.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { AccountVersions } from '../verification/account-versions.ts';
import type { EvidenceSources } from '../verification/evidence.ts';
import type { VerificationServices } from '../verification/verification-services.ts';
import { AccountRecords, AccountSpeakers } from './account-records.ts';
import { AgentTally } from './agents/agent-tally.ts';
import { keysEndedAgain } from './agents/keys-ended-again.ts';
import { CorrectiveActions } from './corrective-actions.ts';
import { DueReviews } from './due-reviews.ts';
import { Erasures, PayloadTraces } from './erasures.ts';
import { GovernanceRecords } from './governance-records.ts';
import { HoldsElsewhere } from './holds-elsewhere.ts';
import { Holds, holdsReleasedAgain } from './holds.ts';
import { Incidents } from './incidents.ts';
import { holdCountTable, holdMoves } from './lock-tables.ts';
import { Locks } from './locks.ts';
import { OversightQueue } from './oversight/oversight-queue.ts';
import { Policies } from './oversight/policies.ts';
import { Reviews } from './reviews.ts';
import { RowCounter } from './row-counter.ts';
import { sessionCountTable, sessionMoves, Sessions } from './sessions.ts';
import { Pseudonyms, Subjects } from './subjects.ts';

/** What governs an account's records: sessions, reviews, incidents, locks, corrective actions and erasures. */
export interface GovernanceServices {
  readonly records: AccountRecords;
  readonly sessions: Sessions;
  readonly subjects: Subjects;
  readonly pseudonyms: Pseudonyms;
  readonly reviews: Reviews;
  readonly policies: Policies;
  readonly oversight: OversightQueue;
  readonly incidents: Incidents;
  readonly locks: Locks;
  readonly holds: Holds;
  readonly correctiveActions: CorrectiveActions;
  readonly erasures: Erasures;
  readonly governanceRecords: GovernanceRecords;
  readonly dueReviews: DueReviews;
  /** Counts that the own records move. */
  readonly counters: RecordCounters;
  /**
   * What own records that are taken back from peers do beside their rows: what was erased, replaced or released after
   * the copy that a store was restored from is so in that store, too.
   */
  readonly again: EndsAgain;
}

/** What ends once more with own records that are taken back. */
interface EndsAgain {
  /** The rows belong into the records' own write. */
  readonly rowsOf: (records: readonly AttestationRecord[]) => Promise<readonly Operation[]>;
  /** To be called once they are on the disk. */
  readonly onWritten: () => void;
}

interface GovernanceServicesOptions {
  readonly store: Store;
  readonly node: NodeId;
  /** 32 bytes from the node's key file. */
  readonly payloadKey: Uint8Array;
  readonly cipher: PayloadCipher;
  readonly purges: DuePurges;
  readonly log: Logger;
  readonly usage: DailyUsage;
  readonly auditLog: Pick<AuditLog, 'recordWith'>;
  readonly now: () => number;
  /** How records are proved, once the node has started: records that this store has not got, and places in the log. */
  readonly verification: () => Pick<VerificationServices, 'evidence' | 'knowledge'>;
}

export async function openGovernanceServices(options: GovernanceServicesOptions): Promise<GovernanceServices> {
  const { store, node, payloadKey, cipher, purges, log, usage, verification } = options;
  const askRecord = async (id: RecordId) => (await verification().evidence(id))?.record;
  const decisionOf: EvidenceSources['decisionOf'] = (of, batch) => verification().knowledge.decisionOf(of, batch);
  const speakers = new AccountSpeakers(store, new AccountVersions({ store, decisionOf }));
  const keyedLock = new KeyedLock();
  const pseudonyms = new Pseudonyms(payloadKey);
  const subjects = new Subjects(store, pseudonyms);
  const traces = new PayloadTraces({ store, cipher, subjects, purges });
  const locks = new Locks(store, keyedLock, new HoldsElsewhere(store, node, speakers));
  const reviews = new Reviews(store, keyedLock, node, speakers);
  const policies = await Policies.open(options);
  const governanceRecords = new GovernanceRecords(store, keyedLock);
  return {
    records: new AccountRecords(async (id) => (await readRecord(store, id))?.record ?? askRecord(id), speakers),
    sessions: new Sessions(store, keyedLock, node),
    subjects,
    pseudonyms,
    reviews,
    policies,
    oversight: new OversightQueue({ store, node, policies, reviews, log }),
    incidents: new Incidents(store, node, speakers),
    locks,
    holds: new Holds(store, pseudonyms, node),
    correctiveActions: new CorrectiveActions(store, keyedLock, node),
    governanceRecords,
    dueReviews: new DueReviews(store, governanceRecords),
    erasures: new Erasures({ store, self: node, locks, subjects, traces, purges, log }),
    counters: new RecordCounters(store, [
      usage,
      new TimeSteps(store, node),
      new RowCounter(store, sessionCountTable, sessionMoves),
      new RowCounter(store, holdCountTable, holdMoves),
      new AgentTally(store, node),
      await EvidenceTally.open(store, node),
    ]),
    again: {
      rowsOf: async (records) => [
        ...(await traces.removalsAgain(records)),
        ...(await keysEndedAgain(store, purges, records)),
        ...holdsReleasedAgain(records),
      ],
      onWritten: () => purges.noteEnded(),
    },
  };
}
