import Type, { type Static } from 'typebox';
import { Compile } from '../../../protocol/shape-check.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { STATUSES } from '../../../protocol/verdict/verdict.ts';
import type { Member } from '../../../protocol/log/roster.ts';
import {
  ConsensusTimestampShape,
  OrNull,
  RecordIdShape,
  Sha256Shape,
  TimestampShape,
} from '../../../protocol/shapes.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { httpRequest } from '../../outbound/http-client.ts';
import type { VerifiedRecord } from '../../verification/verifier.ts';
import { failed, type Outcome, passed, skipped } from './outcome.ts';

export interface OtherNodesOptions {
  readonly self: NodeId;
  readonly members: () => readonly Member[];
  /** In [0, 1): which members are asked. */
  readonly random: () => number;
}

// A later release may say more; what is read is strict.
const ResultShape = Type.Object({
  attestationId: RecordIdShape,
  verified: Type.Boolean(),
  status: OrNull(Type.Enum([...STATUSES])),
  submittedAt: OrNull(TimestampShape),
  recordKind: OrNull(Type.String()),
  keyId: OrNull(Sha256Shape),
  consensusTimestamp: OrNull(ConsensusTimestampShape),
});
/** What two nodes that verify the same record must agree on. What is at hand of its payload, and links, may differ. */
export type Result = Static<typeof ResultShape>;
const compiled = Compile(ResultShape);

/** A member's own verification, as it tells it to anyone; null where it has none that is worth comparing. */
export interface OtherAnswer {
  readonly node: NodeId;
  readonly result: Result | null;
}

/** Members that are asked. Where there are more, the record's own node comes last. */
const MAX_ASKED = 3;
/** A member may have to ask another one itself. In milliseconds. */
const ANSWER_MS = 5_000;
/** A verification is some 4 kB. In bytes. */
const MAX_ANSWER_BYTES = 256 << 10;

/** Asks other members for their verification of a record, over the API that is open to all. Never throws. */
export async function askOtherNodes(
  options: OtherNodesOptions,
  id: RecordId,
  origin: NodeId,
  signal: AbortSignal,
): Promise<readonly OtherAnswer[]> {
  const asked = chooseMembers(options, origin);
  return Promise.all(
    asked.map(async ({ node, baseUrl }) => ({
      node,
      result: await askNode(baseUrl, id, signal).catch((): null => null),
    })),
  );
}

/**
 * M6: the majority of those who answered verifies the record as this node does. What one lying member can do is little:
 * beside two who tell the truth it is outvoted and named, and as the only one that answers it can bring an audit to
 * fail, never to pass, for the other checks are this node's own. A draw leaves it open.
 */
export function judgeOtherNodes(own: Result, answers: readonly OtherAnswer[]): Outcome {
  if (own.status !== 'confirmed') return skipped('this node does not know it confirmed yet');
  const said = answers.flatMap(({ node, result }) => (result === null ? [] : [{ node, same: isSame(own, result) }]));
  const same = said.filter((each) => each.same).map(({ node }) => node);
  const other = said.filter((each) => !each.same).map(({ node }) => node);
  if (said.length === 0) {
    const asked = answers.map(({ node }) => node);
    return skipped(asked.length === 0 ? 'there is no other node' : `no answer to compare from ${asked.join(', ')}`);
  }
  const detail = [
    ...(same.length > 0 ? [`the same by ${same.join(', ')}`] : []),
    ...(other.length > 0 ? [`otherwise by ${other.join(', ')}`] : []),
  ].join('; ');
  if (same.length === other.length) return skipped(detail);
  return same.length > other.length ? passed(detail) : failed(detail);
}

/** This node's own verification, in the terms in which the others tell theirs. */
export function ownResult({ verdict, evidence: { record, proof } }: VerifiedRecord): Result {
  const { verified, status, ledger } = verdict;
  return {
    attestationId: record.id,
    verified,
    status,
    submittedAt: record.submittedAt,
    recordKind: record.kind,
    keyId: groupStatement.parse(proof.receipt.statement).keyId,
    consensusTimestamp: (status === 'confirmed' ? ledger?.consensusTimestamp : null) ?? null,
  };
}

function chooseMembers({ self, members, random }: OtherNodesOptions, origin: NodeId): readonly Member[] {
  const others = members().filter(({ node }) => node !== self && node !== origin);
  const offset = Math.floor(random() * others.length);
  const rotated = [...others.slice(offset), ...others.slice(0, offset)];
  const made = origin === self ? [] : members().filter(({ node }) => node === origin);
  return [...rotated, ...made].slice(0, MAX_ASKED);
}

/**
 * Null where the member does not know the record, or does not know it confirmed yet. Throws where it cannot be asked.
 */
async function askNode(baseUrl: string, id: RecordId, signal: AbortSignal): Promise<Result | null> {
  const { ok, bytes } = await httpRequest(`${baseUrl}/v1/verify/${id}`, {
    headers: { accept: 'application/json' },
    timeoutMs: ANSWER_MS,
    maxBytes: MAX_ANSWER_BYTES,
    signal,
  });
  const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  if (!ok || !compiled.Check(value) || value.attestationId !== id) return null;
  // A copy that cannot be read has no status, and is a result all the same.
  return value.status === 'confirmed' || value.status === null ? value : null;
}

function isSame(own: Result, other: Result): boolean {
  return (
    other.verified === own.verified &&
    other.submittedAt === own.submittedAt &&
    other.recordKind === own.recordKind &&
    other.keyId === own.keyId &&
    other.consensusTimestamp === own.consensusTimestamp
  );
}
