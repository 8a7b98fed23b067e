import { decodeUtf8 } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Rival } from '../../protocol/log/decide.ts';
import { type DecisionState, knownNode, memberOfAccount } from '../../protocol/log/decision-state.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import type { FinalMessage } from '../topic/topic-point.ts';
import type { Alerts } from './alerts.ts';
import type { NamedRival, UndecidedName } from './monitor-store.ts';

/** Rivals of all nodes and of one, before more are not kept: the first ones say all. */
const MAX_RIVALS = 1_024;
const MAX_RIVALS_OF_NODE = 16;
/** Undecided names of one member: the newest. */
const MAX_UNDECIDED_OF_MEMBER = 64;

/** Batches that the ledger names and that its log has not decided so, with when each was named. */
export class NameWatch {
  #rivals: NamedRival[];
  #undecided: UndecidedName[];

  constructor(state: { readonly rivals: readonly NamedRival[]; readonly undecided: readonly UndecidedName[] }) {
    this.#rivals = [...state.rivals];
    this.#undecided = [...state.undecided];
  }

  get rivals(): readonly NamedRival[] {
    return this.#rivals;
  }

  get undecided(): readonly UndecidedName[] {
    return this.#undecided;
  }

  /** Another envelope for a decided number, named by its node's own account, by a message after `index` decisions. */
  noteRival({ node, batch, envelope, sequence }: Rival, { payer, message }: FinalMessage, index: number): void {
    const ofNode = this.#rivals.filter((rival) => rival.node === node);
    const isKnown = ofNode.some((rival) => rival.batch === batch && rival.envelope === envelope);
    if (isKnown || ofNode.length >= MAX_RIVALS_OF_NODE || this.#rivals.length >= MAX_RIVALS) return;
    this.#rivals.push({ node, batch, envelope, sequence, payer, message: decodeUtf8(message), index });
  }

  /** Takes final messages that the log has read: `state` is what they came to. */
  take(messages: readonly FinalMessage[], state: DecisionState): void {
    for (const message of messages) this.#take(message, state);
    this.#undecided = this.#undecided.filter(({ node, batch }) => batch > lastOf(state, node));
  }

  /** Says what waits for too long, and which rivals there are. */
  see(alerts: Alerts, now: number, patienceMs: number): void {
    for (const { node, batch, envelope, by, consensusTimestamp } of this.#undecided) {
      if (now - Date.parse(timestampOfConsensus(consensusTimestamp)) <= patienceMs) continue;
      alerts.see('batch-undecided', `${node}/${batch}`, `${by} named ${envelope} at ${consensusTimestamp}`, now);
    }
    for (const { node, batch, envelope, sequence } of this.#rivals) {
      alerts.see('rival-named', `${node}/${batch}`, `message ${sequence} of its own account names ${envelope}`, now);
    }
  }

  #take({ message, payer, consensusTimestamp }: FinalMessage, state: DecisionState): void {
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
