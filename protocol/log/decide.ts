import { decodeUtf8 } from '../bytes.ts';
import { hashText, type Sha256Hash, type Sha384Hash } from '../hash.ts';
import type { EntityId, NodeId } from '../ids.ts';
import type { Suite } from '../suite/suite.ts';
import type { ConsensusTimestamp } from '../time.ts';
import type { Decision } from './decision.ts';
import {
  type DecisionState,
  isRevoked,
  knownNode,
  memberOfAccount,
  nextBatch,
  type NodeState,
  rosterInForce,
} from './decision-state.ts';
import { mayRevoke, withRevocation, withRoster } from './in-force.ts';
import {
  type BatchMessage,
  type LedgerMessage,
  MAX_MESSAGE_BYTES,
  parseLedgerMessage,
  type RevocationMessage,
  type RosterMessage,
} from './message.ts';
import {
  batchSupport,
  nameBatch,
  nameRevocation,
  nameRoster,
  revocationSupport,
  rosterSupport,
  withoutBatchesOf,
  withoutRoster,
} from './open-names.ts';
import { type Roster } from './roster.ts';
import { RosterError } from './roster-error.ts';
import { judgeNext } from './roster-rules.ts';

/**
 * A final message of the federation's topic (protocol §3). Its running hash was derived by the reader, not taken over.
 */
export interface TopicMessage {
  /** From 1, without gap. */
  readonly sequence: number;
  readonly consensusTimestamp: ConsensusTimestamp;
  readonly payer: EntityId;
  readonly message: Uint8Array;
  /** Of the topic after this message. */
  readonly runningHash: Sha384Hash;
}

/**
 * A node's own account names a number again that was decided, by a key that is not revoked. Two envelopes that the node
 * signed for one number prove its fault; this only says where to look, and changes no decision.
 */
export interface Rival {
  readonly node: NodeId;
  readonly batch: number;
  readonly envelope: Sha256Hash;
  readonly keyId: Sha256Hash;
  readonly sequence: number;
  readonly consensusTimestamp: ConsensusTimestamp;
  /**
   * The envelope that was decided, another one. Null for a number before the node's last, whose envelope the state does
   * not keep: there it is a rival only where the log has another.
   */
  readonly decided: Sha256Hash | null;
}

/** What a message did. `named` is what the message of a decision says. */
export type DecideOutcome =
  | {
      readonly kind: 'decided';
      readonly decision: Decision;
      readonly named: LedgerMessage;
      readonly state: DecisionState;
    }
  | { readonly kind: 'undecided'; readonly state: DecisionState; readonly rival?: Rival }
  /** Nothing was read: this same message is given again once the text of that hash is at hand. */
  | { readonly kind: 'needs-roster'; readonly statement: Sha256Hash };

export class DecideError extends Error {
  override readonly name = 'DecideError';
  readonly code: 'out-of-order' | 'wrong-roster-text';

