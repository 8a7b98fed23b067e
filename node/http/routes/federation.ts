import { FEDERATION_EXAMPLE, FederationAnswerShape } from '../../../protocol/api/node-answers.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import type { Member } from '../../../protocol/log/roster.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Chains } from '../../log/chains.ts';
import type { Equivocations } from '../../federation/equivocations.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import type { PeerFaultCount } from '../../log/peer-faults.ts';
import type { PeerState } from '../../transport/contract.ts';
import { logState, type LogSources, topicState, type VouchingView } from '../../log/log-view.ts';
import type { FreeRoute } from '../route.ts';

export interface FederationSources {
  readonly self: NodeId;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly equivocations: Equivocations;
  readonly peers: () => readonly PeerState[];
  readonly catchingUp: () => readonly NodeId[];
  readonly faults: () => readonly PeerFaultCount[];
  readonly follower: LogSources;
  readonly vouching: VouchingView;
  /** How far each member that was asked said that it holds a node's chain. */
  readonly toldHeads: (node: NodeId) => ReadonlyMap<NodeId, number>;
}

/** `GET /v1/federation`: who belongs to it, what this node holds of each chain, who told two stories. */
export function federationRoute(sources: FederationSources): FreeRoute {
  return {
    method: 'GET',
    path: '/v1/federation',
    access: 'free',
    documentation: {
      summary: 'Who belongs to the federation, and what this node holds of each member',
      answer: { shape: FederationAnswerShape, example: FEDERATION_EXAMPLE },
      problems: [],
    },
    answer: async () => ({ body: federationAnswer(sources) }),
  };
}

/** The federation as this node knows it. */
export function federationAnswer(sources: FederationSources): JsonObject {
  const { self, keys, equivocations, catchingUp, faults, follower, vouching, toldHeads } = sources;
  const { genesis, digest, current, hash } = keys.rosters;
  const others = current.members.map(({ node }) => node).filter((node) => node !== self);
  return {
    node: self,
    federation: digest,
    fingerprint: genesis,
    name: current.name,
    roster: { version: current.version, hash, quorum: current.quorum },
    rosterContradiction: keys.currentRosters.contradiction === null ? null : { ...keys.currentRosters.contradiction },
    ledger: { ...current.ledger },
    topic: topicState(follower),
    log: logState(follower, vouching, { others, toldHeads }),
    members: current.members.map((member) => memberBody(sources, member)),
    catchingUp: [...catchingUp()],
    equivocations: equivocations.all().map(({ node, batch, stands }) => ({ node, batch, stands })),
    faults: faults().map(({ peer, fault, count, last }) => ({ peer, fault, count, last: timestampOf(last) })),
  };
}

function memberBody(
  { self, chains, peers, equivocations }: FederationSources,
  { node, region, baseUrl }: Member,
): JsonObject {
  const peer = peers().find((candidate) => candidate.node === node);
  const { batch, hash, next } = chains.head(node);
  const since = peer?.since ?? null;
  return {
    node,
    region,
    baseUrl,
    connected: node === self || peer?.connected === true,
    since: since === null ? null : timestampOf(since),
    rttMilliseconds: peer?.rtt ?? null,
    head: { batch, envelope: hash, records: next - 1 },
    trusted: !equivocations.accuses(node),
  };
}
