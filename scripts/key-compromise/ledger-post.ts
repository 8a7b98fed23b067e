import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ledgerNodes, mirrorUrl } from '../../cluster/supervisor/node-variables.ts';
import { loadSdk } from '../../node/anchoring/ledger/hedera-sdk.ts';
import { readLedgerKey } from '../../node/anchoring/ledger/ledger-key.ts';
import { MirrorClient } from '../../node/anchoring/ledger/mirror-client.ts';
import { INITIAL_HEAD, linkMessages, type TopicHead } from '../../node/anchoring/topic/topic-links.ts';
import { decodeUtf8 } from '../../protocol/bytes.ts';
import { entityId } from '../../protocol/ids.ts';
import type { LocalCluster } from '../bench/local-cluster.ts';
import { until } from '../bench/until.ts';

const GRPC_DEADLINE_MS = 2_000;
const READ_BACK_MS = 20_000;

/** Puts a message on the federation's topic, as anyone may who pays. Resolves once a mirror shows it, linked. */
export async function postToTopic(cluster: LocalCluster, message: string, signal: AbortSignal): Promise<void> {
  const { topicId: topic } = cluster.file.ledger;
  const topicId = entityId(topic);
  await submit(cluster, topic, message);
  const mirror = new MirrorClient([mirrorUrl(cluster.plan)]);
  const [url = ''] = mirror.mirrors;
  let head: TopicHead = INITIAL_HEAD;
  await until('the message to be read back', READ_BACK_MS, signal, async () => {
    const page = await mirror.messages(url, topicId, head.sequence, signal);
    head = linkMessages(head, topicId, page);
    return page.some((shown) => decodeUtf8(shown.message) === message);
  });
}

async function submit(cluster: LocalCluster, topicId: string, message: string): Promise<void> {
  const sdk = await loadSdk();
  const text = await readFile(join(cluster.home, 'ledger', 'operators.json'), 'utf8');
  const operators: Record<string, string> = JSON.parse(text);
  const [operatorId = '', operatorKey = ''] = Object.entries(operators).at(-1) ?? [];
  const key = readLedgerKey(sdk, operatorKey);
  const nodes = ledgerNodes(cluster.plan);
  const client = sdk.Client.forNetwork(nodes, { scheduleNetworkUpdate: false, grpcDeadline: GRPC_DEADLINE_MS });
  try {
    client.setOperatorWith(operatorId, key.publicKey, (body) => key.sign(body));
    await new sdk.TopicMessageSubmitTransaction({ topicId, message }).execute(client);
  } finally {
    client.close();
  }
}
