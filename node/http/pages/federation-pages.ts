import type { NodeId } from '../../../protocol/ids.ts';
import type { LedgerMessage } from '../../../protocol/log/message.ts';
import { timestampOfConsensus } from '../../../protocol/time.ts';
import type { Equivocations } from '../../federation/equivocations.ts';
import type { Chains } from '../../log/chains.ts';
import type { FederationLog } from '../../log/federation-log.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { logHealth, type LogSources } from '../../log/log-view.ts';
import type { FederationKeys } from '../../log/members/federation-keys.ts';
import type { Health } from '../../metrics/health-monitor.ts';
import type { FrontPage, LogPage, MemberLine } from '../../pages/page.ts';
import type { Pages } from '../../pages/pages.ts';
import type { PeerState } from '../../transport/contract.ts';
import type { PageRoute } from '../route.ts';
import { pageAnswer } from './page-answer.ts';

export interface FederationPageSources {
  readonly pages: Pages;
  readonly self: NodeId;
  readonly version: string;
  readonly now: () => number;
  readonly health: () => Health;
  readonly keys: Pick<FederationKeys, 'rosters'>;
  readonly chains: Pick<Chains, 'head'>;
  readonly equivocations: Pick<Equivocations, 'all' | 'accuses'>;
  readonly peers: () => readonly PeerState[];
  readonly federationLog: Pick<FederationLog, 'decision' | 'size' | 'root'>;
  readonly follower: LogSources;
}

/** Age of the last decision from which the log counts as late while something waits for one. In seconds. */
const LATE_SECONDS = 600;
/** Decisions that the page of the log lists. */
const NEWEST = 12;

/** `GET /`: what this node is, and how to begin. */
export function frontPageRoute(sources: FederationPageSources): PageRoute {
  return {
    method: 'GET',
    path: '/',
    access: 'free',
    isPage: true,
    async answer({ context }) {
      // Its links are relative to the folder that it stands for.
      if (!context.path.endsWith('/')) {
        return {
          status: 308,
          headers: { Location: `.${context.path.slice(context.path.lastIndexOf('/'))}/` },
          body: '',
        };
      }
      return pageAnswer(sources.pages, await frontOf(sources), './');
    },
  };
}

/** `GET /log`: the federation's log, and who signed its head. */
export function logPageRoute(sources: FederationPageSources): PageRoute {
  return {
    method: 'GET',
    path: '/log',
    access: 'free',
    isPage: true,
    answer: async () => pageAnswer(sources.pages, await logOf(sources), './'),
  };
}

async function frontOf(sources: FederationPageSources): Promise<FrontPage> {
  const { self, version, health, keys } = sources;
  const { genesis, current } = keys.rosters;
  const { fingerprintWords } = await import('../../../protocol/verdict/fingerprint-words.ts');
  const { storage, signer, ledger } = health();
  const troubles = [
    ...(storage === 'ok' || storage === 'warn' ? [] : [`storage is ${storage}`]),
    ...(signer === 'ok' ? [] : [`its signer is ${signer}`]),
    ...(ledger === 'ok' ? [] : [`the ledger is ${ledger}, which delays confirmations and refuses nothing`]),
  ];
  return {
    name: 'front',
    node: self,
    region: current.members.find(({ node }) => node === self)?.region ?? self,
    version,
    federation: current.name,
    fingerprint: genesis,
    fingerprintWords: fingerprintWords(nativeSuite, genesis).join(' '),
    quorum: current.quorum,
    ledger: `${current.ledger.network}, topic ${current.ledger.topicId}`,
    members: membersOf(sources),
    healthy: (storage === 'ok' || storage === 'warn') && signer === 'ok',
    troubles,
  };
}

async function logOf(sources: FederationPageSources): Promise<LogPage> {
  const { self, now, keys, equivocations, federationLog, follower } = sources;
  const { genesis, current } = keys.rosters;
  const { size, root } = federationLog;
  const decisions = await newestOf(federationLog);
  const lastDecisionAt = decisions[0]?.at ?? null;
  const age = lastDecisionAt === null ? null : Math.max(0, (now() - Date.parse(lastDecisionAt)) / 1000);
  const isWaiting = logHealth(follower).waitingFor !== 'nothing';
  return {
    name: 'log',
    node: self,
    federation: current.name,
    fingerprint: genesis,
    ledger: current.ledger.network,
    topicId: current.ledger.topicId,
    size,
    rootHash: size === 0 ? null : root,
    lastDecisionAt,
    decisions,
    lastDecisionAgeSeconds: age,
    isLate: isWaiting && age !== null && age > LATE_SECONDS,
    members: membersOf(sources),
    checkpoints: follower.checkpointStore.all().map(({ checkpoint: { node, size: covered } }) => ({
      node,
      size: covered,
      current: covered === size,
    })),
    misdeeds: equivocations.all().map(({ node, batch, stands }) => ({ node, batch, stands })),
  };
}

/** The newest decisions, and what each is on. */
async function newestOf(log: Pick<FederationLog, 'decision' | 'size'>): Promise<LogPage['decisions']> {
  const indexes = Array.from({ length: Math.min(NEWEST, log.size) }, (_, i) => log.size - 1 - i);
  const logged = await Promise.all(indexes.map((index) => log.decision(index)));
  return logged.flatMap((found) => {
    if (found === undefined) return [];
    const { decision, named } = found;
    return [{ index: decision.index, what: subjectOf(named), at: timestampOfConsensus(decision.consensusTimestamp) }];
  });
}

function subjectOf(named: LedgerMessage): string {
  return named.type === 'batch' ? `batch ${named.batch} of ${named.node}` : named.type;
}

function membersOf({ self, keys, chains, peers, equivocations }: FederationPageSources): readonly MemberLine[] {
  const connected = new Set(peers().flatMap((peer) => (peer.connected ? [peer.node] : [])));
  return keys.rosters.current.members.map(({ node, region, baseUrl }) => {
    const { batch, next } = chains.head(node);
    return {
      node,
      region,
      baseUrl,
      connected: node === self || connected.has(node),
      trusted: !equivocations.accuses(node),
      records: next - 1,
      batch,
    };
  });
}
