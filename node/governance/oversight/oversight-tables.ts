import { hash } from 'node:crypto';
import Type, { type Static } from 'typebox';
import {
  isPolicyId,
  type OversightPolicyAnswer,
  type PolicyId,
  PolicyIdShape,
  PolicyTermsShape,
} from '../../../protocol/api/oversight.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { isOfTest } from '../../../protocol/frameworks/record-view.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { Closed, RecordIdShape, TimestampShape } from '../../../protocol/shapes.ts';
import { freshId } from '../../records/record-id.ts';
import { jsonTable, numberCodec, Table } from '../../store/table.ts';

const PersonsShape = Type.Integer({ minimum: 1, maximum: 2 });
const POSSIBLE_DRAWS = 2 ** 32;

const PolicyRowShape = Closed({
  id: PolicyIdShape,
  account: Type.String(),
  name: Type.String(),
  when: PolicyTermsShape,
  persons: PersonsShape,
  createdAt: TimestampShape,
});
export type Policy = Readonly<Static<typeof PolicyRowShape>>;

const WaitingRowShape = Closed({
  attestationId: RecordIdShape,
  policies: Type.Array(PolicyIdShape, { minItems: 1 }),
  persons: PersonsShape,
});
/** A decision that people have to look at, and by which policies. */
export type Waiting = Readonly<Static<typeof WaitingRowShape>>;

/** (account, policy) → what people have to look at. */
export const policyTable = jsonTable('oversight-policy', PolicyRowShape);
/** (account, seq) → own decision that people have to look at. The oldest comes first. */
export const waitingTable = jsonTable('oversight', WaitingRowShape);
/** (node) → last own batch whose decisions were held against the policies. Absent where there are none. */
export const overseenBatchTable = new Table('overseen-batch', numberCodec);

export function newPolicyId(node: NodeId, epochMilliseconds: number): PolicyId {
  return freshId('pol', node, epochMilliseconds, isPolicyId);
}

/** Whether people have to look at a record by a policy of its account. Records of test and staging are nobody's duty. */
export function isChosen({ id, when, createdAt }: Policy, record: AttestationRecord): boolean {
  const { kind, sourceId, submittedAt, claims } = record;
  if (kind !== 'decision' || isOfTest(record) || Date.parse(submittedAt) < Date.parse(createdAt)) return false;
  const { eventType = '', riskLevel = '', confidenceScore = Number.POSITIVE_INFINITY, asserted } = claims;
  return (
    (when.sourceId === undefined || when.sourceId === sourceId) &&
    (when.eventTypes === undefined || when.eventTypes.includes(eventType)) &&
    (when.riskLevels === undefined || when.riskLevels.includes(riskLevel)) &&
    (when.adverse === undefined || when.adverse === (asserted?.adverse ?? false)) &&
    (when.confidenceBelow === undefined || confidenceScore < when.confidenceBelow) &&
    (when.share === undefined || draw(id, record.id) < when.share)
  );
}

/** From 0 to below 1. Neither whoever makes a record nor whoever makes a policy chooses the ids. */
function draw(policy: PolicyId, record: string): number {
  return Buffer.from(hash('sha256', `${policy}\0${record}`, 'hex'), 'hex').readUInt32BE() / POSSIBLE_DRAWS;
}

export function policyAnswer({ id, name, when, persons, createdAt }: Policy): OversightPolicyAnswer {
  return { policyId: id, name, when, persons, createdAt };
}
