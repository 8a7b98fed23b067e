import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { numberCodec, Table } from '../store/table.ts';
import type { Move } from './row-counter.ts';

/** (start of the session) → decisions recorded within it. No row: none. */
export const sessionCountTable = new Table('session-count', numberCodec);

export function sessionMoves({ kind, links: { session } }: AttestationRecord): readonly Move[] {
  return kind === 'decision' && session !== undefined ? [{ parts: [session], by: 1 }] : [];
}
