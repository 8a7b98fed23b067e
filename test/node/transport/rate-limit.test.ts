import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { MessageGate, RequestGate } from '../../../node/transport/rate-limit.ts';

const RATES = {
  requestsInFlightPerPeer: 2,
  requestsInFlight: 3,
  requestRatePerPeer: 10,
  requestBurstPerPeer: 5,
  requestRate: 100,
  requestBurst: 8,
};

/** Requests of a peer that were admitted and ended at once. */
function admitted(gate: RequestGate, node: string, count: number, now: number): number {
  let served = 0;
  for (let i = 0; i < count; i += 1) {
    const end = gate.admit(node, now);
    if (end === null) continue;
    served += 1;
    end();
  }
  return served;
}

test('a peer has so many requests in flight, and all peers so many', () => {
  const gate = new RequestGate(RATES, 0);
  const [first] = [gate.admit('eu', 0), gate.admit('eu', 0)];
  assert.is(gate.admit('eu', 0), null);
  assert.ok(gate.admit('us', 0));
  assert.is(gate.admit('us', 0), null);
  first?.();
  assert.ok(gate.admit('us', 0));
});

test('a peer gets its burst, then its rate, and never more than its burst', () => {
  const gate = new RequestGate(RATES, 0);
  assert.is(admitted(gate, 'eu', 20, 0), 5);
  assert.is(admitted(gate, 'eu', 20, 99), 0);
  assert.is(admitted(gate, 'eu', 20, 200), 2);
  assert.is(admitted(gate, 'eu', 20, 3_600_000), 5);
});

test('a greedy peer spends nothing of what belongs to the others', () => {
  const gate = new RequestGate(RATES, 0);
  assert.is(admitted(gate, 'eu', 1000, 0), 5);
  assert.is(admitted(gate, 'us', 1000, 0), 3);
  assert.is(admitted(gate, 'us', 1000, 1000), 5);
});

test('a member that left and came back does not start with what it has in flight forgotten', () => {
  const gate = new RequestGate(RATES, 0);
  const ends = [gate.admit('eu', 0), gate.admit('eu', 0)];
  gate.keepOnly(new Set());
  assert.is(gate.admit('eu', 0), null);
  for (const end of ends) end?.();
  gate.keepOnly(new Set());
  assert.is(admitted(gate, 'eu', 20, 0), 5);
});

test('who plays the old messages of another again pays for them, and does not silence their author', () => {
  const rates = {
    validationsInFlight: 100,
    validationsInFlightPerPeer: 100,
    messageRatePerPeer: 1,
    messageBurstPerPeer: 5,
  };
  const gate = new MessageGate(rates);
  const judged = (author: string, sender: string) => {
    const release = gate.admit(author, sender, 0);
    if (typeof release === 'string') return release;
    release();
    return 'judged';
  };
  const replayed = Array.from({ length: 100 }, () => judged('eu', 'sg'));
  assert.is(replayed.filter((outcome) => outcome === 'judged').length, 20);
  assert.is(judged('eu', 'sg'), 'sender');
  assert.is(judged('eu', 'eu'), 'judged');
});

test.run();
