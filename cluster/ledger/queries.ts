import { proto } from '@hiero-ledger/proto';
import { SECOND } from './consensus-time.ts';
import { toTinybars } from './fees.ts';
import type { Ledger } from './ledger.ts';
import { LEDGER_NAME, SOFTWARE_VERSION } from './network-name.ts';
import { takePayment } from './query-payment.ts';
import { receiptOf, recordOf } from './receipts.ts';
import { Refused } from './refused.ts';
import type { AccountRow, TopicRow } from './rows.ts';
import { transactionIdOf } from './transaction.ts';
import { accountId, accountNumber, timestamp, toLong, topicId, topicNumber } from './wire.ts';

/** One query of HAPI: where its header is, what it answers, and how the answer is wrapped. */
export interface Query<Body> {
  readonly isFree: boolean;
  header(query: proto.IQuery): proto.IQueryHeader | null | undefined;
  /** Throws Refused with the code for the response header. */
  body(ledger: Ledger, query: proto.IQuery): Promise<Body> | Body;
  wrap(header: proto.IResponseHeader, body: Body | null): proto.IResponse;
}

const Code = proto.ResponseCodeEnum;
const ResponseType = proto.ResponseType;
const LEDGER_ID = Buffer.from(LEDGER_NAME);
const NEVER_EXPIRES = 4_000_000_000n * SECOND;
const ACCOUNT_AUTO_RENEW_SECONDS = 7_776_000n;

/** Answers a serialised Query with a serialised Response. The cost is asked for first, then paid, as HAPI has it. */
export async function answerQuery<Body>(
  ledger: Ledger,
  node: bigint,
  kind: Query<Body>,
  request: Uint8Array,
): Promise<Uint8Array> {
  const header: proto.IResponseHeader = { nodeTransactionPrecheckCode: Code.OK, cost: toLong(0n) };
  let body: Body | null = null;
  try {
    const query = proto.Query.decode(request);
    const asked = kind.header(query);
    header.responseType = asked?.responseType ?? ResponseType.ANSWER_ONLY;
    const cost = kind.isFree ? 0n : toTinybars(ledger.fees, ledger.fees.query);
    if (header.responseType === ResponseType.COST_ANSWER) {
      header.cost = toLong(cost);
    } else {
      if (!kind.isFree) takePayment(ledger, node, asked?.payment, cost);
      body = await kind.body(ledger, query);
    }
  } catch (error) {
    header.nodeTransactionPrecheckCode = error instanceof Refused ? error.code : Code.INVALID_TRANSACTION;
    if (error instanceof Refused) header.cost = toLong(error.cost);
  }
  return proto.Response.encode(kind.wrap(header, body)).finish();
}

export const topicInfo: Query<proto.IConsensusGetTopicInfoResponse> = {
  isFree: false,
  header: (query) => query.consensusGetTopicInfo?.header,
  body: ({ state }, query) => {
    const topic = state.topics.get(topicNumber(query.consensusGetTopicInfo?.topicID) ?? 0n);
    if (!topic || topic.deleted) throw new Refused(Code.INVALID_TOPIC_ID);
    return { topicID: topicId(topic.num), topicInfo: topicInfoOf(topic) };
  },
  wrap: (header, body) => ({ consensusGetTopicInfo: { ...body, header } }),
};

export const transactionReceipt: Query<proto.ITransactionGetReceiptResponse> = {
  isFree: true,
  header: (query) => query.transactionGetReceipt?.header,
  body: async (ledger, query) => {
    return { receipt: await receiptOf(ledger, transactionIdOf(query.transactionGetReceipt?.transactionID)) };
  },
  wrap: (header, body) => ({ transactionGetReceipt: { ...body, header } }),
};

export const transactionRecord: Query<proto.ITransactionGetRecordResponse> = {
  isFree: false,
  header: (query) => query.transactionGetRecord?.header,
  body: async (ledger, query) => {
    return { transactionRecord: await recordOf(ledger, transactionIdOf(query.transactionGetRecord?.transactionID)) };
  },
  wrap: (header, body) => ({ transactionGetRecord: { ...body, header } }),
};

export const accountBalance: Query<proto.ICryptoGetAccountBalanceResponse> = {
  isFree: true,
  header: (query) => query.cryptogetAccountBalance?.header,
  body: (ledger, query) => {
    const account = existingAccount(ledger, query.cryptogetAccountBalance?.accountID);
    return { accountID: accountId(account.num), balance: toLong(account.balance) };
  },
  wrap: (header, body) => ({ cryptogetAccountBalance: { ...body, header } }),
};

export const accountInfo: Query<proto.ICryptoGetInfoResponse> = {
  isFree: false,
  header: (query) => query.cryptoGetInfo?.header,
  body: (ledger, query) => ({ accountInfo: accountInfoOf(existingAccount(ledger, query.cryptoGetInfo?.accountID)) }),
  wrap: (header, body) => ({ cryptoGetInfo: { ...body, header } }),
};

export const versionInfo: Query<proto.INetworkGetVersionInfoResponse> = {
  isFree: true,
  header: (query) => query.networkGetVersionInfo?.header,
  body: () => {
    const [major = 0, minor = 0, patch = 0] = SOFTWARE_VERSION.split('.').map(Number);
    const version = { major, minor, patch };
    return { hapiProtoVersion: version, hederaServicesVersion: { ...version, pre: LEDGER_NAME } };
  },
  wrap: (header, body) => ({ networkGetVersionInfo: { ...body, header } }),
};

function topicInfoOf(topic: TopicRow): proto.IConsensusTopicInfo {
  return {
    memo: topic.memo,
    runningHash: topic.runningHash,
    sequenceNumber: toLong(topic.sequence),
    expirationTime: timestamp(topic.expires),
    adminKey: topic.adminKey && proto.Key.decode(topic.adminKey),
    submitKey: topic.submitKey && proto.Key.decode(topic.submitKey),
    autoRenewPeriod: { seconds: toLong(topic.autoRenewSeconds) },
    autoRenewAccount: topic.autoRenewAccount === null ? null : accountId(topic.autoRenewAccount),
    ledgerId: LEDGER_ID,
  };
}

function accountInfoOf(account: AccountRow): proto.CryptoGetInfoResponse.IAccountInfo {
  return {
    accountID: accountId(account.num),
    contractAccountID: account.num.toString(16).padStart(40, '0'),
    key: account.key && proto.Key.decode(account.key),
    balance: toLong(account.balance),
    expirationTime: timestamp(NEVER_EXPIRES),
    autoRenewPeriod: { seconds: toLong(ACCOUNT_AUTO_RENEW_SECONDS) },
    memo: '',
    ledgerId: LEDGER_ID,
  };
}

function existingAccount({ state }: Ledger, id: proto.IAccountID | null | undefined): AccountRow {
  const account = state.accounts.get(accountNumber(id) ?? 0n);
  if (!account) throw new Refused(Code.INVALID_ACCOUNT_ID);
  return account;
}
