import { createHash } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { SECOND, parseTimeText } from '../../../cluster/ledger/consensus-time.ts';
import { parseEntityText } from '../../../cluster/ledger/wire.ts';
import { INITIAL_RUNNING_HASH, nextRunningHash } from '../../../protocol/ledger/running-hash.ts';
import { runLedger, waitUntil } from './running-ledger.ts';
import type { RunningLedger } from './running-ledger.ts';
import { messageTo, newPayer, signedTransaction, topicCreation } from './signed-transaction.ts';

interface Message {
  consensus_timestamp: string;
  message: string;
  payer_account_id: string;
  running_hash: string;
  running_hash_version: number;
  sequence_number: number;
  topic_id: string;
}
interface Messages {
  messages: Message[];
  links: { next: string | null };
}
interface Transactions {
  transactions: { transaction_id: string; result: string; name: string; consensus_timestamp: string }[];
  links: { next: string | null };
}
interface Blocks {
  blocks: { number: number; count: number; hash: string; previous_hash: string; timestamp: { to: string } }[];
}

const COUNT = 37;
const TOPIC = '0.0.5001';
const API = '/api/v1';
const MESSAGES = `${API}/topics/${TOPIC}/messages`;

const payer = newPayer();
const running = await runLedger({
  accounts: [{ num: payer.num, key: { ed25519: payer.publicKey }, tinybars: 10n ** 15n }],
});
await fill(running);
const all = await messagesOf(`${MESSAGES}?limit=100`);

test('pages lead through all messages once, in both orders', async () => {
  for (const order of ['asc', 'desc']) {
    const seen: number[] = [];
    let next: string | null = `${MESSAGES}?limit=5&order=${order}`;
    while (next) {
      const page: Messages = await get(next);
      assert.ok(page.messages.length <= 5);
      seen.push(...page.messages.map(({ sequence_number }) => sequence_number));
      next = page.links.next;
    }
    const expected = Array.from({ length: COUNT }, (_, i) => i + 1);
    assert.equal(seen, order === 'asc' ? expected : expected.toReversed());
  }
});

test('pages by sequence number keep the filters of the request', async () => {
  const first = await get<Messages>(`${MESSAGES}?sequencenumber=gte:3&sequencenumber=lt:9&limit=4`);
  assert.equal(numbers(first), [3, 4, 5, 6]);
  const second = await get<Messages>(first.links.next ?? '');
  assert.equal(numbers(second), [7, 8]);
  assert.is(second.links.next, null);
});

test('the running-hash chain can be recomputed from REST alone', () => {
  let previous: Uint8Array = INITIAL_RUNNING_HASH;
  for (const message of all) {
    const at = parseTimeText(message.consensus_timestamp) ?? 0n;
    previous = nextRunningHash((data) => createHash('sha384').update(data).digest(), {
      previous,
      payer: { shard: 0n, realm: 0n, num: parseEntityText(message.payer_account_id) ?? 0n },
      topic: { shard: 0n, realm: 0n, num: parseEntityText(message.topic_id) ?? 0n },
      seconds: at / SECOND,
      nanos: Number(at % SECOND),
      sequence: BigInt(message.sequence_number),
      message: Buffer.from(message.message, 'base64'),
    });
    assert.is(Buffer.from(previous).toString('base64'), message.running_hash);
    assert.is(message.running_hash_version, 3);
  }
  assert.is(all.length, COUNT);
});

