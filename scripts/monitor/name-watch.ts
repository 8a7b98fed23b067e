import { decodeUtf8 } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type DecisionState, knownNode, memberOfAccount } from '../../protocol/log/decision-state.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import type { TopicMessage } from '../../protocol/log/decide.ts';
import type { Alerts } from './alerts.ts';
import type { UndecidedName } from './monitor-store.ts';

/** Undecided names of one member: the newest. */
const MAX_UNDECIDED_OF_MEMBER = 64;

/** Batches that the ledger names and that are not decided, with when each was named. */
export class NameWatch {
  #undecided: UndecidedName[];

  constructor(undecided: readonly UndecidedName[]) {
    this.#undecided = [...undecided];
  }

  get undecided(): readonly UndecidedName[] {
    return this.#undecided;
  }

  /** Takes final messages that the log has read: `state` is what they came to. */
  take(messages: readonly TopicMessage[], state: DecisionState): void {
    for (const message of messages) this.#take(message, state);
    this.#undecided = this.#undecided.filter(({ node, batch }) => batch > lastOf(state, node));
  }

  /** Says what waits for too long. */
  see(alerts: Alerts, now: number, patienceMs: number): void {
    for (const { node, batch, envelope, by, consensusTimestamp } of this.#undecided) {
      if (now - Date.parse(timestampOfConsensus(consensusTimestamp)) <= patienceMs) continue;
      alerts.see('batch-undecided', `${node}/${batch}`, `${by} named ${envelope} at ${consensusTimestamp}`, now);
    }
  }

  #take({ message, payer, consensusTimestamp }: TopicMessage, state: DecisionState): void {
    const by = memberOfAccount(state, payer);
    const named = by === undefined ? null : readBatch(message);
    if (by === undefined || named?.federation !== state.federation) return;
    const { node, batch, envelope } = named;
    if (batch <= lastOf(state, node) || knownNode(state, node) === undefined) return;
    const others = this.#undecided.filter((one) => one.by !== by || one.node !== node || one.batch !== batch);
    const same = this.#undecided.find((one) => one.by === by && one.node === node && one.batch === batch);
    const name = { node, batch, envelope, by, consensusTimestamp: same?.consensusTimestamp ?? consensusTimestamp };
    const ofMember = others.filter((one) => one.by === by);
    const dropped = ofMember.length >= MAX_UNDECIDED_OF_MEMBER ? ofMember[0] : undefined;
    this.#undecided = [...others.filter((one) => one !== dropped), name];
  }
}

function lastOf(state: DecisionState, node: NodeId): number {
  return knownNode(state, node)?.last?.batch ?? 0;
}

function readBatch(bytes: Uint8Array) {
  try {
    const named = parseLedgerMessage(decodeUtf8(bytes));
    return named.type === 'batch' ? named : null;
  } catch {
    return null;
  }
}
