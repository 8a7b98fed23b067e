import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Decided } from '../log/decidable.ts';
import { readBatch, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';

/** A held batch that the log will never decide, and the hash of the one that it decided; null where it decided none. */
export interface Outdone {
  readonly held: StoredBatch;
  readonly decided: Sha256Hash | null;
}

/** The first batch of a chain, held up to number `head`, that can be decided no more; undefined where there is none. */
export async function firstOutdone(
  store: Store,
  decided: Decided,
  node: NodeId,
  head: number,
): Promise<Outdone | undefined> {
  // Those before were derived, or are next to be looked at: the chain is walked back to where log and store agree.
  let found: Outdone | undefined;
  for (let batch = head; batch > 0; batch--) {
    const held = await readBatch(store, node, batch);
    if (held === undefined) return found;
    const envelope = await decided.envelopeOf(node, batch);
    if (envelope === hashText(nativeSuite, held.signed.statement)) return found;
    if (envelope !== undefined) found = { held, decided: envelope };
    else if (decided.isRevoked(node, held.envelope.keyId)) found = { held, decided: null };
  }
  return found;
}

/** Whether only `keyId` and `prev` differ, as where an envelope is signed again (protocol §2). */
export function isSignedAnew(first: Envelope, second: Envelope): boolean {
  const { keyId, prev } = first;
  return (
    keyId !== second.keyId && envelopeStatement.write({ ...second, keyId, prev }) === envelopeStatement.write(first)
  );
}

/** Whether two groups are of the same records and time, by whichever key. */
export function isSameGroup(first: Group, second: Group): boolean {
  return groupStatement.write({ ...second, keyId: first.keyId }) === groupStatement.write(first);
}