  constructor(code: DecideError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** Text of the roster that has this hash, where it is at hand. */
export type RosterTexts = (hash: Sha256Hash) => string | undefined;

type Hashing = Pick<Suite, 'sha256Hex'>;

/** A message that counts: who named what, and the state with its place as read. */
interface Counted<Named extends LedgerMessage> {
  readonly state: DecisionState;
  readonly message: TopicMessage;
  readonly text: string;
  readonly member: NodeId;
  readonly named: Named;
}

/**
 * Turns the next final message of the topic into at most one decision (protocol §2). Depends on its arguments alone;
 * costs the members of the roster in force at most. The state that is given stays as it is.
 *
 * A name that can decide nothing where it stands (another number than the next, a revoked key, another roster than that
 * in force as the one before) leaves nothing: it neither waits nor takes the place of what its member named before.
 *
 * A roster text is asked for only where a majority names that roster, so that the log waits for no other; what the text
 * says depends on its hash alone, so when it comes to hand changes no decision. A majority that names a roster which
 * breaks a rule decides nothing, and its names of that roster fall.
 *
 * Throws `DecideError`: `out-of-order` where the message is not the next one, `wrong-roster-text` where a text that was
 * given is not of the hash that was asked for.
 */
export function decide(
  suite: Hashing,
  before: DecisionState,
  message: TopicMessage,
  rosterTexts: RosterTexts,
): DecideOutcome {
  const { sequence, runningHash, payer } = message;
  if (sequence !== before.sequence + 1) {
    throw new DecideError('out-of-order', `message ${sequence} was given, ${before.sequence + 1} is the next`);
  }
  const state = { ...before, sequence, runningHash };
  const member = memberOfAccount(state, payer);
  if (member === undefined) return undecided(state);
  const text = readText(message.message);
  const named = text === null ? null : readNamed(text);
  if (text === null || named?.federation !== state.federation) return undecided(state);
  const counted = { state, message, text, member };
  switch (named.type) {
    case 'batch':
      return named.node === member ? ownBatch({ ...counted, named }) : rescuedBatch({ ...counted, named });
    case 'roster':
      return nextRoster(suite, { ...counted, named }, rosterTexts);
    case 'revocation':
      return revocation({ ...counted, named });
  }
}

function undecided(state: DecisionState): DecideOutcome {
  return { kind: 'undecided', state };
}

function readText(bytes: Uint8Array): string | null {
  if (bytes.length > MAX_MESSAGE_BYTES) return null;
  try {
    return decodeUtf8(bytes);
  } catch {
    return null;
  }
}

function readNamed(text: string): LedgerMessage | null {
  try {
    return parseLedgerMessage(text);
  } catch {
    return null;
  }
}

/** By its own node: the first name of the next number decides. */
function ownBatch(counted: Counted<BatchMessage>): DecideOutcome {
  const { state, named, member } = counted;
  const origin = state.members[member];
  if (origin === undefined || isRevoked(state, member, named.keyId)) return undecided(state);
  if (named.batch === nextBatch(origin)) return decideBatch(counted, origin);
  const rival = named.batch < nextBatch(origin) ? rivalOf(counted, origin) : null;
  return rival === null ? undecided(state) : { kind: 'undecided', state, rival };
}

function rivalOf({ named, message }: Counted<BatchMessage>, { last }: NodeState): Rival | null {
  const { node, batch, envelope, keyId } = named;
  const decided = last?.batch === batch ? last.envelope : null;
  if (decided === envelope) return null;
  const { sequence, consensusTimestamp } = message;
  return { node, batch, envelope, keyId, sequence, consensusTimestamp, decided };
}

/**
 * By others, also of a node that the roster in force names no more: a majority that names the next number alike. What a
 * removed node's own accounts pay for counts no more, so this is how its last batches are decided, one after another.
 */
function rescuedBatch(counted: Counted<BatchMessage>): DecideOutcome {
  const { state, named, member } = counted;
  const origin = knownNode(state, named.node);
  if (origin === undefined || named.batch !== nextBatch(origin)) return undecided(state);
  if (isRevoked(state, named.node, named.keyId)) return undecided(state);
  const open = nameBatch(state.open, member, named);
  if (batchSupport(open, named) < state.majority) return undecided({ ...state, open });
  return decideBatch(counted, origin);
}

function decideBatch(counted: Counted<BatchMessage>, origin: NodeState): DecideOutcome {
  const { state, named } = counted;
  const { node, batch, envelope } = named;
  const after = { ...origin, last: { batch, envelope, index: state.size } };
  const open = withoutBatchesOf(state.open, node);
  const isMember = state.members[node] !== undefined;
  const nodes = isMember
    ? { members: { ...state.members, [node]: after } }
    : { past: { ...state.past, [node]: after } };
  return decidedBy(counted, { ...state, ...nodes, open });
}

function nextRoster(suite: Hashing, counted: Counted<RosterMessage>, rosterTexts: RosterTexts): DecideOutcome {
  const { state, named, member } = counted;
  const { statement } = named;
  if (named.previous !== rosterInForce(state)) return undecided(state);
  const open = nameRoster(state.open, member, statement);
  if (rosterSupport(open, statement) < state.majority) return undecided({ ...state, open });
  const text = rosterTexts(statement);
  if (text === undefined) return { kind: 'needs-roster', statement };
  const roster = readRoster(suite, state, statement, text);
  if (roster === null) return undecided({ ...state, open: withoutRoster(open, statement) });
  return decidedBy(counted, withRoster(suite, state, roster, { hash: statement, index: state.size }));
}

/** Null for one that cannot come into force. */
function readRoster(suite: Hashing, state: DecisionState, hash: Sha256Hash, text: string): Roster | null {
  if (!text.isWellFormed() || hashText(suite, text) !== hash) {
    throw new DecideError('wrong-roster-text', `the text that was given is not that of roster ${hash}`);
  }
  try {
    return judgeNext(suite, state, text);
  } catch (error) {
    if (error instanceof RosterError) return null;
    throw error;
  }
}

function revocation(counted: Counted<RevocationMessage>): DecideOutcome {
  const { state, named, member, message } = counted;
  if (!mayRevoke(state, named)) return undecided(state);
  const open = nameRevocation(state.open, member, named);
  if (revocationSupport(open, named) < state.majority) return undecided({ ...state, open });
  return decidedBy(counted, withRevocation({ ...state, open }, named, state.size, message.consensusTimestamp));
}

function decidedBy(counted: Counted<LedgerMessage>, after: DecisionState): DecideOutcome {
  const { state, message, text, named } = counted;
  const { network, topicId } = state.ledger;
  const { sequence, consensusTimestamp, payer, runningHash } = message;
  const decision: Decision = {
    v: 1,
    type: 'decision',
    index: state.size,
    network,
    topicId,
    sequence: String(sequence),
    consensusTimestamp,
    payer,
    message: text,
    runningHash,
  };
  return { kind: 'decided', decision, named, state: { ...after, size: state.size + 1 } };
}
