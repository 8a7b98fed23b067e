import type { LogHealth, LogState, TopicState } from '../../protocol/api/log-state.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { timestampOf } from '../../protocol/time.ts';
import type { TopicReadingState } from '../anchoring/topic/reading-state.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { shownFalse } from './contradiction.ts';
import type { FederationLog } from './federation-log.ts';
import type { LackedBatch, Vouching } from './vouching.ts';

/** What is asked of those that build the log. */
export interface LogSources {
  readonly federationLog: Pick<FederationLog, 'size' | 'root'>;
  readonly checkpointStore: Pick<CheckpointStore, 'all' | 'contradicted'>;
  readonly readingState: () => TopicReadingState;
  /** The roster that the log waits for, which is in force and not here. */
  readonly needsRoster: Sha256Hash | null;
  /** Most members, where they contradict the own tree. */
  readonly contradictedBy: readonly NodeId[];
}

export type VouchingView = Pick<Vouching, 'closed' | 'lacking' | 'underived' | 'vouched'>;

/** The other members of the roster in force, and how far each that was asked said that it holds a node's chain. */
export interface AskedMembers {
  readonly others: readonly NodeId[];
  readonly toldHeads: (node: NodeId) => ReadonlyMap<NodeId, number>;
}

const NOBODY: AskedMembers = { others: [], toldHeads: () => new Map() };

/** What `/v1/health` says of the log: who is contradicted by what is known here, and what is waited for. */
export function logHealth(sources: LogSources): LogHealth {
  const { federationLog, checkpointStore } = sources;
  const reading = sources.readingState();
  const accused = shownFalse(checkpointStore, sources.contradictedBy).map(({ checkpoint }) => checkpoint.node);
  return {
    size: federationLog.size,
    root: federationLog.root,
    waitingFor: waitingFor(sources, reading),
    contradictions: contradictions(reading),
    falseCheckpoints: [...new Set(accused)].toSorted(),
    contradictedBy: [...sources.contradictedBy],
  };
}

/** What `/v1/federation` says of the ledger's topic. */
export function topicState(sources: LogSources): TopicState {
  const reading = sources.readingState();
  const { position, final, agreed, sources: mirrors, consensus, members, secondSourceSince } = reading;
  return {
    processed: position.sequence,
    final: { ...final },
    agreed: { ...agreed },
    waitingFor: waitingFor(sources, reading),
    waitingSince: timeOf(secondSourceSince),
    mirrors: mirrors.map(({ host, position: at, lastAnswerAt, failure }) => ({
      host,
      position: at,
      lastAnswer: timeOf(lastAnswerAt),
      answers: failure === null,
    })),
    consensus: consensus && { lastAnswer: timeOf(consensus.lastAnswerAt), answers: consensus.failure === null },
    told: Object.fromEntries(members.map(({ member, sequence }) => [member, sequence])),
    contradictions: contradictions(reading),
  };
}

/** What `/v1/federation` says of the log, and of who signed its head. */
export function logState(
  { federationLog, checkpointStore, needsRoster, contradictedBy }: LogSources,
  vouching: VouchingView,
  asked: AskedMembers = NOBODY,
): LogState {
  const { size, root } = federationLog;
  return {
    size,
    root,
    needsRoster,
    vouched: Object.fromEntries(vouching.vouched()),
    underived: vouching.underived.map(({ node, batch, code }) => ({ node, batch, code })),
    lacking: vouching.lacking.map((lacked) => lackedAnswer(lacked, asked)),
    closed: [...vouching.closed],
    checkpoints: checkpointStore.all().map(({ checkpoint: { node, keyId, size: covered } }) => ({
      node,
      keyId,
      size: covered,
      behind: size - covered,
    })),
    falseCheckpoints: shownFalse(checkpointStore, contradictedBy).map(({ checkpoint }) => ({
      node: checkpoint.node,
      keyId: checkpoint.keyId,
      size: checkpoint.size,
      root: checkpoint.root,
    })),
  };
}

function lackedAnswer(
  { node, batch, since }: LackedBatch,
  { others, toldHeads }: AskedMembers,
): LogState['lacking'][number] {
  const told = toldHeads(node);
  const without = others.filter((member) => (told.get(member) ?? batch) < batch);
  return { node, batch, since, without, unasked: others.filter((member) => !told.has(member)) };
}

function waitingFor({ needsRoster }: LogSources, reading: TopicReadingState): LogHealth['waitingFor'] {
  return needsRoster === null ? reading.waitingFor : 'roster';
}

function contradictions({ sources, consensus, members }: TopicReadingState): LogHealth['contradictions'] {
  const all = [...sources, ...members, ...(consensus === null ? [] : [consensus])];
  return all.flatMap(({ contradiction }) => (contradiction === null ? [] : [{ ...contradiction }]));
}

function timeOf(epochMilliseconds: number | null) {
  return epochMilliseconds === null ? null : timestampOf(epochMilliseconds);
}
