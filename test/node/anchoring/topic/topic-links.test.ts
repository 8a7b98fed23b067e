import { readFile } from 'node:fs/promises';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readMessages, type MirrorMessage } from '../../../../node/anchoring/ledger/mirror-shapes.ts';
import { LinkError, linkMessages, type TopicHead } from '../../../../node/anchoring/topic/topic-links.ts';
import { hashBytes, writeSha384 } from '../../../../protocol/hash.ts';
import { isConsensusTimestamp } from '../../../../protocol/time.ts';
import { fc } from '../../../fixtures/properties.ts';
import { entity } from '../ledger/ledger-process.ts';

// Consecutive messages of a mainnet topic, as the public mirror gave them.
const fixture: unknown = JSON.parse(
  await readFile(new URL('../../../fixtures/hcs/mainnet-vectors.json', import.meta.url), 'utf8'),
);
const topicId = entity('0.0.1693742');
const messages = readMessages(fixture, topicId);
const head = headBefore(fixture, messages);

test('links real messages of mainnet, whole or page by page', () => {
  const whole = linkMessages(head, topicId, messages);
  assert.is(whole.sequence, messages.at(-1)?.sequence);
  let at = head;
  for (const message of messages) at = linkMessages(at, topicId, [message]);
  assert.equal(at, whole);
});

test('any changed byte of a message, hash or head is refused', () => {
  const target = fc.record({
    index: fc.nat(messages.length - 1),
    part: fc.constantFrom('message', 'runningHash', 'head'),
    byte: fc.nat(),
    bit: fc.nat(7),
  });
  fc.assert(
    fc.property(target, ({ index, part, byte, bit }) => {
      const changed = messages.map((one, i) => {
        if (part === 'head' || i !== index) return one;
        return { ...one, [part]: flip(one[part], byte, bit) };
      });
      const start =
        part === 'head' ? { ...head, runningHash: writeSha384(flip(hashBytes(head.runningHash), byte, bit)) } : head;
      assert.throws(() => linkMessages(start, topicId, changed), isLinkError);
    }),
  );
});

test('a message left out, doubled or out of order is refused, and so is another topic', () => {
  assert.throws(() => linkMessages(head, topicId, messages.slice(1)), isLinkError);
  assert.throws(() => linkMessages(head, topicId, [...messages.slice(0, 2), ...messages.slice(1)]), isLinkError);
  assert.throws(() => linkMessages(head, topicId, messages.toReversed()), isLinkError);
  assert.throws(() => linkMessages(head, entity('0.0.1'), messages), isLinkError);
});

test('another payer or time is refused', () => {
  const changed = (index: number, change: Partial<MirrorMessage>) =>
    messages.map((one, i) => (i === index ? { ...one, ...change } : one));
  const { consensusTimestamp = '' } = messages.at(-1) ?? {};
  const later = consensusTimestamp.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10));
  assert.throws(() => linkMessages(head, topicId, changed(0, { payer: entity('0.0.2') })), isLinkError);
  if (!isConsensusTimestamp(later)) throw new TypeError('no consensus time');
  assert.throws(
    () => linkMessages(head, topicId, changed(messages.length - 1, { consensusTimestamp: later })),
    isLinkError,
  );
});

test('time does not go back', () => {
  const [first] = messages;
  if (first === undefined) throw new TypeError('no messages');
  assert.throws(
    () => linkMessages({ ...head, consensusTimestamp: first.consensusTimestamp }, topicId, messages),
    (error: unknown) => error instanceof LinkError && error.fault === 'time',
  );
});

function headBefore(value: unknown, [first]: readonly MirrorMessage[]): TopicHead {
  const isFixture = typeof value === 'object' && value !== null && 'previous_running_hash' in value;
  if (!isFixture || typeof value.previous_running_hash !== 'string' || first === undefined) {
    throw new TypeError('not the fixture');
  }
  const previous = Buffer.from(value.previous_running_hash, 'base64');
  return { sequence: first.sequence - 1, runningHash: writeSha384(previous), consensusTimestamp: null };
}

function isLinkError(error: unknown): boolean {
  return error instanceof LinkError;
}

function flip(bytes: Uint8Array, byte: number, bit: number): Uint8Array {
  const copy = new Uint8Array(bytes);
  const at = byte % copy.length;
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

test.run();
