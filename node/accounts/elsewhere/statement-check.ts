import { readAccountStatement } from '../../../protocol/accounts/statement.ts';
import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { commitText } from '../../../protocol/payload/commitment.ts';
import { StatementError } from '../../../protocol/statement/statement.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import type { OpenedPayload } from '../../records/payload/payload-cipher.ts';

/** Longest statement that is held, in bytes. A home that honours its own bound makes none. */
export const MAX_HELD_STATEMENT_BYTES = 256 << 10;

/**
 * What a given payload is to a version: the statement that its home signed; `forged` where it is not what the record
 * commits to, which is the giver's fault; `unusable` where it is and cannot be gone by, which is the home's own.
 */
export function judgeStatement(
  record: AttestationRecord,
  { salt, text }: OpenedPayload,
): 'holds' | 'forged' | 'unusable' {
  if (commitText(nativeSuite, 'meridian/payload/1', salt, text) !== record.payloadHash) return 'forged';
  if (Buffer.byteLength(text) > MAX_HELD_STATEMENT_BYTES) return 'unusable';
  try {
    const { account, nodes, version } = readAccountStatement(text);
    const { claims } = record;
    const isOfRecord = account === record.account && version === claims.version && isSame(nodes, claims.nodes ?? []);
    return isOfRecord ? 'holds' : 'unusable';
  } catch (error) {
    if (error instanceof StatementError) return 'unusable';
    throw error;
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((node, i) => node === other[i]);
}
