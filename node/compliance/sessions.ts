import { recordOfObject } from '../../protocol/object-ids.ts';
import type { AttestationRecord } from '../../protocol/statement/record.ts';
import { linkingIds } from '../records/link-tables.ts';
import { readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import { ComplianceError } from './compliance-error.ts';
import type { Lanes } from './lanes.ts';

/** Periods of use (EU AI Act Art. 12(3)(a)): each the record of its start, and of its end once there is one. */
export class Sessions {
  readonly #store: Store;
  readonly #lanes: Lanes;

  constructor(store: Store, lanes: Lanes) {
    this.#store = store;
    this.#lanes = lanes;
  }

  /** Runs the work while the session is open: nobody ends it meanwhile. Throws `ComplianceError`. */
  within<Result>(
    account: string,
    sessionId: string,
    work: (start: AttestationRecord) => Promise<Result>,
  ): Promise<Result> {
    return this.#lanes.shared(laneOf(sessionId), async () => work(await this.#requireOpen(account, sessionId)));
  }

  /** Runs the work that ends the session, alone: what was recorded within it before is on the disk. */
  ending<Result>(
    account: string,
    sessionId: string,
    work: (start: AttestationRecord) => Promise<Result>,
  ): Promise<Result> {
    return this.#lanes.exclusive(laneOf(sessionId), async () => work(await this.#requireOpen(account, sessionId)));
  }

  async #requireOpen(account: string, sessionId: string): Promise<AttestationRecord> {
    const id = recordOfObject('session', sessionId);
    const start = id && (await readRecord(this.#store, id))?.record;
    if (start === undefined || start.kind !== 'session_start' || start.account !== account) {
      throw new ComplianceError('session-not-found', 'sessionId', 'there is no session of this id');
    }
    const [end] = await linkingIds(this.#store, start.id, 'session', 'session_end', 1);
    if (end === undefined) return start;
    throw new ComplianceError('session-already-ended', 'sessionId', 'the session has ended', { endedBy: end });
  }
}

function laneOf(sessionId: string): string {
  return `session/${sessionId}`;
}
