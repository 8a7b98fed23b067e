import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { TransportError } from '../../../node/transport/errors.ts';
import { ask, codeOf, Network } from './network.ts';
import { until } from '../../fixtures/until.ts';
import type { TransportLimits } from '../../../node/transport/limits.ts';

const KIB = 1024;

function pair(eu: Partial<TransportLimits> = {}, us: Partial<TransportLimits> = {}): Promise<Network> {
  return Network.of(['eu', 'us'], { eu: { limits: eu }, us: { limits: us } });
}

async function* texts(...all: string[]): AsyncGenerator<Uint8Array> {
  for (const text of all) yield Buffer.from(text);
}

test('an answer comes frame by frame, in order, to either side, with the asker’s name', async () => {
  await using network = await pair();
  await network.meshed();
  for (const node of ['eu', 'us']) {
    network.transport(node).serve('status', (request, from) => texts(from, Buffer.from(request).toString(), '', 'end'));
  }
  assert.equal(await ask(network.transport('eu'), 'us', 'status', 'head?'), ['eu', 'head?', '', 'end']);
  assert.equal(await ask(network.transport('us'), 'eu', 'status', ''), ['us', '', '', 'end']);
});

test('an answer without frames ends', async () => {
  await using network = await pair();
  await network.meshed();
  network.transport('us').serve('record', () => texts());
  assert.equal(await ask(network.transport('eu'), 'us', 'record', 'x'), []);
});

test('an answer larger than every window arrives whole', async () => {
  await using network = await pair();
  await network.meshed();
  network.transport('us').serve('batches', async function* () {
    for (let i = 0; i < 3; i += 1) yield Buffer.alloc(1024 * KIB, i);
    for (let i = 3; i < 130; i += 1) yield Buffer.alloc(5 * KIB, i);
  });
  const firstBytes: number[] = [];
  let bytes = 0;
  for await (const frame of network.transport('eu').request('us', 'batches', Buffer.from(''))) {
    firstBytes.push(frame[0] ?? -1);
    bytes += frame.length;
    assert.ok(frame.every((byte) => byte === frame[0]));
    if (firstBytes.length === 2) await sleep(200);
  }
  assert.equal(
    firstBytes,
    Array.from({ length: 130 }, (_, i) => i),
  );
  assert.is(bytes, 3 * 1024 * KIB + 127 * 5 * KIB);
});

test('an answer that its reader has not begun to read when the server is done is not lost', async () => {
  await using network = await pair();
  await network.meshed();
  network.transport('us').serve('batches', async function* () {
    for (let i = 0; i < 12; i += 1) yield Buffer.alloc(64 * KIB);
  });
  let bytes = 0;
  for await (const frame of network.transport('eu').request('us', 'batches', Buffer.from(''))) {
    if (bytes === 0) await sleep(300);
    bytes += frame.length;
  }
  assert.is(bytes, 12 * 64 * KIB);
});

test('a protocol without a server, and a server’s refusals, reach the asker under their codes', async () => {
  await using network = await pair();
  await network.meshed();
  const [eu, us] = [network.transport('eu'), network.transport('us')];
  us.serve('record', async function* (request) {
    const code = Buffer.from(request).toString();
    yield Buffer.from('first');
    if (code === 'busy' || code === 'refused' || code === 'malformed') throw new TransportError(code, 'no');
    throw new Error('a bug');
  });
  assert.is(await codeOf(ask(eu, 'us', 'payload', '')), 'refused');
  for (const code of ['busy', 'refused', 'malformed']) assert.is(await codeOf(ask(eu, 'us', 'record', code)), code);
  assert.is(await codeOf(ask(eu, 'us', 'record', 'other')), 'failed');
  assert.throws(() => us.serve('record', () => texts()), /served already/);
});

test('a stranger to the roster, ourselves and an absent member are unreachable', async () => {
  await using network = await pair();
  await network.meshed();
  const eu = network.transport('eu');
  for (const node of ['fr', 'eu']) assert.is(await codeOf(ask(eu, node, 'status', '')), 'unreachable');
  await network.stop('us');
  await until('the leaving', () => !network.transport('eu').peers()[0]?.connected);
  assert.is(await codeOf(ask(network.transport('eu'), 'us', 'status', '')), 'unreachable');
});

