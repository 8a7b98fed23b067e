import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeGossip, type GossipMessage } from '../../../node/federation/gossip-forms.ts';
import { PeerFaults } from '../../../node/log/peer-faults.ts';
import { PeerStatementError } from '../../../node/log/members/peer-statement-error.ts';
import type { Serve } from '../../../node/transport/contract.ts';
import { LogExchange } from '../../../node/federation/log-exchange.ts';
import { MemberClocks } from '../../../node/log/member-clocks.ts';
import { logFrames, logRequest, readLogAnswer, readLogRequest } from '../../../node/log/log-forms.ts';
import { INITIAL_HEAD } from '../../../node/anchoring/topic/topic-links.ts';
import type { TopicPoint } from '../../../node/anchoring/ledger/topic-point.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import { isBase64url } from '../../../protocol/statement/statement.ts';
import { until } from '../../fixtures/until.ts';

const US = nodeId('us');

function signedAs(text: string): SignedCheckpoint {
  const signature = 'c2ln';
  if (!isBase64url(signature)) throw new Error('base64url');
  return { text, signature };
}

const NOW = 1_790_000_000_000;
const pointAt = (sequence: number): TopicPoint => ({ sequence, runningHash: INITIAL_HEAD.runningHash });

/** One member's exchange, and a peer `us` that answers what a test says. */
function openFixture(answer: () => Iterable<Uint8Array>, connected = true) {
  let serve: Serve | undefined;
  let meet: (node: string) => void = () => undefined;
  const told: [string, number][] = [];
  const learned: string[] = [];
  const published: GossipMessage[] = [];
  let asked = 0;
  let lacks: (checkpoint: SignedCheckpoint) => boolean = () => true;
  let point = pointAt(4);
  const faults = new PeerFaults(() => 0);
  const exchange = new LogExchange({
    self: nodeId('eu'),
    transport: {
      serve: (_protocol, served) => (serve = served),
      async *request(_peer, _protocol, request) {
        asked++;
        lacks = readLogRequest(request);
        yield* answer();
      },
      async publish(_topic, data) {
        published.push(decodeGossip(data));
        return 1;
      },
      onConnect(listener) {
        meet = listener;
        return () => (meet = () => undefined);
      },
      peers: () => [{ node: 'us', connected, since: null, subscribed: [], rtt: null, score: null, lastError: null }],
    },
    reading: { tell: () => point, noteTold: (from, { sequence }) => told.push([from, sequence]) },
    checkpointStore: { shown: () => [signedAs('one'), signedAs('two')] },
    checkpoints: {
      async learn({ text }) {
        if (text === 'forged') throw new PeerStatementError('forged', 'a signature does not hold');
        learned.push(text);
        return 'counted';
      },
    },
    clocks: new MemberClocks({ now: () => NOW, members: () => [US] }),
    now: () => NOW,
    faults,
    log: pino({ level: 'silent' }),
  });
  return {
    exchange,
    told,
    learned,
    published,
    faults,
    meet: () => meet('us'),
    asked: () => asked,
    grow: (sequence: number) => (point = pointAt(sequence)),
    lacks: (text: string) => lacks(signedAs(text)),
    served: async (request = logRequest([])) => {
      if (serve === undefined) throw new Error('nothing is served');
      return Array.fromAsync(serve(request, 'us', new AbortController().signal, 1));
    },
    [Symbol.asyncDispose]: () => exchange[Symbol.asyncDispose](),
  };
}

test('who asks is told how far the own sources agree, and shown every checkpoint that is kept', async () => {
  await using fixture = openFixture(() => []);
  assert.equal(readLogAnswer(await fixture.served()), {
    clock: NOW,
    told: pointAt(4),
    checkpoints: [signedAs('one'), signedAs('two')],
  });
});

test('who says which checkpoints it holds is shown the others alone', async () => {
  await using fixture = openFixture(() => []);
  const shown = async (...held: string[]) =>
    readLogAnswer(await fixture.served(logRequest(held.map(signedAs)))).checkpoints;
  assert.equal(await shown('one', 'three'), [signedAs('two')]);
  assert.equal(await shown('one', 'two'), []);
});

test('a member is told which checkpoints are held here', async () => {
  await using fixture = openFixture(() => logFrames({ clock: NOW, told: pointAt(1), checkpoints: [] }));
  fixture.exchange.start();
  await until('the answer', () => fixture.told.length === 1);
  assert.equal([fixture.lacks('one'), fixture.lacks('two'), fixture.lacks('three')], [false, false, true]);
});

