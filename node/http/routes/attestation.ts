import {
  ATTESTATION_EXAMPLE,
  type AttestationAnswer,
  AttestationAnswerShape,
  AttestationQueryShape,
} from '../../../protocol/api/attestation.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { parseText } from '../../../protocol/json/text.ts';
import type { AuditLog } from '../../accounts/audit-log/audit-log.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { AccountRecords } from '../../governance/account-records.ts';
import { readSeeds } from '../../records/payload/payload-keys.ts';
import type { Reads } from '../../store/store.ts';
import type { AnchoringView } from '../../verification/attestation/anchoring-view.ts';
import type { Evidence } from '../../verification/evidence.ts';
import type { PayloadAnswer } from '../../verification/verifier.ts';
import { requireScope } from '../gate.ts';
import { queryReader } from '../query.ts';
import type { KeyRoute } from '../route.ts';
import { requireProofWindow } from './bundles.ts';
import { recordPayloadRead } from './payload-read.ts';
import { RECORD_PARAMETER, recordNotFound, recordParameter, requireFound } from './record-parameter.ts';

export interface AttestationServices {
  readonly self: NodeId;
  readonly store: Reads;
  readonly records: Pick<AccountRecords, 'find'>;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
  readonly view: Pick<AnchoringView, 'of'>;
  readonly auditLog: Pick<AuditLog, 'record'>;
  readonly now: () => number;
}

/** `GET /v1/attestations/:id`: one record of the account, of whichever node. Others’ are not there. */
export function attestationRoute(services: AttestationServices): KeyRoute {
  const readQuery = queryReader(AttestationQueryShape);
  return {
    method: 'GET',
    path: '/v1/attestations/:id',
    access: 'key',
    scope: 'proof:read',
    documentation: {
      summary: 'One record of the account',
      description:
        'With what is signed of it in clear. `?payload=1` gives the content too: at the node that made the record, by a ' +
        'key with `export:read`, and each time a line of the key-use log, `payload.read`. `payload` is null where it was ' +
        'not asked for, was erased, or is at another node: `payloadState` says which.',
      params: RECORD_PARAMETER,
      query: {
        payload: {
          description: '`1`: with the content.',
          shape: AttestationQueryShape.properties.payload,
          example: '1',
        },
      },
      answer: { shape: AttestationAnswerShape, example: ATTESTATION_EXAMPLE },
      headers: ['X-Proof-Window-Ends-At'],
      problems: ['invalid-field', 'attestation-not-found', 'proof-window-expired'],
    },
    async answer({ params, query }, caller) {
      const id = recordParameter(params);
      const { payload: asked = '0' } = readQuery(query);
      if (asked === '1') requireScope('export:read', caller);
      const record = await services.records.find(caller, id);
      const evidence = record && (await services.evidence(record.id));
      if (record === undefined || evidence === undefined) throw recordNotFound(id);
      requireFound(params, evidence);
      const headers = requireProofWindow(record, caller, services.now());
      const state = await stateOf(services, record);
      const payload = asked === '1' && state === 'available' ? await readContent(services, caller, evidence) : null;
      const { status } = await services.view.of(evidence);
      return { body: { ...answerOf(record), status, payloadState: state, payload }, headers };
    },
  };
}

async function stateOf(
  { self, store }: AttestationServices,
  record: AttestationRecord,
): Promise<AttestationAnswer['payloadState']> {
  if (record.node !== self) return 'elsewhere';
  const [seed] = await readSeeds(store, [record]);
  return seed === undefined ? 'erased' : 'available';
}

/** Null where it was erased meanwhile. */
async function readContent(
  { payload, auditLog }: AttestationServices,
  caller: Caller,
  evidence: Evidence,
): Promise<AttestationAnswer['payload']> {
  await recordPayloadRead(auditLog, caller, evidence.record.id);
  const opened = await payload(evidence);
  return typeof opened === 'string' ? null : parseText(opened.text);
}

function answerOf({ id, kind, node, sourceId, sourceSeq, submittedAt, claims, links }: AttestationRecord) {
  const place = { node, sourceId, sourceSeq, submittedAt };
  return { success: true, attestationId: id, recordKind: kind, ...place, claims, links };
}