test('a server that dies in the middle leaves a cut, never a short answer', async () => {
  await using network = await pair();
  await network.meshed();
  network.transport('us').serve('batches', async function* (_request, _from, signal) {
    yield Buffer.from('one');
    await sleep(60_000, undefined, { signal });
  });
  const frames: string[] = [];
  const reading = (async () => {
    for await (const frame of network.transport('eu').request('us', 'batches', Buffer.from(''))) {
      frames.push(Buffer.from(frame).toString());
      void network.stop('us');
    }
  })();
  const code = await codeOf(reading);
  assert.ok(code === 'cut' || code === 'failed', code);
  assert.equal(frames, ['one']);
});

test('a server too slow to begin or to go on is a time-out, and its signal ends', async () => {
  await using network = await pair({ firstFrameTimeout: 150, frameTimeout: 150 });
  await network.meshed();
  let ended = 0;
  network.transport('us').serve('record', async function* (request, _from, signal) {
    signal.addEventListener('abort', () => (ended += 1));
    if (request.length > 0) yield Buffer.from('one');
    await sleep(60_000, undefined, { signal });
  });
  assert.is(await codeOf(ask(network.transport('eu'), 'us', 'record', '')), 'timeout');
  assert.is(await codeOf(ask(network.transport('eu'), 'us', 'record', 'x')), 'timeout');
  await until('the server’s signals', () => ended === 2);
});

test('a whole request has its deadline on both sides, even with a server that ignores its signal', async () => {
  await using network = await pair({ requestTimeout: 1_000 }, { requestTimeout: 1_000, requestsInFlightPerPeer: 1 });
  await network.meshed();
  const forever = new Promise<never>(() => undefined);
  network.transport('us').serve('record', async function* () {
    yield await forever;
  });
  network.transport('us').serve('status', () => texts('here'));
  assert.is(await codeOf(ask(network.transport('eu'), 'us', 'record', '')), 'timeout');
  const isFree = async () => (await codeOf(ask(network.transport('eu'), 'us', 'status', ''))) === 'none';
  await until('the server to have given its place back', isFree);
  assert.equal(await ask(network.transport('eu'), 'us', 'status', ''), ['here']);
});

test('an aborted request ends at once, and one that the consumer leaves frees the server', async () => {
  await using network = await pair({}, { requestsInFlightPerPeer: 1 });
  await network.meshed();
  let open = 0;
  network.transport('us').serve('batches', async function* (_request, _from, signal) {
    open += 1;
    try {
      for (;;) {
        yield Buffer.from('more');
        await sleep(20, undefined, { signal });
      }
    } finally {
      open -= 1;
    }
  });
  const eu = network.transport('eu');
  for await (const frame of eu.request('us', 'batches', Buffer.from(''))) {
    assert.is(frame.length, 4);
    break;
  }
  await until('the server to be free', () => open === 0);
  const aborting = new AbortController();
  const reading = (async () => {
    for await (const frame of eu.request('us', 'batches', Buffer.from(''), { signal: aborting.signal })) {
      assert.is(frame.length, 4);
      aborting.abort();
    }
  })();
  assert.is(await codeOf(reading), 'aborted');
  await until('the server to be free', () => open === 0);
});

test('requests, frames and answers over their limits are refused on the side that sees them', async () => {
  const small = { requestBytes: KIB, frameBytes: 4 * KIB, answerBytes: 8 * KIB };
  const sizes = async function* (request: Uint8Array): AsyncGenerator<Uint8Array> {
    for (const size of Buffer.from(request).toString().split(',')) yield Buffer.alloc(Number(size));
  };
  await using network = await pair(small);
  await network.meshed();
  const [eu, us] = [network.transport('eu'), network.transport('us')];
  for (const transport of [eu, us]) transport.serve('batches', sizes);
  const fits = [4096, 4086].join(',');
  assert.is((await ask(eu, 'us', 'batches', fits)).length, 2);
  assert.is((await ask(us, 'eu', 'batches', fits)).length, 2);
  const cases = { request: '1,'.repeat(KIB), frame: '4097', answer: '4096,4087' };
  for (const [name, request] of Object.entries(cases)) {
    assert.is(await codeOf(ask(eu, 'us', 'batches', request)), 'too-large', `${name}, asking`);
    assert.is(await codeOf(ask(us, 'eu', 'batches', request)), 'too-large', `${name}, serving`);
  }
});

