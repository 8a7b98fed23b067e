import type { NodeId, RecordId } from '../protocol/ids.ts';
import type { AttestationRecord } from '../protocol/statement/record.ts';
import { AccountRecords } from './compliance/account-records.ts';
import { Lanes } from './compliance/lanes.ts';
import { Pseudonyms } from './compliance/pseudonyms.ts';
import { RowCounter } from './compliance/row-counter.ts';
import { sessionCountTable, sessionMoves } from './compliance/session-count.ts';
import { Sessions } from './compliance/sessions.ts';
import { Subjects } from './compliance/subjects.ts';
import type { RecordCounter } from './records/record-counter.ts';
import { readRecord } from './records/record-reader.ts';
import type { Store } from './store/store.ts';

/** What governs an account's records: sessions, reviews, incidents, locks, corrective actions and erasures. */
export interface GovernanceRooms {
  readonly records: AccountRecords;
  readonly sessions: Sessions;
  readonly subjects: Subjects;
  readonly pseudonyms: Pseudonyms;
  /** Counts that the own records move. */
  readonly counters: readonly RecordCounter[];
}

interface GovernanceRoomsOptions {
  readonly store: Store;
  readonly node: NodeId;
  /** 32 bytes from the node's key file. */
  readonly payloadKey: Uint8Array;
  /** A record that this store has not got, from the node that made it. */
  readonly askRecord: (id: RecordId) => Promise<AttestationRecord | undefined>;
}

export function openGovernanceRooms({ store, node, payloadKey, askRecord }: GovernanceRoomsOptions): GovernanceRooms {
  const lanes = new Lanes();
  const pseudonyms = new Pseudonyms(payloadKey);
  return {
    records: new AccountRecords(async (id) => (await readRecord(store, id))?.record ?? askRecord(id)),
    sessions: new Sessions(store, lanes, node),
    subjects: new Subjects(store, pseudonyms),
    pseudonyms,
    counters: [new RowCounter(store, sessionCountTable, sessionMoves)],
  };
}