test('finds messages by sequence number and by time, alone and as ranges', async () => {
  const fourth = all[3];
  assert.equal(await get(`${MESSAGES}/4`), fourth);
  assert.equal(await get(`${API}/topics/messages/${fourth?.consensus_timestamp}`), fourth);
  assert.equal((await get<Messages>(`${MESSAGES}?timestamp=${fourth?.consensus_timestamp}`)).messages, [fourth]);
  const window = `timestamp=gt:${all[1]?.consensus_timestamp}&timestamp=lte:${fourth?.consensus_timestamp}`;
  assert.equal(numbers(await get(`${MESSAGES}?${window}`)), [3, 4]);
  assert.equal(numbers(await get(`${MESSAGES}?${window}&sequencenumber=4`)), [4]);
  assert.equal(numbers(await get(`${MESSAGES}?sequencenumber=gt:${COUNT}`)), []);
  assert.is((await get<Message>(`${MESSAGES}/4?encoding=utf-8`)).message, 'message 4');
});

test('finds a transaction by its id and lists transactions by account, type and result', async () => {
  const page = await get<Transactions>(`${API}/transactions?limit=3&order=asc&account.id=0.0.1001&result=success`);
  assert.is(page.transactions[0]?.name, 'CONSENSUSCREATETOPIC');
  const id = page.transactions[1]?.transaction_id ?? '';
  assert.match(id, /^0\.0\.1001-\d{10}-\d{9}$/);
  assert.equal((await get<Transactions>(`${API}/transactions/${id}`)).transactions, [page.transactions[1]]);
  const created = await get<Transactions>(`${API}/transactions?transactiontype=CONSENSUSCREATETOPIC`);
  assert.is(created.transactions.length, 1);
  assert.is((await get<Transactions>(`${API}/transactions?result=fail`)).transactions.length, 0);
  assert.is((await get<Transactions>(`${API}/transactions?account.id=0.0.1002`)).transactions.length, 0);
});

test('blocks form a chain, and an empty one carries the clock on without traffic or writes', async () => {
  const latest = async (): Promise<Blocks['blocks'][number] | undefined> =>
    (await get<Blocks>(`${API}/blocks?limit=1&order=desc`)).blocks[0];
  const { blocks } = await get<Blocks>(`${API}/blocks?limit=100&order=asc`);
  for (const [i, block] of blocks.entries()) {
    assert.is(block.number, i);
    if (i > 0) assert.is(block.previous_hash, blocks[i - 1]?.hash);
    if (block.count > 0) assert.equal(await get(`${API}/blocks/${i}`), block);
  }
  const rounds = running.local.ledger.stats.rounds;
  const before = await latest();
  const wanted = (parseTimeText(before?.timestamp.to ?? '') ?? 0n) + SECOND;
  await waitUntil(async () => (parseTimeText((await latest())?.timestamp.to ?? '') ?? 0n) >= wanted);
  const after = await latest();
  assert.is(after?.count, 0);
  assert.is(after?.number, before?.number);
  assert.is(running.local.ledger.stats.rounds, rounds);
});

test('errors have the shape of the mirror node', async () => {
  const cases: [string, number, string][] = [
    [`${API}/topics/0.0.7/messages`, 404, 'Not found'],
    [`${API}/topics/x`, 400, 'Invalid parameter: topicId'],
    [`${MESSAGES}?limit=0`, 400, 'Invalid parameter: limit'],
    [`${MESSAGES}?order=up`, 400, 'Invalid parameter: order'],
    [`${MESSAGES}?timestamp=gt:`, 400, 'Invalid parameter: timestamp'],
    [`${MESSAGES}?sequencenumber=ne:3`, 400, 'Invalid parameter: sequencenumber'],
    [`${MESSAGES}?colour=red`, 400, 'Unknown query parameter: colour'],
    [`${MESSAGES}/0`, 400, 'Invalid parameter: sequencenumber'],
    [`${MESSAGES}/${COUNT + 1}`, 404, 'Not found'],
    [`${API}/transactions/0.0.1001-1-1`, 404, 'Not found'],
    [`${API}/transactions/nonsense`, 400, 'Invalid Transaction id. Please use'],
    [`${API}/blocks/x`, 400, 'Invalid parameter: hashOrNumber'],
    [`${API}/accounts/0.0.4999`, 404, 'Not found'],
    [`${API}/nothing`, 404, 'Not found'],
    ['/', 404, 'Not found'],
  ];
  for (const [path, status, message] of cases) {
    const answer = await running.get(path);
    assert.is(answer.status, status, path);
    assert.match(JSON.stringify(answer.body), `{"_status":{"messages":[{"message":"${message}`);
  }
});

