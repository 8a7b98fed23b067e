import type { Status } from '../../../protocol/verdict/verdict.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { Idempotency } from '../../intake/idempotency.ts';
import type { Intake } from '../../intake/intake.ts';

/** What every endpoint that makes a record needs. */
export interface Recorder {
  readonly intake: Pick<Intake, 'submit' | 'submitAll'>;
  readonly idempotency: Pick<Idempotency, 'run'>;
  /** Throws `Problem` 507 where the node has no room for another record. */
  readonly requireStorage: () => void;
  /** Ledger topic of the federation. */
  readonly topic: string;
  readonly verifyUrl: (id: RecordId) => string;
  /** A record of this node. */
  readonly recordOf: (id: RecordId) => Promise<AttestationRecord>;
  /** A record of this node and those after it, so many in all. */
  readonly recordsFrom: (id: RecordId, count: number) => Promise<readonly AttestationRecord[]>;
  /** Waits until an own record is confirmed, or the time is up; resolves to the status reached. */
  readonly waitFor: (record: AttestationRecord, milliseconds: number, signal: AbortSignal) => Promise<Status>;
}
