import { loadSdk } from '../../node/anchoring/ledger/hedera-sdk.ts';
import { readLedgerKey } from '../../node/anchoring/ledger/ledger-key.ts';

const TOPIC_MEMO = 'meridian';
/**
 * The ledger is on this machine. After a call the SDK keeps a timer for as long, which keeps the process. In
 * milliseconds.
 */
const GRPC_DEADLINE_MS = 2_000;

export interface TopicCreation {
  /** `host:port` → account of the consensus nodes. */
  readonly nodes: Readonly<Record<string, string>>;
  readonly operatorId: string;
  readonly operatorKey: string;
}

/** Creates the federation's ledger topic. Anyone may write to it: a reader believes only what its envelopes confirm. */
export async function createTopic({ nodes, operatorId, operatorKey }: TopicCreation): Promise<string> {
  const sdk = await loadSdk();
  const key = readLedgerKey(sdk, operatorKey);
  const client = sdk.Client.forNetwork({ ...nodes }, { scheduleNetworkUpdate: false, grpcDeadline: GRPC_DEADLINE_MS });
  try {
    client.setOperatorWith(operatorId, key.publicKey, (body) => key.sign(body));
    const response = await new sdk.TopicCreateTransaction().setTopicMemo(TOPIC_MEMO).execute(client);
    const { topicId } = await response.getReceipt(client);
    if (topicId === null) throw new Error('the ledger gave no topic id');
    return topicId.toString();
  } finally {
    client.close();
  }
}
