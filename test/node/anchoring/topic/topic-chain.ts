import type { MirrorMessage } from '../../../../node/anchoring/ledger/mirror-shapes.ts';
import { INITIAL_HEAD, type TopicHead } from '../../../../node/anchoring/topic/topic-links.ts';
import type { TopicPoint } from '../../../../node/anchoring/ledger/topic-point.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { utf8 } from '../../../../protocol/bytes.ts';
import { hashBytes, writeSha384 } from '../../../../protocol/hash.ts';
import { type EntityId, entityId } from '../../../../protocol/ids.ts';
import { entityParts } from '../../../../protocol/ledger/entity.ts';
import { nextRunningHash } from '../../../../protocol/ledger/running-hash.ts';
import { consensusOf } from '../../../fixtures/federation-topic.ts';

export const TOPIC = entityId('0.0.4242');
const PAYER = entityId('0.0.1001');
const START_MS = 1_763_717_400_000;

/** Messages after a head with running hashes that are right: what a ledger gives, or a mirror that makes them up. */
export function chain(
  said: readonly string[],
  after: TopicHead = INITIAL_HEAD,
  topicId: EntityId = TOPIC,
): MirrorMessage[] {
  let { runningHash: previous, sequence } = { ...after, runningHash: hashBytes(after.runningHash) };
  // Later than the head, whose time may be of a real ledger.
  const startMs =
    after.consensusTimestamp === null ? START_MS : Number(after.consensusTimestamp.split('.')[0]) * 1000 + 1000;
  return said.map((text) => {
    sequence++;
    const consensusTimestamp = consensusOf(startMs + sequence);
    const [seconds = '', nanos = ''] = consensusTimestamp.split('.');
    const message = utf8(text);
    const runningHash = nextRunningHash((data) => nativeSuite.sha384(data), {
      previous,
      payer: entityParts(PAYER),
      topic: entityParts(topicId),
      seconds: BigInt(seconds),
      nanos: Number(nanos),
      sequence: BigInt(sequence),
      message,
    });
    previous = runningHash;
    return { sequence, consensusTimestamp, payer: PAYER, message, runningHash };
  });
}

/** The same messages up to a sequence number, and other ones from there on, up to the same length or another one. */
export function forkOf(
  messages: readonly MirrorMessage[],
  from: number,
  name: string,
  { length = messages.length, topicId = TOPIC }: { readonly length?: number; readonly topicId?: EntityId } = {},
): MirrorMessage[] {
  const shared = messages.slice(0, from - 1);
  const count = Math.max(0, length - shared.length);
  return [...shared, ...chain(texts(count, name), headOf(shared), topicId)];
}

export function texts(count: number, name = 'm'): string[] {
  return Array.from({ length: count }, (_, index) => `${name} ${index}`);
}

/** Where the last of these messages stands. */
export function headOf(messages: readonly MirrorMessage[]): TopicHead {
  const last = messages.at(-1);
  if (last === undefined) return INITIAL_HEAD;
  const { sequence, consensusTimestamp } = last;
  return { sequence, consensusTimestamp, runningHash: writeSha384(last.runningHash) };
}

/** The point after so many messages. */
export function pointAt(messages: readonly MirrorMessage[], sequence: number): TopicPoint {
  const { runningHash } = headOf(messages.slice(0, sequence));
  return { sequence, runningHash };
}
