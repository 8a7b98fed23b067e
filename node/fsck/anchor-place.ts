import { utf8 } from '../../protocol/bytes.ts';
import { hashBytes } from '../../protocol/hash.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import type { AnchorRow } from '../anchoring/anchors.ts';
import { linkMessages, type TopicHead } from '../topic/topic-links.ts';
import type { Check } from './check.ts';
import { reasonOf } from './rows.ts';

type Anchor = AnchorRow['anchor'];

/** What is wrong with where a message is said to stand on the ledger: its federation, its topic, its running hash. */
export function placeFaults({ keys }: Pick<Check, 'keys'>, anchor: Anchor): string[] {
  const faults: string[] = [];
  try {
    const { federation } = parseLedgerMessage(anchor.message);
    if (keys !== null && federation !== keys.rosters.genesis) faults.push('is of another federation');
    requireLink(anchor);
  } catch (error) {
    faults.push(reasonOf(error));
  }
  const isOfRoster = ({ ledger }: { ledger: { network: string; topicId: string } }) =>
    ledger.network === anchor.network && ledger.topicId === anchor.topicId;
  if (keys !== null && !keys.rosters.rosters.some(isOfRoster)) faults.push('stands on no ledger topic of the rosters');
  return faults;
}

/** Throws `LinkError` where the running hash does not follow from the message and the one before. */
function requireLink(anchor: Anchor): void {
  const sequence = Number(anchor.sequence);
  const before: TopicHead = {
    sequence: sequence - 1,
    runningHash: anchor.previousRunningHash,
    consensusTimestamp: null,
  };
  const { payer, consensusTimestamp } = anchor;
  const message = utf8(anchor.message);
  const runningHash = hashBytes(anchor.runningHash);
  linkMessages(before, anchor.topicId, [
    { sequence, consensusTimestamp, payer, message, runningHash, transactionId: null },
  ]);
}
