import type { Logger } from 'pino';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { knownNode } from '../../protocol/log/decision-state.ts';
import type { AccountStore } from '../accounts/account-store.ts';
import { AccountVersions } from '../accounts/elsewhere/account-versions.ts';
import { ForeignAccounts } from '../accounts/elsewhere/foreign-accounts.ts';
import { HeldStatements } from '../accounts/elsewhere/held-statements.ts';
import { StatementFollower } from '../accounts/elsewhere/statement-follower.ts';
import type { NodeConfig } from '../config/config.ts';
import type { Chains } from '../log/chains.ts';
import type { RecordsOfOthers } from '../federation/chain-assembler.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import type { RecordExchange } from '../verification/record-exchange.ts';
import type { Transport } from '../transport/contract.ts';
import { decidedBy } from '../log/decided-batches.ts';
import type { FederationLog } from '../log/federation-log.ts';
import type { Store } from '../store/store.ts';

/** Accounts whose home is another node. */
export interface ForeignServices {
  readonly foreign: ForeignAccounts;
  readonly foreignStatements: StatementFollower;
}

interface ForeignServicesOptions {
  readonly config: Pick<NodeConfig, 'id' | 'foreignTier'>;
  readonly store: Store;
  readonly federationLog: FederationLog;
  readonly chains: Chains;
  readonly log: Logger;
}

/** What this store tells of them. */
export function openForeignServices({ config, store, federationLog, chains, log }: ForeignServicesOptions): {
  readonly foreign: ForeignAccounts;
  readonly versions: AccountVersions;
} {
  const { envelopeOf } = decidedBy(() => federationLog);
  const lastDecided = (node: NodeId) => knownNode(federationLog.state, node)?.last?.batch ?? 0;
  const versions = new AccountVersions({ store, envelopeOf, lastDecided, lastHeld: (node) => chains.head(node).batch });
  const foreign = new ForeignAccounts({ self: config.id, store, versions, foreignTier: config.foreignTier, log });
  return { foreign, versions };
}

interface FollowerOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly versions: AccountVersions;
  readonly accounts: { readonly accountStore: Pick<AccountStore, 'forgetKeys'> };
  readonly transport: Pick<Transport, 'onConnect' | 'peers'>;
  readonly askStatement: RecordExchange['askStatement'];
  readonly federation: { readonly faults: Pick<PeerFaults, 'note'> };
  readonly random: () => number;
  readonly log: Logger;
}

/** What gets the statements of such accounts. */
export async function openStatementFollower(options: FollowerOptions): Promise<StatementFollower> {
  const { store, accounts, transport, askStatement, federation } = options;
  const follower = new StatementFollower({
    ...options,
    held: await HeldStatements.open(store),
    ask: askStatement,
    connected: () => transport.peers().flatMap(({ node, connected }) => (connected ? [nodeId(node)] : [])),
    onForged: (member) => federation.faults.note(member, 'forged'),
    onChange: () => accounts.accountStore.forgetKeys(),
  });
  transport.onConnect(() => follower.noteConnected());
  return follower;
}

/** Hands on to who goes by refusals of keys of the accounts here, and to a follower that is opened later. */
export function toldLater(statements: RecordsOfOthers, follower: () => StatementFollower): RecordsOfOthers {
  return {
    rowsOf: (records) => [...statements.rowsOf(records), ...follower().rowsOf(records)],
    onWritten(records) {
      statements.onWritten(records);
      follower().onWritten(records);
    },
  };
}
