import { nativeSuite } from '../../node/keys/native-suite.ts';
import { CertifiedKeys } from '../../protocol/chain/certified-keys.ts';
import { startOfChain } from '../../protocol/chain/chain-state.ts';
import { deriveBatch } from '../../protocol/chain/derive.ts';
import { ChainRefusal, type RefusalCode } from '../../protocol/chain/refusal.ts';
import { openRecord } from '../../protocol/chain/record.ts';
import type { SourceHead } from '../../protocol/chain/sources.ts';
import { writeSha256 } from '../../protocol/hash.ts';
import type { RecordId } from '../../protocol/ids.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import type { FederationLog } from '../fixtures/federation-log.ts';
import { envelopeHash, type SealedBatch } from '../fixtures/federation-log-batch.ts';

/** How far a member that holds these batches of one node vouches for them, and why no further. */
export interface Vouched {
  readonly batch: number;
  readonly refusal: RefusalCode | null;
}

/** Derives the decided batches of a node in order, as each member does before it vouches for them. */
export async function vouchedFor(
  log: FederationLog,
  origin: string,
  batches: readonly SealedBatch[],
): Promise<Vouched> {
  const { node, member } = log.member(origin);
  const identityKeys = [member.identityKey];
  const keys = new CertifiedKeys(nativeSuite);
  for (const { signed } of log.member(node).keys) keys.add(signed, () => identityKeys);
  const sources = new Map<string, SourceHead>();
  const places = new Map<RecordId, number>();
  const context = {
    suite: nativeSuite,
    publicKeyOf: (keyId: SealedBatch['envelope']['keyId'], first: number) =>
      keys.covering(node, keyId, first, identityKeys)?.publicKey,
    history: {
      sourceHeads: async (names: readonly { readonly account: string; readonly sourceId: string }[]) =>
        names.map((name) => sources.get(sourceKey(name))),
      placesOf: async (ids: readonly RecordId[]) => ids.map((id) => places.get(id)),
    },
  };
  let state = startOfChain(node, log.roster(1).roster.issuedAt);
  for (const sealed of batches) {
    const { batch, signedEnvelope, signedGroup, records } = sealed;
    const { consensusTimestamp } = decisionText.parse(log.decisions[log.indexOf(sealed) ?? -1] ?? '');
    const decided = { node, batch, envelope: envelopeHash(sealed), keyId: sealed.envelope.keyId, consensusTimestamp };
    const derived = await deriveBatch(context, state, decided, signedEnvelope, [{ signed: signedGroup, records }]);
    if (derived instanceof ChainRefusal) return { batch: batch - 1, refusal: derived.code };
    state = derived.state;
    for (const { id, seq, head, body, leaf } of records) {
      const { account, sourceId, sourceSeq } = openRecord(nativeSuite, { head, body });
      sources.set(sourceKey({ account, sourceId }), { sourceSeq, leaf: writeSha256(leaf) });
      places.set(id, seq);
    }
  }
  return { batch: batches.length, refusal: null };
}

function sourceKey({ account, sourceId }: { readonly account: string; readonly sourceId: string }): string {
  return JSON.stringify([account, sourceId]);
}
