import type { Logger } from 'pino';
import { timestampOf } from '../../protocol/time.ts';
import type { AccountServices } from '../accounts/account-services.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { AnchoringConfig } from '../anchoring/ledger/config.ts';
import type { NodeConfig } from '../config/config.ts';
import type { Equivocations } from '../federation/equivocations.ts';
import { FederationSync } from '../federation/federation.ts';
import { Leaving } from '../federation/leaving.ts';
import { FEDERATION_LIMITS } from '../federation/limits.ts';
import { LogFollower } from '../federation/log-follower.ts';
import { firstMembers } from '../federation/own-membership.ts';
import { PublicNode } from '../federation/public-node.ts';
import { RosterVotes } from '../federation/roster-votes.ts';
import { OwnNames } from '../federation/start/node-start.ts';
import { StartAnswers } from '../federation/start/start-answers.ts';
import { StatementNamer } from '../federation/statement-namer.ts';
import type { GovernanceServices } from '../governance/governance-services.ts';
import type { SigningKey } from '../keys/signing-key.ts';
import type { Chains } from '../log/chains.ts';
import { decidedBy } from '../log/decided-batches.ts';
import type { FederationLog } from '../log/federation-log.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { Rescue } from '../log/rescue.ts';
import { Vouching } from '../log/vouching.ts';
import { sealingKeysOf } from '../records/chain-tables.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/contract.ts';
import { createTransport } from '../transport/transport.ts';
import type { Connections } from './connections.ts';
import type { Secrets } from './key-services.ts';
import type { Overrides } from './overrides.ts';
import type { Parts } from './parts.ts';

/** What makes a node a member: it talks to the others, follows the ledger, and votes, names, rescues and vouches. */
export interface FederationServices extends AsyncDisposable {
  readonly transport: Transport;
  readonly federation: FederationSync;
  /** The federation's log, built from the ledger. */
  readonly follower: LogFollower;
  readonly names: OwnNames;
  /** What it told others at their starts, and may name in their place. */
  readonly starts: StartAnswers;
  readonly rosterVotes: RosterVotes;
  /** Names on the ledger what this member wants in force. */
  readonly namer: StatementNamer;
  readonly rescue: Rescue;
  readonly vouching: Vouching;
}

export interface FederationServicesOptions {
  readonly config: Pick<NodeConfig, 'id' | 'peerListen'>;
  readonly ledger: AnchoringConfig;
  readonly own: Secrets;
  readonly signing: SigningKey;
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly federationLog: FederationLog;
  readonly equivocations: Equivocations;
  readonly anchoring: Anchoring;
  readonly people: Pick<AccountServices, 'statements'>;
  readonly governance: GovernanceServices;
  readonly parts: Parts;
  readonly connections: Connections;
  readonly overrides: Pick<Overrides, 'leaving' | 'rescue'>;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Logger;
}

/** Opens them, each once those that it needs are there, and adds them to the node's parts. */
export async function openFederationServices(options: FederationServicesOptions): Promise<FederationServices> {
  const { config, ledger, own, signing, store, keys, chains, federationLog, anchoring } = options;
  const { parts, connections, overrides, now, log } = options;
  const self = config.id;
  await using opening = new AsyncDisposableStack();
  const transport = createTransport({
    self,
    seed: own.peerSeed,
    listen: config.peerListen,
    digest: keys.rosters.digest,
    members: firstMembers(keys.rosters, self),
    ...connections.transport(),
    log: log.child({ component: 'transport' }),
    limits: FEDERATION_LIMITS,
  });
  const federation = opening.use(
    new FederationSync({
      ...options,
      self,
      ...signing.terms(now),
      decided: decidedBy(() => federationLog),
      transport,
      askRosters: (url, from, signal) => new PublicNode(url, { now, signal }).rosters(from),
      ...connections.federation(options.people, options.governance),
      outbox: anchoring,
    }),
  );
  parts.add({ federation });
  const names = await OwnNames.open(store, self);
  const follower = opening.use(
    await LogFollower.open({
      ...options,
      self,
      ...signing.terms(now),
      config: ledger,
      transport,
      faults: federation.faults,
      findRoster: (hash) => federation.findRoster(hash),
      clock: now,
      ...connections.follower(names),
    }),
  );
  parts.add({ follower });
  const { checkpointStore } = follower;
  const leaving = new Leaving({
    ...options,
    ...overrides.leaving,
    currentRosters: keys.currentRosters,
    checkpoints: checkpointStore,
  });
  const starts = await StartAnswers.open({ store, chains, checkpointStore }, keys.rosters.nodes);
  parts.add({ leaving, starts });
  const rosterVotes = new RosterVotes({
    self,
    store,
    federationLog,
    identity: own.identity,
    now: () => timestampOf(now()),
    onVote: () => parts.get('namer').name(),
  });
  const namer = opening.use(
    new StatementNamer({
      ...options,
      self,
      votes: rosterVotes,
      sealingKeys: (node) => sealingKeysOf(store, node),
      witnessingKeys: (node) => checkpointStore.of(node).map(({ checkpoint }) => checkpoint.keyId),
      ensure: (statement, terms) => anchoring.ensureStatement(statement, timestampOf(now()), terms),
    }),
  );
  parts.add({ namer });
  const rescue = opening.use(
    await Rescue.open({
      ...options,
      self,
      readingState: () => follower.readingState(),
      mayRescue: (node, batch) => starts.mayRescue(node, batch),
      removalTime: (node) => leaving.removalTime(node),
      ensure: (batch) => anchoring.ensureRescue(batch),
      ...overrides.rescue,
    }),
  );
  parts.add({ rescue });
  const vouching = opening.use(await Vouching.open({ ...options, self, ...connections.vouching() }));
  parts.add({ vouching });
  const opened = opening.move();
  return {
    transport,
    federation,
    follower,
    names,
    starts,
    rosterVotes,
    namer,
    rescue,
    vouching,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
