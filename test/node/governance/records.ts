import { writeSha256 } from '../../../protocol/hash.ts';
import { nodeId, recordId } from '../../../protocol/ids.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { timestampOf } from '../../../protocol/time.ts';

const HASH = writeSha256(new Uint8Array(32));
let seq = 0;

/** A record of `eu` with these members; the others are sensible and of no importance. */
export function recordOf(members: Partial<AttestationRecord>): AttestationRecord {
  seq++;
  return {
    v: 2,
    body: HASH,
    id: recordId(`att_eu_01${String(seq).padStart(24, '0')}`),
    kind: 'decision',
    node: nodeId('eu'),
    seq,
    account: 'acme',
    sourceId: 'triage',
    sourceSeq: seq,
    sourcePrev: null,
    submittedAt: timestampOf(Date.UTC(2026, 10, 21)),
    payloadHash: HASH,
    claims: { channel: 'direct' },
    links: {},
    ...members,
  };
}
