import type { FactValues } from '../../../protocol/api/fact-values.ts';
import { writeSha384 } from '../../../protocol/hash.ts';
import type { EntityId } from '../../../protocol/ids.ts';
import { readMessages } from '../../anchoring/ledger/mirror-shapes.ts';
import { INITIAL_HEAD } from '../../anchoring/topic/topic-links.ts';
import type { FactReading } from './fact-reading.ts';
import type { MirrorReading } from './mirror-reading.ts';

/** The last message of the federation's topic. */
export async function readTopicState(
  mirror: MirrorReading,
  topicId: EntityId,
): Promise<FactReading<FactValues['topic-state']>> {
  const asOf = await mirror.clock();
  const path = `/topics/${topicId}/messages?limit=1&order=desc`;
  const [last] = await mirror.read(path, (body) => readMessages(body, topicId));
  const { sequence, runningHash, consensusTimestamp } =
    last === undefined ? INITIAL_HEAD : { ...last, runningHash: writeSha384(last.runningHash) };
  return { value: { topicId, sequenceNumber: sequence, runningHash, consensusTimestamp }, asOf };
}
