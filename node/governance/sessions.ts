import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { recordOfObject } from '../../protocol/object-ids.ts';
import { type Caller, mayName } from '../accounts/caller.ts';
import type { KeyedLock } from '../concurrency/keyed-lock.ts';
import { linkingIds } from '../records/link-tables.ts';
import { readOwnRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import { numberCodec, Table } from '../store/table.ts';
import { ComplianceError } from './compliance-error.ts';
import type { Move } from './row-counter.ts';

/** (start of the session) → decisions recorded within it. No row: none. */
export const sessionCountTable = new Table('session-count', numberCodec);

export function sessionMoves({ kind, links: { session } }: AttestationRecord): readonly Move[] {
  return kind === 'decision' && session !== undefined ? [{ parts: [session], by: 1 }] : [];
}

/**
 * Periods of use (EU AI Act Art. 12(3)(a)): each the record of its start, and of its end once there is one. A session
 * lives on the node that started it: no other could know that it has not just ended.
 */
export class Sessions {
  readonly #store: Store;
  readonly #keyedLock: KeyedLock;
  readonly #self: NodeId;

  constructor(store: Store, keyedLock: KeyedLock, self: NodeId) {
    this.#store = store;
    this.#keyedLock = keyedLock;
    this.#self = self;
  }

  /** Runs the work while the session is open: nobody ends it meanwhile. Throws `ComplianceError`. */
  within<Result>(
    caller: Caller,
    sessionId: string,
    work: (start: AttestationRecord) => Promise<Result>,
  ): Promise<Result> {
    return this.#keyedLock.shared(lockKeyOf(sessionId), async () => work(await this.#requireOpen(caller, sessionId)));
  }

  /**
   * Runs the work that ends the session, alone: what was recorded within it before is on the disk, and `decisions` is
   * the number of these. Throws `ComplianceError`, also where the session is of another source.
   */
  ending<Result>(
    caller: Caller,
    { sessionId, sourceId }: { readonly sessionId: string; readonly sourceId: string },
    work: (start: AttestationRecord, decisions: number) => Promise<Result>,
  ): Promise<Result> {
    return this.#keyedLock.exclusive(lockKeyOf(sessionId), async () => {
      const start = await this.#require(caller, sessionId);
      if (start.sourceId !== sourceId) {
        throw new ComplianceError('source-mismatch', 'sourceId', 'is not the source that the session was started for');
      }
      await this.#refuseEnded(start);
      return work(start, (await sessionCountTable.get(this.#store, start.id)) ?? 0);
    });
  }

  async #requireOpen(caller: Caller, sessionId: string): Promise<AttestationRecord> {
    const start = await this.#require(caller, sessionId);
    await this.#refuseEnded(start);
    return start;
  }

  async #require(caller: Caller, sessionId: string): Promise<AttestationRecord> {
    const start = await readOwnRecord(this.#store, this.#self, recordOfObject('session', sessionId));
    if (start?.kind === 'session_start' && mayName(caller, start)) return start;
    throw new ComplianceError('session-not-found', 'sessionId', 'there is no session of this id on this node');
  }

  async #refuseEnded(start: AttestationRecord): Promise<void> {
    // What another node says of it ends no session here.
    const links = { target: start.id, name: 'session', kind: 'session_end' } as const;
    const [end] = await linkingIds(this.#store, links, 1, this.#self);
    if (end === undefined) return;
    throw new ComplianceError('session-already-ended', 'sessionId', 'the session has ended', { endedBy: end });
  }
}

function lockKeyOf(sessionId: string): string {
  return `session/${sessionId}`;
}