test('an answer of many frames is over its limit too, however short they are', async () => {
  const faults: string[] = [];
  const onFault = (node: string, fault: string) => void faults.push(`${node} ${fault}`);
  await using network = await Network.of(['eu', 'us'], { eu: { limits: { answerBytes: 8 * KIB }, onFault } });
  await network.meshed();
  network.transport('us').serve('batches', async function* (request) {
    for (let i = 0; i < Number(Buffer.from(request).toString()); i++) yield new Uint8Array();
  });
  assert.is((await ask(network.transport('eu'), 'us', 'batches', '16')).length, 16);
  assert.is(await codeOf(ask(network.transport('eu'), 'us', 'batches', '17')), 'too-large');
  assert.equal(faults, ['us oversize']);
});

test('more requests at once, or in a second, than a peer may have are told to come back', async () => {
  await using network = await pair({}, { requestsInFlightPerPeer: 2, requestBurstPerPeer: 8, requestRatePerPeer: 1 });
  await network.meshed();
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
  network.transport('us').serve('status', async function* () {
    await go;
    yield Buffer.from('here');
  });
  const asked = Array.from({ length: 5 }, () => codeOf(ask(network.transport('eu'), 'us', 'status', '')));
  let told = 0;
  for (const one of asked) void one.then((code) => (told += code === 'busy' ? 1 : 0));
  await until('three refusals', () => told === 3);
  letGo();
  assert.equal((await Promise.all(asked)).toSorted(), ['busy', 'busy', 'busy', 'none', 'none']);
  // Places of the burst come back while the machine is slow: sooner or later it is used up.
  let answered = 0;
  while (answered < 40 && (await codeOf(ask(network.transport('eu'), 'us', 'status', ''))) === 'none') answered += 1;
  assert.ok(answered >= 6 && answered < 40, `${answered} answered`);
});

test('a member is answered for what its minute allows, and then told to come back, which is no fault', async () => {
  const faults: string[] = [];
  const refused: string[] = [];
  const told = {
    onFault: (node: string, fault: string) => void faults.push(`${node} ${fault}`),
    onRefused: (node: string, refusal: string) => void refused.push(`${node} ${refusal}`),
  };
  // One answer is what sixteen minutes allow.
  const limits = { bytesPerPeer: 64 * KIB };
  await using network = await Network.of(['eu', 'us'], { us: { limits, ...told } });
  await network.meshed();
  network.transport('us').serve('batches', async function* () {
    for (let i = 0; i < 16; i++) yield new Uint8Array(64 * KIB);
  });
  const ending = async () => codeOf(ask(network.transport('eu'), 'us', 'batches', ''));
  assert.equal([await ending(), await ending(), await ending()], ['none', 'busy', 'busy']);
  assert.equal(refused, ['eu allowance', 'eu allowance']);
  assert.equal(faults, []);
});

test('a slow reader holds little of the server: frames are asked for only as they are read', async () => {
  const generous = { answerBytes: 64 * 1024 * KIB };
  await using network = await pair(generous, generous);
  await network.meshed();
  let made = 0;
  network.transport('us').serve('batches', async function* () {
    for (let i = 0; i < 400; i += 1) {
      made += 64 * KIB;
      yield Buffer.alloc(64 * KIB);
    }
  });
  let read = 0;
  for await (const frame of network.transport('eu').request('us', 'batches', Buffer.from(''))) {
    if (read === 0) {
      await sleep(700);
      // A window of 1 MiB, what the reader and the writer may hold, and one frame in hand.
      assert.ok(made <= (1024 + 2 * 256 + 2 * 64) * KIB, `${made} bytes were made for a reader that read none`);
    }
    read += frame.length;
  }
  assert.is(read, 400 * 64 * KIB);
});

test('disposal ends requests under way', async () => {
  await using network = await pair();
  await network.meshed();
  network.transport('us').serve('record', async function* (_request, _from, signal) {
    yield await sleep(60_000, Buffer.from(''), { signal });
  });
  const asked = codeOf(ask(network.transport('eu'), 'us', 'record', ''));
  await sleep(100);
  await network.stop('eu');
  assert.is(await asked, 'aborted');
});

test.run();
