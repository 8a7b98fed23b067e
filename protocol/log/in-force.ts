import { hashText, writeSha384 } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { INITIAL_RUNNING_HASH } from '../ledger/running-hash.ts';
import type { Suite } from '../suite/suite.ts';
import type { ConsensusTimestamp } from '../time.ts';
import {
  type DecisionState,
  isRevoked,
  knownNode,
  MAX_REVOCATIONS_OF_KEY,
  MAX_REVOKED_KEYS,
  type NodeState,
  type OpenRevocation,
} from './decision-state.ts';
import { withoutKey, withoutRevocations } from './open-names.ts';
import { majorityOf, type Roster } from './roster.ts';
import { identityKeyId, judgeGenesis } from './roster-rules.ts';

type Hashing = Pick<Suite, 'sha256Hex'>;

/**
 * The state before the first message of the topic that a genesis roster names. That all its members signed it is for
 * anyone who was given it to check: the ledger does not name it. Throws `RosterError` on a roster that is no genesis.
 */
export function initialState(suite: Hashing, genesisText: string): DecisionState {
  const roster = judgeGenesis(genesisText);
  const federation = hashText(suite, genesisText);
  const empty: DecisionState = {
    v: 1,
    type: 'decision-state',
    federation,
    ledger: roster.ledger,
    rosters: [],
    majority: 1,
    members: {},
    past: {},
    accounts: {},
    open: {},
    revoked: {},
    size: 0,
    sequence: 0,
    runningHash: writeSha384(INITIAL_RUNNING_HASH),
  };
  return withRoster(suite, empty, roster, { hash: federation, index: null });
}

/**
 * The state once a roster that may follow is in force. Its members go on with the numbers that they have, also after
 * rosters without them; who is named no more keeps its own, so that its last batches can be rescued. All open names
 * fall.
 */
export function withRoster(
  suite: Hashing,
  state: DecisionState,
  roster: Roster,
  place: DecisionState['rosters'][number],
): DecisionState {
  const members: Record<NodeId, NodeState> = {};
  const accounts = { ...state.accounts };
  for (const member of roster.members) {
    const before = knownNode(state, member.node);
    const keyId = identityKeyId(suite, member);
    const identityKeys = [...(before?.identityKeys ?? []).filter((key) => key !== keyId), keyId];
    members[member.node] = { accounts: member.accounts, identityKeys, last: before?.last ?? null };
    for (const account of member.accounts) accounts[account] = member.node;
  }
  const known = Object.entries({ ...state.past, ...state.members });
  const past = Object.fromEntries(known.filter(([node]) => !Object.hasOwn(members, node)));
  const rosters = [...state.rosters, place];
  return { ...state, rosters, majority: majorityOf(roster), members, past, accounts, open: {} };
}

/** Whether the log names this revocation: it is in force, or a member of the roster in force has named it. */
export function isRevocationNamed(
  { revoked, open }: DecisionState,
  { node, keyId, statement }: OpenRevocation,
): boolean {
  if (revoked[node]?.[keyId]?.some((one) => one.statement === statement) === true) return true;
  return Object.values(open).some(({ revocations }) => revocations.some((name) => name.statement === statement));
}

/** Whether this revocation can come into force: its node is known, it is not in force yet, and there is room for it. */
export function mayRevoke(state: DecisionState, { node, keyId, statement }: OpenRevocation): boolean {
  if (knownNode(state, node) === undefined) return false;
  const keys = state.revoked[node] ?? {};
  const revocations = keys[keyId];
  if (revocations === undefined) return Object.keys(keys).length < MAX_REVOKED_KEYS;
  if (revocations.some((one) => one.statement === statement)) return false;
  return revocations.length < MAX_REVOCATIONS_OF_KEY;
}

/**
 * The state once a revocation is in force at that place of the log. Open names that can decide nothing any more fall:
 * of batches by the key, of this revocation, and of such as there is no room for.
 */
export function withRevocation(
  state: DecisionState,
  name: OpenRevocation,
  index: number,
  consensusTimestamp: ConsensusTimestamp,
): DecisionState {
  const { node, keyId, statement } = name;
  const keys = state.revoked[node] ?? {};
  const revocations = [...(keys[keyId] ?? []), { statement, index, consensusTimestamp }];
  const revoked = { ...state.revoked, [node]: { ...keys, [keyId]: revocations } };
  const next = { ...state, revoked };
  const batches = isRevoked(state, node, keyId) ? state.open : withoutKey(state.open, node, keyId);
  const open = withoutRevocations(batches, (other) => other.node === node && !mayRevoke(next, other));
  return { ...next, open };
}
