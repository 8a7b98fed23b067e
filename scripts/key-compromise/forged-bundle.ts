import { randomBytes } from 'node:crypto';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { newRecordId } from '../../node/records/record-id.ts';
import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import { makeRecord, openRecord, recordLeaf } from '../../protocol/chain/record.ts';
import { hashText, writeSha256 } from '../../protocol/hash.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { nameEnvelope } from '../../protocol/log/naming.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';

/** Far ahead of the node's own, so that nothing contradicts it. */
const FORGED_BATCH = 1_000_000;
const FORGED_SEQ = 1_000_000_000;

/** A bundle that an attacker made up, but for the decision, and the message that would name its batch. */
export interface Forgery {
  readonly bundle: Bundle;
  readonly message: string;
}

/**
 * Forges a record and its batch with a stolen signing key: whatever a bundle needs, on the pattern of an honest one.
 * The attacker leaves out what speaks against it: no revocation is in it.
 */
export async function forge(honest: Bundle, stolen: Signer, number: number): Promise<Forgery> {
  const at = timestampOf(Date.now());
  const { head, body } = honest.record;
  if (body === null) throw new Error('an attacker needs a whole record for a pattern');
  const pattern = openRecord(nativeSuite, { head, body });
  const { node } = pattern;
  const { record, texts } = makeRecord(nativeSuite, {
    ...pattern,
    id: newRecordId(node, Date.now()),
    seq: FORGED_SEQ + number,
    sourceId: 'forged',
    sourceSeq: 1,
    sourcePrev: null,
    submittedAt: at,
    payloadHash: writeSha256(randomBytes(32)),
    claims: { channel: 'direct', modelId: 'forged' },
    links: {},
  });
  const keyId = stolen.keyId;
  const tree = { first: record.seq, size: 1, root: writeSha256(recordLeaf(nativeSuite, texts.head)) };
  const group: Group = { v: 1, type: 'group', node, ...tree, keyId, signedAt: at };
  const envelope: Envelope = {
    v: 2,
    type: 'batch',
    node,
    batch: FORGED_BATCH + number,
    ...tree,
    prev: writeSha256(randomBytes(32)),
    from: at,
    sealedAt: at,
    keyId,
  };
  const receipt = await signStatement(groupStatement, group, stolen);
  const batch = await signStatement(envelopeStatement, envelope, stolen);
  const genesis = hashText(nativeSuite, honest.rosters[0]?.text ?? '');
  return {
    message: writeLedgerMessage(nameEnvelope(nativeSuite, genesis, envelope, batch.statement)),
    bundle: {
      format: honest.format,
      record: texts,
      receipt: { ...receipt, path: [] },
      batch: { envelope: batch.statement, signature: batch.signature, path: [] },
      decision: null,
      checkpoints: honest.checkpoints,
      keys: honest.keys,
      revocations: [],
      rosters: honest.rosters,
    },
  };
}
