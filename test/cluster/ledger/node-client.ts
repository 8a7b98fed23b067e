import { Client, credentials } from '@grpc/grpc-js';
import { proto } from '@hiero-ledger/proto';
import { transactionIdOf } from '../../../cluster/ledger/transaction.ts';
import { codeName } from '../../../cluster/ledger/wire.ts';

/** A bare HAPI client of one node: one call, one answer, no retries. */
export class NodeClient {
  readonly #client: Client;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure());
  }

  /** Sends a serialised transaction; returns the name of the precheck code. */
  async submit(method: 'createTopic' | 'submitMessage', transaction: Uint8Array): Promise<string> {
    const answer = await this.#call(`/proto.ConsensusService/${method}`, transaction);
    return codeName(proto.TransactionResponse.decode(answer).nodeTransactionPrecheckCode);
  }

  /** Name of the receipt's status, or of the precheck code if there is none. */
  async receiptStatus(transaction: Uint8Array): Promise<string> {
    const query = proto.Query.encode({ transactionGetReceipt: { transactionID: idOf(transaction) } }).finish();
    const answer = await this.#call('/proto.CryptoService/getTransactionReceipts', query);
    const { header, receipt } = proto.Response.decode(answer).transactionGetReceipt ?? {};
    return codeName(receipt?.status ?? header?.nodeTransactionPrecheckCode ?? 0);
  }

  [Symbol.dispose](): void {
    this.#client.close();
  }

  async #call(path: string, request: Uint8Array): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const asItIs = (bytes: Buffer): Buffer => bytes;
    this.#client.makeUnaryRequest(path, asItIs, asItIs, Buffer.from(request), (error, answer) => {
      if (error || !answer) reject(error ?? new Error('no answer'));
      else resolve(answer);
    });
    return promise;
  }
}

/** The id of a serialised transaction in the REST form, `0.0.payer-seconds-nanos`. */
export function restIdOf(transaction: Uint8Array): string {
  const [payer = '', start = ''] = (transactionIdOf(idOf(transaction)) ?? '').split('@');
  return `${payer}-${start.replace('.', '-')}`;
}

function idOf(transaction: Uint8Array): proto.ITransactionID {
  const { signedTransactionBytes } = proto.Transaction.decode(transaction);
  const { bodyBytes } = proto.SignedTransaction.decode(signedTransactionBytes);
  return proto.TransactionBody.decode(bodyBytes).transactionID ?? {};
}
