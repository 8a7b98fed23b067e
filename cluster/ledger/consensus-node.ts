import { status } from '@grpc/grpc-js';
import type { handleUnaryCall } from '@grpc/grpc-js';
import { proto } from '@hiero-ledger/proto';
import type { GrpcServer } from './grpc-server.ts';
import type { Ledger } from './ledger.ts';
import {
  accountBalance,
  accountInfo,
  answerQuery,
  topicInfo,
  transactionReceipt,
  transactionRecord,
  versionInfo,
} from './queries.ts';
import type { Query } from './queries.ts';
import { Refused } from './refused.ts';
import { toLong } from './wire.ts';

type UnaryMethod = handleUnaryCall<Buffer, Buffer>;

const Code = proto.ResponseCodeEnum;
const UNAVAILABLE = { code: status.UNAVAILABLE, details: 'the node is unavailable' };
const INTERNAL = { code: status.INTERNAL, details: 'the node failed' };

/** Adds the HAPI services of one consensus node, paid under the given account. */
export function addConsensusNode(server: GrpcServer, ledger: Ledger, node: bigint): void {
  const submit = submission(ledger, node);
  const query = <Body>(kind: Query<Body>): UnaryMethod => question(ledger, node, kind);
  server.add('proto.ConsensusService', {
    createTopic: submit,
    updateTopic: submit,
    deleteTopic: submit,
    submitMessage: submit,
    getTopicInfo: query(topicInfo),
  });
  server.add('proto.CryptoService', {
    cryptoTransfer: submit,
    getTransactionReceipts: query(transactionReceipt),
    getTxRecordByTxID: query(transactionRecord),
    cryptoGetBalance: query(accountBalance),
    getAccountInfo: query(accountInfo),
  });
  server.add('proto.NetworkService', { getVersionInfo: query(versionInfo) });
}

function submission(ledger: Ledger, node: bigint): UnaryMethod {
  return (call, callback) => {
    if (ledger.faults.strikes('unavailable')) return callback(UNAVAILABLE);
    const answer = { nodeTransactionPrecheckCode: Code.OK, cost: toLong(0n) };
    try {
      // Not answering leaves the client to its own deadline, which is the point of the fault.
      if (!ledger.submit(call.request, node).answers) return;
    } catch (error) {
      if (!(error instanceof Refused)) return callback(INTERNAL);
      answer.nodeTransactionPrecheckCode = error.code;
      answer.cost = toLong(error.cost);
    }
    callback(null, Buffer.from(proto.TransactionResponse.encode(answer).finish()));
  };
}

function question<Body>(ledger: Ledger, node: bigint, kind: Query<Body>): UnaryMethod {
  return async (call, callback) => {
    if (ledger.faults.strikes('unavailable')) return callback(UNAVAILABLE);
    let answer: Uint8Array;
    try {
      answer = await answerQuery(ledger, node, kind, call.request);
    } catch {
      return callback(INTERNAL);
    }
    callback(null, Buffer.from(answer));
  };
}
