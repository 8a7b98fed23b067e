import Long from 'long';
import { proto } from '@hiero-ledger/proto';
import { SECOND } from './consensus-time.ts';
import type { Nanos } from './consensus-time.ts';

/** Conversions between the ledger's bigints and the protobuf messages of HAPI. Shard and realm are always 0. */

type WireNumber = Long | number | null | undefined;

interface WireEntity {
  shardNum?: Long | null;
  realmNum?: Long | null;
}

const CODE_NAMES = new Map(Object.entries(proto.ResponseCodeEnum).map(([name, code]) => [Number(code), name]));

export const codeName = (code: number): string => CODE_NAMES.get(code) ?? `CODE_${code}`;

export const fromLong = (value: WireNumber): bigint => BigInt((value ?? 0).toString());
export const toLong = (value: bigint): Long => Long.fromString(value.toString());

export const accountId = (num: bigint): proto.IAccountID => ({ accountNum: toLong(num) });
export const topicId = (num: bigint): proto.ITopicID => ({ topicNum: toLong(num) });

/** Number of the account, or null if it is absent, an alias, or of another shard or realm. */
export function accountNumber(id: proto.IAccountID | null | undefined): bigint | null {
  if (!id || id.alias?.length || !isHere(id)) return null;
  return fromLong(id.accountNum);
}

/** Number of the topic, or null if it is absent or of another shard or realm. */
export function topicNumber(id: proto.ITopicID | null | undefined): bigint | null {
  return id && isHere(id) ? fromLong(id.topicNum) : null;
}

export function timestamp(time: Nanos): { seconds: Long; nanos: number } {
  return { seconds: toLong(time / SECOND), nanos: Number(time % SECOND) };
}

export function fromTimestamp(stamp: proto.ITimestamp | null | undefined): Nanos {
  return fromLong(stamp?.seconds) * SECOND + BigInt(stamp?.nanos ?? 0);
}

export const entityText = (num: bigint): string => `0.0.${num}`;

/** Reads `num` or `0.0.num`; null if it is neither. */
export function parseEntityText(text: string): bigint | null {
  const match = /^(?:0\.0\.)?(\d{1,12})$/.exec(text);
  return match ? BigInt(match[1] ?? '') : null;
}

function isHere(id: WireEntity): boolean {
  return fromLong(id.shardNum) === 0n && fromLong(id.realmNum) === 0n;
}
