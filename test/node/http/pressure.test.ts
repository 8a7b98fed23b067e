import { once } from 'node:events';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_QUEUED_RECORDS } from '../../../node/intake/groups.ts';
import { TestNetwork } from '../../fixtures/test-network.ts';
import { API_KEYS, type TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';
import { draftOf } from '../intake/intake-fixture.ts';
import { requireProblem } from './problem-shape.ts';
import { dial } from './raw-answer.ts';

let unique = 0;

/** Makes the node's disk wait, or refuse, until it is told otherwise. */
function gateWrites(node: TestNode): { open(): void; refuse(reason: string): void; readonly holdsRecords: boolean } {
  const { store } = node.context;
  const write = store.write.bind(store);
  const gate = Promise.withResolvers<string | undefined>();
  let holdsRecords = false;
  store.write = async (operations) => {
    // Other parts write too.
    if (operations.some(({ key }) => key.startsWith('body/'))) holdsRecords = true;
    const reason = await gate.promise;
    if (reason !== undefined) throw new Error(reason);
    await write(operations);
  };
  return {
    get holdsRecords() {
      return holdsRecords;
    },
    open() {
      store.write = write;
      gate.resolve(undefined);
    },
    refuse(reason) {
      store.write = write;
      gate.resolve(reason);
    },
  };
}

/** How many records callers have handed to the node's intake. */
function countSubmitted(node: TestNode): () => number {
  const { intake } = node.context;
  const submit = intake.submit.bind(intake);
  let submitted = 0;
  intake.submit = (...given) => {
    submitted++;
    return submit(...given);
  };
  return () => submitted;
}

function head(length: number): string {
  const fields = ['Host: x', `x-api-key: ${API_KEYS.unmetered}`, 'Content-Type: application/json'];
  return `POST /v1/attest HTTP/1.1\r\n${fields.join('\r\n')}\r\nContent-Length: ${length}\r\n\r\n`;
}

test('a full queue is 503 with Retry-After, and the node recovers', async () => {
  await using network = await TestNetwork.start();
  const node = network.node();
  const gate = gateWrites(node);
  const many = Array.from({ length: MAX_QUEUED_RECORDS }, () => draftOf('s'));
  const waiting = [node.context.intake.submit(draftOf('first'))];
  await until('the first group is being written', () => node.context.intake.queued === 0);
  waiting.push(node.context.intake.submit(draftOf('second')));
  await until('the second group is being signed', () => node.context.intake.queued === 0);
  const bulk = node.context.intake.submitAll(many);
  await until('the queue is full', () => node.context.intake.queued === MAX_QUEUED_RECORDS);
  const refused = await node.post('/v1/attest', { sourceId: 's', data: {} });
  requireProblem(refused, 'queue-full', 'full queue');
  assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
  assert.is((await node.get('/v1/health')).status, 200, 'reading goes on');
  gate.open();
  await Promise.all([...waiting, bulk]);
  assert.is((await node.post('/v1/attest', { sourceId: 's', data: {} })).status, 200);
});

test('a refused write is 503, a full disk 507, both with Retry-After and no id', async () => {
  await using network = await TestNetwork.start();
  const node = network.node();
  for (const [reason, code] of [
    ['Input/output error', 'dependency-unavailable'],
    ['No space left on device', 'storage-full'],
  ] as const) {
    const gate = gateWrites(node);
    const answer = node.post('/v1/attest', { sourceId: 's', data: { reason } });
    await until('the record is being written', () => gate.holdsRecords);
    gate.refuse(reason);
    requireProblem(await answer, code, reason);
    assert.match((await answer).headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.is((await answer).body.attestationId, undefined);
    assert.is((await node.post('/v1/attest', { sourceId: 's', data: { reason } })).status, 200, 'it is no duplicate');
  }
  assert.is(node.context.intake.recorded, 2);
});

test('callers who hang up, at whatever moment, change nothing for the others', async () => {
  await using network = await TestNetwork.start();
  const node = network.node();
  const gate = gateWrites(node);
  const submitted = countSubmitted(node);
  const others = Array.from({ length: 20 }, () => node.post('/v1/attest', { sourceId: 's', data: { n: ++unique } }));
  await until('the others are in line', () => submitted() === 20);
  const left: Promise<unknown>[] = [];
  for (let i = 0; i < 30; i++) {
    const body = JSON.stringify({ sourceId: 'gone', data: { n: ++unique } });
    const socket = await dial(node);
    left.push(once(socket, 'close'));
    if (i % 3 === 0) socket.write(head(body.length).slice(0, 40));
    if (i % 3 === 1) socket.write(head(body.length) + body.slice(0, 10));
    if (i % 3 === 2) socket.write(head(body.length) + body);
    const whole = Math.floor((i + 1) / 3);
    // A reset takes back what the node has not read yet; an end does not.
    if (i % 2 === 0) await until('the node has read it', () => submitted() >= 20 + whole);
    else await new Promise((resolve) => setTimeout(resolve, 2));
    if (i % 2 === 0) socket.resetAndDestroy();
    else socket.destroy();
  }
  await Promise.all(left);
  await until('those who sent all of their body are in line', () => submitted() === 30);
  gate.open();
  const answers = await Promise.all(others);
  assert.ok(answers.every(({ status }) => status === 200));
  assert.is(new Set(answers.map(({ body }) => body.attestationId)).size, 20);
  await until('every whole request is recorded', () => node.context.intake.recorded >= 30);
  assert.is(node.context.intake.recorded, 30, 'half a request is not recorded');
  assert.is((await node.get('/v1/health')).status, 200);
  assert.not.match(node.log.join(''), '"level":50', 'a caller who leaves is no error of the node');
});

test('what was accepted is answered when the node is told to stop', async () => {
  await using network = await TestNetwork.start();
  const node = network.node();
  const gate = gateWrites(node);
  const accepted = node.post('/v1/attest', { sourceId: 's', data: {} });
  await until('the record is being written', () => gate.holdsRecords);
  const stopped = node.stop();
  setTimeout(() => gate.open(), 100);
  const { status, body } = await accepted;
  assert.is(status, 200);
  await stopped;
  await node.start();
  assert.is((await node.get(`/v1/verify/${String(body.attestationId)}`)).status, 200);
});

test.run();
