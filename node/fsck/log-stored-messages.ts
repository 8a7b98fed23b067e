import type { Anchor } from '../anchoring/anchors.ts';
import type { Decision } from '../../protocol/log/decision.ts';
import type { LedgerMessage } from '../../protocol/log/message.ts';
import { anchorTable, messageHash, MAX_SIGHTINGS, statementAnchorTable } from '../anchoring/anchors.ts';
import type { Check } from './check.ts';

/** What an entry has otherwise than its topic's message. */
const SAID = ['network', 'topicId', 'message', 'payer', 'consensusTimestamp', 'runningHash'] as const;

type Sighting = Pick<Anchor, 'sequence' | 'consensusTimestamp'>;

/**
 * Compares a decision with the message as the store has it among the anchors: where that is the same message of the topic,
 * all of it must agree. A row that does not read is reported with the anchors.
 */
export async function storedMessageFaults(check: Check, decision: Decision, named: LedgerMessage): Promise<string[]> {
  const { store, report } = check;
  const hash = messageHash(decision.message);
  const row = await (named.type === 'batch'
    ? anchorTable.get(store, named.node, named.batch, hash)
    : statementAnchorTable.get(store, named.statement, hash)
  ).catch(() => undefined);
  if (row === undefined) return [];
  const { anchor } = row;
  if (anchor.sequence === decision.sequence) {
    report.count('decisionsStored');
    const differing = SAID.filter((part) => anchor[part] !== decision[part]);
    return differing.map((part) => `has another ${part} than the stored message ${anchor.sequence}`);
  }
  const faults: string[] = [];
  if (Number(decision.sequence) === Number(anchor.sequence) - 1 && decision.runningHash !== anchor.previousRunningHash) {
    faults.push(`has another runningHash than the stored message ${anchor.sequence} follows`);
  }
  if ('alsoAnchoredAt' in row) faults.push(...laterFaults(decision, anchor, row.alsoAnchoredAt));
  return faults;
}

/** The message stands on the topic several times; the first was by somebody whose word decides nothing. */
function laterFaults(decision: Decision, first: Sighting, later: readonly Sighting[]): string[] {
  const { sequence, consensusTimestamp } = decision;
  if (Number(sequence) < Number(first.sequence)) return [`is at message ${sequence}, before the first that is stored`];
  const same = later.find((sighting) => sighting.sequence === sequence);
  if (same !== undefined && same.consensusTimestamp !== consensusTimestamp) {
    return [`has another consensusTimestamp than the stored message ${sequence}`];
  }
  // A row keeps its earliest sightings: of those past them it does not tell.
  const upTo = Number(later.at(-1)?.sequence ?? first.sequence);
  const isTold = later.length < MAX_SIGHTINGS ? Number(sequence) <= upTo : Number(sequence) < upTo;
  return same === undefined && isTold ? [`is at message ${sequence}, where the stored messages have another`] : [];
}
