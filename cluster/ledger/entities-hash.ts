import { createHash } from 'node:crypto';
import type { Draft, LedgerState } from './ledger-state.ts';
import { encodeRow } from './row-encoding.ts';

/**
 * SHA-384 over the next number to give and every account and topic as it stands, in order. The head carries it, so that
 * a key or a memo changed in the store is found. Costs one row's hash an entity and round: meant for tens of entities,
 * not millions.
 *
 * @param draft changes on top of the state
 */
export function entitiesHash(state: LedgerState, draft?: Draft): Uint8Array {
  const hash = createHash('sha384').update(`${(draft ?? state).head.nextEntity}\n`);
  for (const kind of ['accounts', 'topics'] as const) {
    const rows = new Map<bigint, object>([...state[kind], ...(draft?.[kind] ?? [])]);
    const numbers = [...rows.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    for (const num of numbers) hash.update(`${kind}\n${encodeRow(rows.get(num))}\n`);
  }
  return hash.digest();
}
