import { parseLedgerMessage, writeLedgerMessage } from '../../protocol/log/message.ts';
import { nameEnvelope } from '../../protocol/log/naming.ts';
import { type AnchorRow, anchorTable, MAX_SIGHTINGS, messageHash } from '../anchoring/anchors.ts';
import { topicHeadTable } from '../anchoring/topic-reader.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { placeFaults } from './anchor-place.ts';
import type { Check, TableCheck } from './check.ts';
import { heldBatch } from './held-batch.ts';
import { readRows } from './rows.ts';

type Anchor = AnchorRow['anchor'];
/** The anchor furthest along each topic, by the key of the topic's head. */
type Furthest = Map<string, Anchor>;

/**
 * Anchors: each message of this federation, its running hash recomputed, compared with the envelope held here. Topic
 * heads: at or past every anchor of their topic. Memory grows with topics.
 */
export const anchorCheck: TableCheck = {
  tables: [anchorTable, topicHeadTable],
  async run(check) {
    const furthest: Furthest = new Map();
    for await (const { key, value } of readRows(check, anchorTable)) {
      if (value === undefined) continue;
      checkAnchor(check, key, value);
      await countAgainstEnvelope(check, value);
      const topic = topicHeadTable.key(value.anchor.network, value.anchor.topicId);
      const known = furthest.get(topic);
      if (known === undefined || Number(known.sequence) < Number(value.anchor.sequence)) {
        furthest.set(topic, value.anchor);
      }
    }
    await checkHeads(check, furthest);
  },
};

function checkAnchor(check: Check, key: string, row: AnchorRow): void {
  const { report } = check;
  const { node, batch, envelope, anchor, alsoAnchoredAt } = row;
  const problem = (detail: string) => report.problem(anchorTable.name, key, detail);
  if (key !== anchorTable.key(node, batch, messageHash(anchor.message))) {
    problem('stands under another key than that of its message');
  }
  try {
    const said = parseLedgerMessage(anchor.message);
    if (said.type !== 'batch' || said.node !== node || said.batch !== batch || said.envelope !== envelope) {
      problem('says something else than its message');
    }
  } catch {
    // Named below.
  }
  for (const fault of placeFaults(check, anchor)) problem(fault);
  const sequences = [anchor.sequence, ...alsoAnchoredAt.map(({ sequence }) => sequence)].map(Number);
  const isOrdered = sequences.every((sequence, i) => i === 0 || sequence > (sequences[i - 1] ?? 0));
  if (!isOrdered || alsoAnchoredAt.length > MAX_SIGHTINGS) problem('its later sightings are out of order');
}

async function countAgainstEnvelope({ store, report, keys }: Check, { node, batch, anchor }: AnchorRow): Promise<void> {
  if (keys === null) return;
  const held = await heldBatch(store, node, batch);
  if (held === undefined) return report.count('anchorsAhead');
  const expected = nameEnvelope(nativeSuite, keys.rosters.genesis, held.envelope, held.signed.statement);
  report.count(writeLedgerMessage(expected) === anchor.message ? 'anchors' : 'anchorsRival');
}

async function checkHeads(check: Check, furthest: Furthest): Promise<void> {
  const { report } = check;
  for await (const { key, value } of readRows(check, topicHeadTable)) {
    const anchor = furthest.get(key);
    furthest.delete(key);
    if (value === undefined || anchor === undefined) continue;
    const isAt = Number(anchor.sequence) === value.sequence;
    if (Number(anchor.sequence) > value.sequence) {
      report.problem(topicHeadTable.name, key, `is at ${value.sequence}, before anchor ${anchor.sequence}`);
    } else if (isAt && anchor.runningHash !== value.runningHash) {
      report.problem(topicHeadTable.name, key, `has another running hash than anchor ${anchor.sequence}`);
    } else if (isAt && anchor.consensusTimestamp !== value.consensusTimestamp) {
      report.problem(topicHeadTable.name, key, `has another consensus time than anchor ${anchor.sequence}`);
    }
  }
  for (const key of furthest.keys()) report.problem(topicHeadTable.name, key, 'is missing');
}
