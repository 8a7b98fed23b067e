import { utf8 } from '../../protocol/bytes.ts';
import { hashBytes, type Sha256Hash, type Sha384Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import {
  type DecisionState,
  isRevoked,
  knownNode,
  memberOfAccount,
  nextBatch,
  rosterInForce,
} from '../../protocol/log/decision-state.ts';
import type { Decision } from '../../protocol/log/decision.ts';
import { initialState, mayRevoke, withRevocation, withRoster } from '../../protocol/log/in-force.ts';
import {
  type BatchMessage,
  type LedgerMessage,
  parseLedgerMessage,
  type RevocationMessage,
  type RosterMessage,
} from '../../protocol/log/message.ts';
import { judgeNext } from '../../protocol/log/roster-rules.ts';
import { linkMessages, type TopicHead } from '../anchoring/topic/topic-links.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { reasonOf } from './rows.ts';

/** What the state says that decisions alone come to; of messages that decided nothing, only `open` tells. */
const DERIVED = [
  'federation',
  'ledger',
  'rosters',
  'majority',
  'members',
  'past',
  'accounts',
  'revoked',
  'size',
] as const;

/** A decision of the log, and what its message says; null where that does not read. */
export interface Replayed {
  readonly named: LedgerMessage | null;
  readonly faults: readonly string[];
}

/**
 * Reads the decisions of a log once more, in order: each must be one that the rules allow where it stands, and together
 * they come to the state. Who named what before it was decided only the topic tells, so of a majority only the member
 * that made it full is seen.
 */
export class LogReplay {
  #state: DecisionState;
  #last: Decision | undefined;
  /** False once a decision could not be read: what follows is not judged by the rules. */
  #isWhole = true;

  /** Throws `RosterError` on a text that is no genesis roster. */
  constructor(genesisText: string) {
    this.#state = initialState(nativeSuite, genesisText);
  }

  /** The roster whose text has to be at hand for a decision; null for none. */
  static rosterOf(decision: Decision): Sha256Hash | null {
    const named = readMessage(decision);
    return named?.type === 'roster' ? named.statement : null;
  }

  /** A decision is not here, or does not read. */
  skip(): void {
    this.#isWhole = false;
  }

  /**
   * Takes the next decision, with the topic's running hash before its message and the text of the roster that it puts
   * in force.
   */
  take(decision: Decision, before: Sha384Hash, rosterText: string | undefined): Replayed {
    const faults = [...this.#placeFaults(decision, before)];
    const named = readMessage(decision);
    if (named === null) faults.push('its message does not read');
    else faults.push(...this.#advance(decision, named, rosterText));
    if (named === null || faults.length > 0) this.#isWhole = false;
    this.#last = decision;
    return { named, faults };
  }

  /** In what the stored state is another than the one that the decisions come to. */
  stateFaults(stored: DecisionState): string[] {
    const faults: string[] = [];
    if (this.#isWhole) {
      for (const part of DERIVED) {
        if (canonicalize(stored[part]) === canonicalize(this.#state[part])) continue;
        faults.push(`its ${part} are not what the entries come to`);
      }
    }
    const last = this.#last;
    if (last !== undefined && stored.sequence < Number(last.sequence)) {
      faults.push(`is at message ${stored.sequence}, before the last that decided, ${last.sequence}`);
    } else if (
      last !== undefined &&
      stored.sequence === Number(last.sequence) &&
      stored.runningHash !== last.runningHash
    ) {
      faults.push(`has another running hash than the entry of message ${last.sequence}`);
    }
    const strangers = Object.keys(stored.open).filter((member) => !Object.hasOwn(stored.members, member));
    if (strangers.length > 0) faults.push(`keeps names of ${strangers.join(', ')}, no member of the roster in force`);
    return faults;
  }

  /**
   * Whoever wrote what stands between two decisions, the running hash after each follows from the one before its
   * message.
   */
  *#placeFaults(decision: Decision, before: Sha384Hash): Generator<string> {
    const { network, topicId, consensusTimestamp, payer, message, runningHash } = decision;
    const { ledger } = this.#state;
    if (network !== ledger.network || topicId !== ledger.topicId) yield 'is of another ledger topic';
    const sequence = Number(decision.sequence);
    const last: TopicHead =
      this.#last === undefined
        ? { sequence: 0, runningHash: this.#state.runningHash, consensusTimestamp: null }
        : { ...this.#last, sequence: Number(this.#last.sequence) };
    if (sequence <= last.sequence) return yield `is at message ${sequence}, not after ${last.sequence}`;
    if (sequence === last.sequence + 1 && before !== last.runningHash) yield 'does not follow from the entry before it';
    const head = { sequence: sequence - 1, runningHash: before, consensusTimestamp: last.consensusTimestamp };
    const read = { sequence, consensusTimestamp, payer, message: utf8(message), runningHash: hashBytes(runningHash) };
    try {
      linkMessages(head, topicId, [read]);
    } catch (error) {
      yield reasonOf(error);
    }
  }

  *#advance(decision: Decision, named: LedgerMessage, rosterText: string | undefined): Generator<string> {
    const { federation } = this.#state;
    if (named.federation !== federation) yield 'is of another federation';
    if (!this.#isWhole) return;
    const member = memberOfAccount(this.#state, decision.payer);
    if (member === undefined) yield `was paid by ${decision.payer}, which is no member's account there`;
    switch (named.type) {
      case 'batch':
        yield* this.#decideBatch(decision, named, member);
        break;
      case 'roster':
        yield* this.#decideRoster(decision, named, rosterText);
        break;
      case 'revocation':
        yield* this.#decideRevocation(decision, named);
        break;
    }
    this.#state = { ...this.#state, size: decision.index + 1 };
  }

  *#decideBatch(
    { index }: Decision,
    { node, batch, envelope, keyId }: BatchMessage,
    member?: NodeId,
  ): Generator<string> {
    const state = this.#state;
    const origin = knownNode(state, node);
    if (origin === undefined) return yield `decides a batch of ${node}, which no roster names`;
    if (member === node && state.members[node] === undefined) yield `is by ${node}, which is no member there`;
    if (batch !== nextBatch(origin)) yield `decides batch ${node}/${batch}, where ${nextBatch(origin)} is the next`;
    if (isRevoked(state, node, keyId)) yield `decides batch ${node}/${batch} by a key that is revoked`;
    const after = { ...origin, last: { batch, envelope, index } };
    const isMember = state.members[node] !== undefined;
    this.#state = isMember
      ? { ...state, members: { ...state.members, [node]: after } }
      : { ...state, past: { ...state.past, [node]: after } };
  }

  *#decideRoster(
    { index }: Decision,
    { previous, statement }: RosterMessage,
    text: string | undefined,
  ): Generator<string> {
    if (previous !== rosterInForce(this.#state)) yield 'puts a roster in force after another than the one in force';
    if (text === undefined) return yield `puts roster ${statement} in force, whose text is not here`;
    try {
      const roster = judgeNext(nativeSuite, this.#state, text);
      this.#state = withRoster(nativeSuite, this.#state, roster, { hash: statement, index });
    } catch (error) {
      yield `puts a roster in force that breaks a rule: ${reasonOf(error)}`;
    }
  }

  *#decideRevocation({ index, consensusTimestamp }: Decision, named: RevocationMessage): Generator<string> {
    if (!mayRevoke(this.#state, named)) yield `puts a revocation of ${named.node} in force that cannot come into force`;
    this.#state = withRevocation(this.#state, named, index, consensusTimestamp);
  }
}

function readMessage({ message }: Decision): LedgerMessage | null {
  try {
    return parseLedgerMessage(message);
  } catch {
    return null;
  }
}