test('names itself a development ledger, and answers what else a client reads', async () => {
  const { nodes } = await get<{ nodes: { description: string; node_account_id: string }[] }>(`${API}/network/nodes`);
  assert.equal(
    nodes.map(({ node_account_id }) => node_account_id),
    ['0.0.3', '0.0.4', '0.0.5'],
  );
  assert.match(nodes[0]?.description ?? '', /meridian-local: a development ledger/);
  const { current_rate: rate } = await get<{ current_rate: Record<string, number> }>(`${API}/network/exchangerate`);
  assert.is(rate['cent_equivalent'], 600_000);
  const supply = await get<{ total_supply: string; released_supply: string }>(`${API}/network/supply`);
  const { accounts } = running.local.ledger.state;
  assert.is(supply.total_supply, String([...accounts.values()].reduce((sum, { opening }) => sum + opening, 0n)));
  assert.is(supply.released_supply, supply.total_supply);
  assert.is((await get<{ fees: unknown[] }>(`${API}/network/fees`)).fees.length, 3);
  const account = await get<{ key: unknown }>(`${API}/accounts/0.0.1001`);
  assert.equal(account.key, { _type: 'ED25519', key: Buffer.from(payer.publicKey).toString('hex') });
  const topic = await get<{ submit_key: unknown; deleted: boolean }>(`${API}/topics/${TOPIC}`);
  assert.is(topic.submit_key, null);
  assert.is(topic.deleted, false);
  assert.is((await get<{ network: string }>('/local/stats')).network, 'meridian-local');
});

test('the nodes come in pages, and gas at the rate of the ledger', async () => {
  interface Nodes {
    readonly nodes: readonly { readonly node_id: number }[];
    readonly links: { readonly next: string | null };
  }
  const first = await get<Nodes>(`${API}/network/nodes?limit=2`);
  const second = await get<Nodes>(first.links.next ?? '');
  const ids = [first, second].map(({ nodes }) => nodes.map(({ node_id }) => node_id));
  assert.equal([ids, second.links.next], [[[0, 1], [2]], null]);
  const last = await get<Nodes>(`${API}/network/nodes?order=desc&node.id=lt:2&limit=1`);
  assert.equal(
    last.nodes.map(({ node_id }) => node_id),
    [1],
  );
  const { fees } = await get<{ fees: readonly { gas: number }[] }>(`${API}/network/fees`);
  // 852 tinycents at 20 cents an hbar.
  assert.is(fees[0]?.gas, 42);
});

test.after(async () => {
  await running[Symbol.asyncDispose]();
});

async function fill({ local: { ledger } }: RunningLedger): Promise<void> {
  ledger.submit(signedTransaction(payer, ledger.now() - 1n, topicCreation()), 3n);
  await waitUntil(() => ledger.accepted.unsettled === 0);
  for (let i = 1; i <= COUNT; i++) {
    const body = messageTo(5_001n, Buffer.from(`message ${i}`));
    ledger.submit(signedTransaction(payer, ledger.now() - 1_000n * BigInt(i), body), 3n);
    if (i % 10 === 0) await waitUntil(() => ledger.accepted.unsettled === 0);
  }
  await waitUntil(() => ledger.accepted.unsettled === 0);
}

async function get<T>(path: string): Promise<T> {
  const response = await fetch(running.local.mirrorUrl + path);
  assert.is(response.status, 200, path);
  return response.json();
}

async function messagesOf(path: string): Promise<Message[]> {
  return (await get<Messages>(path)).messages;
}

function numbers({ messages }: Messages): number[] {
  return messages.map(({ sequence_number }) => sequence_number);
}

test.run();
