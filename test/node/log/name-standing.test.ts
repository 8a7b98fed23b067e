import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { standingOf } from '../../../node/log/name-standing.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { type LedgerMessage, writeLedgerMessage } from '../../../protocol/log/message.ts';
import { accountOf, STRANGER, Topic } from '../../protocol/log/topic.ts';

/** What the log that a topic makes says of a message of `us`. */
function standing(topic: Topic, said: LedgerMessage) {
  const decisionOf = async () => topic.decisions.find(({ message }) => message.includes('"type":"batch"'));
  return standingOf({ decisionOf, state: topic.state }, nodeId('us'), writeLedgerMessage(said));
}

test('a batch is decided by its very message; by another, nothing more can be named', async () => {
  const topic = new Topic();
  const [named, other] = [topic.batch('us', 1), topic.batch('us', 1, 'another')];
  assert.is(await standing(topic, named), 'open');
  topic.pay(accountOf('us'), named);
  assert.equal([await standing(topic, named), await standing(topic, other)], ['decided', 'other']);
});

test("a statement counts by this member's own name, until it is in force or names fall", async () => {
  const topic = new Topic();
  const [revocation, roster] = [topic.revocation('eu'), topic.next({ name: 'second' })];
  topic.pay(STRANGER, roster);
  topic.say(['eu', 'ca'], revocation);
  topic.say('eu', roster);
  assert.equal([await standing(topic, revocation), await standing(topic, roster)], ['open', 'open']);
  topic.say('us', roster);
  assert.equal([await standing(topic, revocation), await standing(topic, roster)], ['open', 'counts']);
  topic.say('us', revocation);
  assert.equal([await standing(topic, revocation), await standing(topic, roster)], ['decided', 'counts']);
  const later = topic.revocation('eu', 'key-eu', 'a later one');
  topic.say('us', later);
  assert.is(await standing(topic, later), 'counts');
  topic.say('ca', roster);
  assert.equal([await standing(topic, later), await standing(topic, roster)], ['open', 'decided']);
});

test.run();
