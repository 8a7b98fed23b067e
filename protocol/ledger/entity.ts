import type { EntityId } from '../ids.ts';

export interface EntityParts {
  readonly shard: bigint;
  readonly realm: bigint;
  readonly num: bigint;
}

/** `0.0.1001` → its three numbers. */
export function entityParts(id: EntityId): EntityParts {
  const [shard = '0', realm = '0', num = '0'] = id.split('.');
  return { shard: BigInt(shard), realm: BigInt(realm), num: BigInt(num) };
}
