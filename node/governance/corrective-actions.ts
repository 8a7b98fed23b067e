import { allowedAfter } from '../../protocol/compliance/corrective-action.ts';
import { type NodeId, recordId } from '../../protocol/ids.ts';
import { recordOfObject } from '../../protocol/object-ids.ts';
import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { ActionStatus } from '../../protocol/statement/vocabulary.ts';
import { type Caller, covers } from '../accounts/caller.ts';
import { linkTable } from '../records/link-tables.ts';
import { readOwnRecord, readRecord } from '../records/record-reader.ts';
import type { Store } from '../store/store.ts';
import { ComplianceError } from './compliance-error.ts';
import type { KeyedLock } from '../concurrency/keyed-lock.ts';

/** Where a corrective action stands: its first record, and the last, which are the same at the beginning. */
export interface ActionState {
  readonly first: AttestationRecord;
  readonly last: AttestationRecord;
}

export interface Step {
  readonly correctiveActionId: string;
  readonly sourceId: string;
  readonly to: ActionStatus;
}

/**
 * Corrective actions: each a chain of signed steps on the node where it began, the last of which says where it stands.
 */
export class CorrectiveActions {
  readonly #store: Store;
  readonly #keyedLock: KeyedLock;
  readonly #self: NodeId;

  constructor(store: Store, keyedLock: KeyedLock, self: NodeId) {
    this.#store = store;
    this.#keyedLock = keyedLock;
    this.#self = self;
  }

  /** Runs the work that records the next step, alone: nobody moves the action meanwhile. Throws `ComplianceError`. */
  stepping<Result>(
    caller: Caller,
    { correctiveActionId, sourceId, to }: Step,
    work: (state: ActionState) => Promise<Result>,
  ): Promise<Result> {
    return this.#keyedLock.exclusive(`corrective-action/${correctiveActionId}`, async () => {
      const state = await this.#require(caller, correctiveActionId);
      if (state.first.sourceId !== sourceId) {
        throw new ComplianceError('source-mismatch', 'sourceId', 'is not the source of the corrective action');
      }
      requireAllowed(state.last.claims.actionStatus ?? null, to);
      return work(state);
    });
  }

  async #require({ account, key }: Caller, correctiveActionId: string): Promise<ActionState> {
    const first = await readOwnRecord(this.#store, this.#self, recordOfObject('correctiveAction', correctiveActionId));
    const isFirst = first?.kind === 'corrective_action' && first.links.correctiveAction === undefined;
    if (first === undefined || !isFirst || first.account !== account.id || !covers(key, first.submittedAt)) {
      const detail = 'there is no corrective action of this id on this node';
      throw new ComplianceError('corrective-action-not-found', 'correctiveActionId', detail);
    }
    return { first, last: await this.#lastOf(first) };
  }

  async #lastOf(first: AttestationRecord): Promise<AttestationRecord> {
    const steps = [first.id, 'correctiveAction', 'corrective_action', this.#self];
    const row = await linkTable.last(this.#store, steps);
    const last = row && (await readRecord(this.#store, recordId(row[1])))?.record;
    return last ?? first;
  }
}

/** Throws `ComplianceError` `invalid-transition`, which says what would be allowed. `from` is null for a new action. */
export function requireAllowed(from: ActionStatus | null, to: ActionStatus): void {
  const allowed = allowedAfter(from);
  if (allowed.includes(to)) return;
  const detail = from === null ? `no corrective action begins as ${to}` : `${to} does not follow ${from}`;
  throw new ComplianceError('invalid-transition', 'status', detail, { from, to, allowed: [...allowed] });
}