test('a question of another shape is refused and noted', async () => {
  for (const request of [
    new Uint8Array(),
    utf8('{"held":["short"]}'),
    utf8('{}'),
    utf8(JSON.stringify({ held: Array(1_025).fill('A'.repeat(16)) })),
  ]) {
    await using fixture = openFixture(() => []);
    const error: unknown = await fixture.served(request).catch((reason: unknown) => reason);
    assert.ok(error instanceof PeerStatementError && error.fault === 'malformed');
    assert.equal(
      fixture.faults.all().map(({ peer, fault }) => [peer, fault]),
      [[US, 'malformed']],
    );
  }
});

test('members that are connected are asked at the start, and every other one when it comes', async () => {
  await using here = openFixture(() =>
    logFrames({ clock: NOW, told: pointAt(7), checkpoints: [signedAs('a'), signedAs('b')] }),
  );
  here.exchange.start();
  await until('the answer', () => here.learned.length === 2);
  assert.equal([here.told, here.learned], [[['us', 7]], ['a', 'b']]);
  await using away = openFixture(() => logFrames({ clock: NOW, told: pointAt(7), checkpoints: [] }), false);
  away.exchange.start();
  assert.is(away.asked(), 0);
  away.meet();
  await until('the answer', () => away.told.length === 1);
});

test('a checkpoint that does not hold hides no other, and is noted', async () => {
  const forged = [signedAs('a'), signedAs('forged'), signedAs('b')];
  await using fixture = openFixture(() => logFrames({ clock: NOW, told: pointAt(1), checkpoints: forged }));
  fixture.exchange.start();
  await until('the last', () => fixture.learned.includes('b'));
  assert.equal(fixture.learned, ['a', 'b']);
  assert.equal(
    fixture.faults.all().map(({ peer, fault }) => [peer, fault]),
    [[US, 'forged']],
  );
});

test('an answer of another shape is noted, and the member is asked again', async () => {
  let frames: readonly Uint8Array[] = [utf8('{"sequence":-1}')];
  await using fixture = openFixture(() => frames);
  fixture.exchange.start();
  await until('the fault', () => fixture.faults.all().length === 1);
  assert.equal([fixture.told, fixture.learned], [[], []]);
  frames = [...logFrames({ clock: NOW, told: pointAt(2), checkpoints: [] })];
  fixture.meet();
  await until('the answer', () => fixture.told.length === 1);
});

test('what the own sources agree on goes out once for all growth of a moment, and checkpoints at once', async () => {
  await using fixture = openFixture(() => []);
  fixture.exchange.tell();
  fixture.grow(9);
  fixture.exchange.tell();
  await fixture.exchange.publish(signedAs('mine'));
  assert.equal(
    fixture.published.map(({ type }) => type),
    ['checkpoint'],
  );
  await until('it is told', () => fixture.published.length === 2);
  assert.equal(fixture.published[1], { type: 'told', node: 'eu', at: NOW, point: pointAt(9) });
});

test('what the own sources take back is told at once', async () => {
  await using fixture = openFixture(() => []);
  fixture.grow(9);
  fixture.exchange.tell();
  await until('it is told', () => fixture.published.length === 1);
  fixture.grow(3);
  fixture.exchange.tell();
  // The clock says the same as before; anyone who hears it goes by the order.
  assert.equal(fixture.published[1], { type: 'told', node: 'eu', at: NOW + 1, point: pointAt(3) });
});

test('an answer that comes after newer gossip of its member takes nothing back', async () => {
  const asked = Promise.withResolvers<void>();
  function* late(): Generator<Uint8Array> {
    yield* logFrames({ clock: NOW, told: pointAt(1), checkpoints: [signedAs('a')] });
  }
  await using fixture = openFixture(() => {
    fixture.exchange.noteTold(US, pointAt(8));
    asked.resolve();
    return late();
  });
  fixture.exchange.start();
  await asked.promise;
  await until('the answer', () => fixture.learned.length === 1);
  assert.equal(fixture.told, [['us', 8]]);
});

test('frames that are no JSON, too few or of too many members are refused', () => {
  const refuses = (frames: readonly Uint8Array[]) => {
    try {
      readLogAnswer(frames);
      return false;
    } catch (error) {
      return error instanceof PeerStatementError && error.fault === 'malformed';
    }
  };
  const [told = new Uint8Array()] = logFrames({ clock: NOW, told: pointAt(1), checkpoints: [] });
  assert.not.ok(refuses([told]));
  assert.ok(refuses([]));
  assert.ok(refuses([utf8('{')]));
  assert.ok(refuses([told, told]));
  assert.ok(refuses([told, utf8('{"text":"a","signature":"c2ln","more":1}')]));
});

test.run();
