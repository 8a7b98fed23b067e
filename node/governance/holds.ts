import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { recordOfObject } from '../../protocol/object-ids.ts';
import { type Caller, covers } from '../accounts/caller.ts';
import { linkingIds } from '../records/link-tables.ts';
import { readOwnRecord } from '../records/record-reader.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { ComplianceError } from './compliance-error.ts';
import { holdTable, isLock, releasesOf } from './lock-tables.ts';
import type { Pseudonyms } from './subjects.ts';

/** A person at work, and who makes the request: somebody who signed in by mail, or the API key that it came by. */
export interface Actor {
  readonly name: string;
  readonly by: string;
}

/** Legal holds: placed by one person, released by another. */
export class Holds {
  readonly #store: Store;
  readonly #pseudonyms: Pseudonyms;
  readonly #self: NodeId;

  constructor(store: Store, pseudonyms: Pseudonyms, self: NodeId) {
    this.#store = store;
    this.#pseudonyms = pseudonyms;
    this.#self = self;
  }

  /** The row that remembers who placed a hold. It belongs into the lock's own write. */
  row(account: string, { name, by }: Actor, lock: RecordId): Operation {
    return holdTable.put([lock], { lockedBy: this.#pseudonyms.holder(account, name), keyId: by });
  }

  /** Forgets who placed a hold. It belongs into the write of the release. */
  removal(lock: RecordId): Operation {
    return holdTable.del(lock);
  }

  /** The lock of an id, of the period of the caller's key. Throws `ComplianceError` `lock-not-found`. */
  async requireLock({ account, key }: Caller, lockId: string): Promise<AttestationRecord> {
    const lock = await readOwnRecord(this.#store, this.#self, recordOfObject('lock', lockId));
    const isThere = lock !== undefined && isLock(lock) && lock.account === account.id;
    if (isThere && covers(key, lock.submittedAt)) return lock;
    throw new ComplianceError('lock-not-found', 'lockId', 'there is no retention lock of this id on this node');
  }

  /**
   * Whether the two persons were told apart: a store that was rebuilt from peers does not know any more who placed a
   * hold. Throws `ComplianceError` where there is no hold to release, or the actor is the one who placed it.
   */
  async requireReleasable(lock: AttestationRecord, { name, by }: Actor): Promise<'checked' | 'forgotten'> {
    const [release] = await linkingIds(this.#store, releasesOf(lock.id), 1, this.#self);
    if (lock.claims.legalHold !== true || release !== undefined) {
      throw new ComplianceError('hold-not-active', 'lockId', 'has no legal hold, or it was released');
    }
    const placed = await holdTable.get(this.#store, lock.id);
    if (placed === undefined) return 'forgotten';
    if (placed.lockedBy === this.#pseudonyms.holder(lock.account, name)) {
      throw new ComplianceError('same-person', 'releasedBy', 'is the person who placed the hold');
    }
    if (placed.keyId === by) {
      throw new ComplianceError('same-person', 'x-api-key', 'is the API key, or of the person, that placed the hold');
    }
    return 'checked';
  }
}

/** What own releases delete that are taken back from peers: a restored store may still tell who placed the hold. */
export function holdsReleasedAgain(records: readonly AttestationRecord[]): Operation[] {
  return records.flatMap(({ kind, links: { lock } }) =>
    kind === 'retention_lock' && lock !== undefined ? [holdTable.del(lock)] : [],
  );
}
