import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FederationLog } from '../../../node/log/federation-log.ts';
import { RosterLackingError, takeFinal, type TakeFinalOptions } from '../../../node/log/take-final.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';
import { genesisOf, Topic } from '../../protocol/log/topic.ts';

/** Batches before and after a roster that came into force, so that reading stops in the middle. */
function topicWithRoster(): Topic {
  const topic = new Topic();
  topic.say('us', topic.batch('us', 1));
  assert.ok(topic.say(['us', 'eu', 'ca'], topic.next({ name: 'second' })));
  topic.say('us', topic.batch('us', 2));
  return topic;
}

test('messages that come again once the text of a roster is here are read on from where the log is', async () => {
  const topic = topicWithRoster();
  const log = await FederationLog.open(new MemoryRows(), rosterStatement.write(genesisOf()));
  let decided = 0;
  const options = (textOf: TakeFinalOptions['textOf']): TakeFinalOptions => ({
    textOf,
    onAdvance: async (advance) => {
      decided += advance.decided.length;
    },
  });
  for (let attempt = 0; attempt < 2; attempt++) {
    await takeFinal(
      log,
      topic.messages,
      options(() => undefined),
    ).then(
      () => assert.unreachable('read past a roster that is not here'),
      (error: unknown) => assert.instance(error, RosterLackingError),
    );
    assert.equal([log.state.sequence, decided], [3, 1]);
  }
  await takeFinal(
    log,
    topic.messages,
    options((hash) => topic.texts.get(hash)),
  );
  assert.equal(log.state, topic.state);
  assert.is(decided, topic.decisions.length);
});

test.run();
