import { generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { proto } from '@hiero-ledger/proto';
import { SECOND } from '../../../cluster/ledger/consensus-time.ts';
import type { Nanos } from '../../../cluster/ledger/consensus-time.ts';
import { accountId, timestamp, toLong, topicId } from '../../../cluster/ledger/wire.ts';

export interface Payer {
  readonly num: bigint;
  readonly publicKey: Uint8Array;
  readonly privateKey: KeyObject;
}

type Body = Omit<proto.ITransactionBody, 'transactionID' | 'nodeAccountID' | 'transactionFee'>;

const VALID_SECONDS = 120n;
const MAX_FEE_TINYBARS = 1_000_000_000n;
const AUTO_RENEW_SECONDS = 7_776_000n;

export function newPayer(num = 1_001n): Payer {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { num, publicKey: raw, privateKey };
}

/** A serialised Transaction as a client sends it, to node 0.0.3. */
export function signedTransaction(payer: Payer, validStart: Nanos, body: Body): Uint8Array {
  const bodyBytes = proto.TransactionBody.encode({
    transactionID: { accountID: accountId(payer.num), transactionValidStart: timestamp(validStart) },
    nodeAccountID: accountId(3n),
    transactionFee: toLong(MAX_FEE_TINYBARS),
    transactionValidDuration: { seconds: toLong(VALID_SECONDS) },
    ...body,
  }).finish();
  const pair = { pubKeyPrefix: payer.publicKey, ed25519: sign(null, bodyBytes, payer.privateKey) };
  const signedTransactionBytes = proto.SignedTransaction.encode({ bodyBytes, sigMap: { sigPair: [pair] } }).finish();
  return proto.Transaction.encode({ signedTransactionBytes }).finish();
}

export function topicCreation(): Body {
  return { consensusCreateTopic: { autoRenewPeriod: { seconds: toLong(AUTO_RENEW_SECONDS) } } };
}

export function messageTo(topic: bigint, message: Uint8Array): Body {
  return { consensusSubmitMessage: { topicID: topicId(topic), message } };
}

/** A clock that stands where it is put. */
export class StoppedClock {
  time: Nanos;

  constructor(seconds = 1_700_000_000n) {
    this.time = seconds * SECOND;
  }

  readonly now = (): Nanos => this.time;
}
