import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { hashBytes, hashText } from '../../../protocol/hash.ts';
import type { RecordId } from '../../../protocol/ids.ts';
import type { Tier } from '../../accounts/accounts.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { StoredBatch } from '../../records/batch-tables.ts';
import { ulid, ULID_RANDOM_BYTES } from '../../records/record-id.ts';

/** How long the Developer tier is served lists, proofs and exports of a record (api-rules §8). In milliseconds. */
export const PROOF_WINDOW_MS = 7 * 24 * 3_600_000;

/**
 * When the account's hosted proofs of a record end, in epoch milliseconds; null: never. Public verification never does.
 */
export function proofWindowEndsAt({ submittedAt }: Pick<AttestationRecord, 'submittedAt'>, tier: Tier): number | null {
  return tier === 'developer' ? Date.parse(submittedAt) + PROOF_WINDOW_MS : null;
}

/** The earliest `submittedAt` that the account is still served, in epoch milliseconds; null: all that there is. */
export function proofWindowOpensAt(tier: Tier, now: number): number | null {
  return tier === 'developer' ? now - PROOF_WINDOW_MS + 1 : null;
}

/** Tier of a record that is a leaf in the Merkle forest; a message of its own on the ledger would be tier 0. */
export const LEAF_TIER = 1;

/** Time within which a record's root is promised to be on the ledger (api-rules §8). In milliseconds. */
const DEVELOPER_PROMISE_MS = 90_000;
export const PROMISE_MS = 60_000;

/** When the root of a record is promised to be on the ledger, in epoch milliseconds. The tier unknown: the longest. */
export function anchorExpectedBy({ submittedAt }: Pick<AttestationRecord, 'submittedAt'>, tier?: Tier): number {
  const promise = tier === undefined || tier === 'developer' ? DEVELOPER_PROMISE_MS : PROMISE_MS;
  return Date.parse(submittedAt) + promise;
}

/**
 * The caller's handle of a record's encrypted payload, e.g. `pk_eu_01J…`. Destroying its data key erases the payload.
 */
export function payloadHandle(id: RecordId): string {
  return `pk${id.slice(id.indexOf('_'))}`;
}

/** A batch's public id, `bat_eu_…`: a ULID of its sealing time and its envelope's hash, the same on every node. */
export function batchId({ envelope, signed }: StoredBatch): string {
  const hash = hashBytes(hashText(nativeSuite, signed.statement));
  return `bat_${envelope.node}_${ulid(Date.parse(envelope.sealedAt), hash.subarray(0, ULID_RANDOM_BYTES))}`;
}
