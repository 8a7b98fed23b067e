import { createServer } from 'node:http';
import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { transactionId } from '../../../../node/anchoring/ledger/ledger-client.ts';
import { MirrorClient, MirrorError } from '../../../../node/anchoring/ledger/mirror-client.ts';
import {
  MirrorFormatError,
  readClock,
  readMessages,
  readTransactions,
} from '../../../../node/anchoring/ledger/mirror-shapes.ts';
import { entity } from './ledger-process.ts';

const TOPIC = entity('0.0.77');
const ID = transactionId('0.0.1001@1763717400.000000009');
const MESSAGE = {
  consensus_timestamp: '1763717401.000000001',
  message: 'aGVsbG8=',
  payer_account_id: '0.0.1001',
  running_hash: Buffer.alloc(48, 7).toString('base64'),
  running_hash_version: 3,
  sequence_number: 1,
  topic_id: '0.0.77',
};

test('a message is read; a member that is new to us, and what no running hash covers, does no harm', () => {
  const nonsense = { ...MESSAGE, chunk_info: 'nonsense', new_member: 1 };
  const [message] = readMessages({ messages: [nonsense], links: { next: null } }, TOPIC);
  assert.is(message?.sequence, 1);
  assert.equal(Buffer.from(message?.message ?? []).toString(), 'hello');
});

test('any deviation of a member that is read is an error', () => {
  const wrong: readonly object[] = [
    { consensus_timestamp: '1763717401' },
    { consensus_timestamp: 1763717401 },
    { message: 'aGVsbG8' },
    { message: 'aGVs bG8=' },
    { message: null },
    { payer_account_id: 'stranger' },
    { running_hash: '' },
    { running_hash: Buffer.alloc(47).toString('base64') },
    { running_hash_version: 2 },
    { sequence_number: '1' },
    { sequence_number: 0 },
    { sequence_number: 1.5 },
    { topic_id: '0.0.78' },
  ];
  for (const change of wrong) {
    const read = () => readMessages({ messages: [{ ...MESSAGE, ...change }] }, TOPIC);
    assert.throws(read, (error: unknown) => error instanceof MirrorFormatError, JSON.stringify(change));
  }
  for (const body of [null, [], {}, { messages: {} }, 'x']) {
    assert.throws(
      () => readMessages(body, TOPIC),
      (error: unknown) => error instanceof MirrorFormatError,
    );
    assert.throws(
      () => readTransactions(body),
      (error: unknown) => error instanceof MirrorFormatError,
    );
    assert.throws(
      () => readClock(body),
      (error: unknown) => error instanceof MirrorFormatError,
    );
  }
});

test('an answer that is too large, late, refused or no JSON is a typed error', async () => {
  const codes = await withMirror(
    async (path, answer) => {
      if (path.includes('gt:1&') || path.endsWith('gt:1')) answer(200, 'x'.repeat(3 << 20));
      else if (path.endsWith('gt:2')) answer(503, '{}');
      else if (path.endsWith('gt:3')) answer(200, '{');
    },
    async (url) => {
      const client = new MirrorClient([url], { timeoutMs: 2_000 });
      const found: string[] = [];
      for (const after of [1, 2, 3, 4]) {
        await client.messages(url, TOPIC, after).catch((error: unknown) => {
          found.push(error instanceof MirrorError ? error.code : String(error));
        });
      }
      return found;
    },
  );
  assert.equal(codes, ['too-large', 'refused', 'unreadable', 'unreachable']);
});

test('a text is every character that was sent, a byte order mark too; what is no UTF-8 is none', async () => {
  const read = (body: string | Buffer) =>
    withMirror(
      async (_path, answer) => answer(200, body),
      (url) => new MirrorClient([url]).text(url, '/blocks'),
    );
  assert.is(await read('\ufeff{"a":1}'), '\ufeff{"a":1}');
  const error: unknown = await read(Buffer.from([0x22, 0xff, 0x22])).catch((thrown: unknown) => thrown);
  assert.ok(error instanceof MirrorError && error.code === 'unreachable');
});

test('a transaction is dead only by a clock past its validity, whatever else is told of it', async () => {
  const duplicate = { result: 'DUPLICATE_TRANSACTION', consensus_timestamp: '1763717405.000000002' };
  const success = { result: 'SUCCESS', consensus_timestamp: '1763717401.000000001' };
  const expired = { result: 'TRANSACTION_EXPIRED', consensus_timestamp: '1763717599.000000001' };
  const fate = (clock: string, rows: readonly object[] | null) =>
    withMirror(
      async (path, answer) => {
        if (path.includes('/blocks')) answer(200, JSON.stringify({ blocks: [{ timestamp: { to: clock } }] }));
        else if (rows === null) answer(404, '{}');
        else answer(200, JSON.stringify({ transactions: rows }));
      },
      async (url) => (await new MirrorClient([url]).fate(ID, 1763717520)).kind,
    );
  assert.is(await fate('1763717519.999999999', null), 'undecided');
  assert.is(await fate('1763717521.000000000', null), 'undecided');
  assert.is(await fate('1763717522.000000000', null), 'dead');
  assert.is(await fate('1763717600.000000000', [duplicate, success]), 'success');
  assert.is(await fate('1763717410.000000000', [duplicate]), 'undecided');
  assert.is(await fate('1763717600.000000000', [expired]), 'dead');
});

test('one mirror that shows a transaction outweighs another that lacks it, and one that is down says nothing', async () => {
  const mirror = (row: object | null) => async (path: string, answer: Answer) => {
    if (path.includes('/blocks')) answer(200, '{"blocks":[{"timestamp":{"to":"1763717600.000000000"}}]}');
    else if (row === null) answer(404, '{}');
    else answer(200, JSON.stringify({ transactions: [row] }));
  };
  const success = { result: 'SUCCESS', consensus_timestamp: '1763717401.000000001' };
  await withMirror(mirror(null), (lacking) =>
    withMirror(mirror(success), async (showing) => {
      assert.is((await new MirrorClient([lacking, showing]).fate(ID, 1763717520)).kind, 'success');
      assert.is((await new MirrorClient(['http://127.0.0.1:9', lacking]).fate(ID, 1763717520)).kind, 'dead');
      assert.is((await new MirrorClient(['http://127.0.0.1:9']).fate(ID, 1763717520)).kind, 'undecided');
    }),
  );
});

type Answer = (status: number, body: string | Buffer) => void;

async function withMirror<Result>(
  serve: (path: string, answer: Answer) => Promise<void>,
  use: (url: string) => Promise<Result>,
): Promise<Result> {
  const server = createServer((request, response) => {
    void serve(decodeURIComponent(request.url ?? ''), (status, body) => response.writeHead(status).end(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  try {
    return await use(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test.run();
