import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { rpcAnswer } from '../../../../node/payments/facilitator/chain-answers.ts';
import { RpcBatches } from '../../../../node/payments/facilitator/chain-client.ts';

interface Question {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What a node makes of a request: the text of its answer. */
type Node = (asked: Question | readonly Question[]) => string;

const reply = ({ id, params }: Question): object => ({ jsonrpc: '2.0', id, result: params[0] });
const honest: Node = (asked) => JSON.stringify('method' in asked ? reply(asked) : asked.map(reply));

/** A node, and how many questions each of its requests held. */
async function open(node: Node) {
  const requests: number[] = [];
  const server = createServer(async (request, response) => {
    const asked: Question | readonly Question[] = JSON.parse(Buffer.concat(await request.toArray()).toString());
    requests.push('method' in asked ? 0 : asked.length);
    response.writeHead(200, { 'content-type': 'application/json' }).end(node(asked));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const batches = new RpcBatches(`http://127.0.0.1:${port}`, 1_000);
  return {
    requests,
    ask: (method: string, value: unknown): Promise<unknown> => batches.request({ method, params: [value] }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const values = Array.from({ length: 100 }, (_, i) => i);

test('questions that come together go together, and each gets its own answer, in whatever order they come', async () => {
  await using node = await open((asked) =>
    'method' in asked ? honest(asked) : JSON.stringify(asked.map(reply).toReversed()),
  );
  const answers = await Promise.all(values.map((value) => node.ask('eth_call', value)));
  assert.equal(answers, values);
  assert.equal(
    node.requests.toSorted((a, b) => a - b),
    [20, 40, 40],
  );
});

test('one question goes alone; so do transactions and searches, however many', async () => {
  await using node = await open(honest);
  assert.is(await node.ask('eth_call', 7), 7);
  for (const method of ['eth_sendRawTransaction', 'eth_getLogs']) {
    assert.equal(await Promise.all([1, 2, 3].map((value) => node.ask(method, value))), [1, 2, 3]);
  }
  assert.equal(node.requests, [0, 0, 0, 0, 0, 0, 0]);
});

test('a node that takes no batches is asked one by one, from then on', async () => {
  await using node = await open((asked) =>
    'method' in asked ? honest(asked) : '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}',
  );
  for (let i = 0; i < 2; i++) {
    assert.equal(await Promise.all([1, 2, 3].map((value) => node.ask('eth_call', value))), [1, 2, 3]);
  }
  assert.equal(node.requests.toSorted(), [0, 0, 0, 0, 0, 0, 3]);
});

test('what a node leaves out of a batch is asked again; what it refuses is refused to that question alone', async () => {
  await using node = await open((asked) => {
    if ('method' in asked) return honest(asked);
    const [first, second] = asked.map(reply);
    return JSON.stringify([first, { ...second, result: undefined, error: { code: 3, message: 'reverted' } }]);
  });
  const [first, second, third] = await Promise.allSettled([1, 2, 3].map((value) => node.ask('eth_call', value)));
  assert.equal(
    [first, third],
    [1, 3].map((value) => ({ status: 'fulfilled', value })),
  );
  assert.equal(second?.status === 'rejected' && rpcAnswer(second.reason), { code: 3, text: 'reverted' });
});

test('a batch without an answer fails for all that are in it', async () => {
  await using node = await open(() => 'nonsense');
  const answers = await Promise.allSettled([1, 2].map((value) => node.ask('eth_call', value)));
  assert.equal(
    answers.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
});

test.run();
