import { hash } from 'node:crypto';
import { lastRecordEnd } from '../../../protocol/compliance/retention.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { type ConsensusTimestamp, timestampOfConsensus } from '../../../protocol/time.ts';
import { anchorExpectedBy } from '../../verification/attestation/anchoring-promise.ts';
import type { Locks } from '../../governance/locks.ts';
import { duplicateTable } from '../../intake/once-guard.ts';
import type { Store } from '../../store/store.ts';
import type { Evidence } from '../../verification/evidence.ts';
import type { PayloadAnswer, VerifiedRecord } from '../../verification/verifier.ts';
import { failed, type Outcome, passed, skipped } from './outcome.ts';

export interface CircumstanceSources {
  readonly self: NodeId;
  readonly store: Store;
  readonly locks: Pick<Locks, 'covering'>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
  readonly now: () => number;
}

/** O1: the records linked to it that its evidence rests on: reviews, incidents, session, agent's key. */
export function checkLinked({ verdict: { linked }, links }: VerifiedRecord): Outcome {
  if (linked.length === 0) return skipped('no linked record is at hand');
  const holding = linked.filter(({ holds }) => holds).length;
  const detail = `${holding} of ${linked.length} linked records hold${links.truncated ? ', and there are more' : ''}`;
  return holding === linked.length ? passed(detail) : failed(detail);
}

/** O2: whether a lock or a legal hold keeps it. Locks are known at the node that took them. */
export async function checkLock({ self, locks, now }: CircumstanceSources, { record }: Evidence): Promise<Outcome> {
  if (record.node !== self) return skipped(`the node ${record.node} knows of its locks`);
  const state = await locks.covering(record, record.kind);
  const end = lastRecordEnd(state, Date.parse(record.submittedAt));
  if (!state.held && (end === null || end <= now())) return skipped('no retention lock is in force');
  return passed(state.held ? 'under a legal hold' : 'under a retention lock');
}

/**
 * O3: whether the request was recorded twice. Payload hashes are salted, so equal payloads do not show; the guard against
 * identical requests to `/v1/attest` does, where the payload is at hand.
 */
export async function checkDuplicate(
  { self, store, payload }: CircumstanceSources,
  evidence: Evidence,
): Promise<Outcome> {
  const { record } = evidence;
  if (record.kind !== 'decision' || record.claims.channel !== 'direct') {
    return skipped('identical requests are not told apart on this channel');
  }
  if (record.node !== self) return skipped(`the node ${record.node} knows its requests`);
  const opened = await payload(evidence);
  if (typeof opened === 'string') return skipped(`the payload is not at hand (${opened})`);
  const first = await duplicateTable.get(store, record.account, hash('sha256', opened.text, 'hex'));
  if (first === undefined) return skipped('it is not among the guarded requests');
  return first === record.id
    ? passed('no other record has the same request')
    : failed('the same request was recorded before');
}

/** O4: whether its root was on the ledger when it was promised to be. The tier is its owner's matter: the longest promise. */
export function checkDelay({ record }: Evidence, consensus: ConsensusTimestamp | null): Outcome {
  if (consensus === null) return skipped('it is not settled when the ledger gave the batch its time');
  const late = Date.parse(timestampOfConsensus(consensus)) - anchorExpectedBy(record);
  return late <= 0 ? passed('on the ledger within the promise') : failed(`on the ledger ${late} ms after the promise`);
}
