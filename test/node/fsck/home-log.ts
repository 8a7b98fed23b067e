import type { FederationKeys } from '../../../node/log/members/federation-keys.ts';
import type { NodeKeys } from '../../../node/keys/node-keys.ts';
import { CheckpointStore } from '../../../node/log/checkpoint-store.ts';
import { identityKeysOf } from '../../../node/log/checkpoint-standing.ts';
import type { KnownCheckpoint } from '../../../node/log/known-checkpoint.ts';
import { FederationLog } from '../../../node/log/federation-log.ts';
import { logRosters } from '../../../node/log/log-rosters.ts';
import type { Store } from '../../../node/store/store.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import { nodeId, type NodeId } from '../../../protocol/ids.ts';
import { type Checkpoint, checkpointStatement } from '../../../protocol/log/checkpoint.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import { type LedgerMessage, writeLedgerMessage } from '../../../protocol/log/message.ts';
import { rosterStatement } from '../../../protocol/log/roster.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import type { Signer } from '../../../protocol/suite/suite.ts';
import { accountOf } from '../../fixtures/federation-member.ts';
import type { TestTopic } from '../../fixtures/federation-topic.ts';
import { hashOf } from '../../protocol/log/topic.ts';
import { readBack } from './home-anchors.ts';

/** Batches of a member that are decided and not held: with the others they fill more than one tile. */
const DECIDED_AHEAD = 260;

export interface LogOfHome {
  readonly store: Store;
  readonly keys: FederationKeys;
  /** Text of the second roster. */
  readonly next: string;
  readonly topic: TestTopic;
  readonly members: ReadonlyMap<NodeId, NodeKeys>;
  /** Of the topic, so far. */
  readonly messages: readonly TopicMessage[];
  readonly now: () => number;
}

/**
 * The log that the topic makes: batches of all three, of `ca` many that are not here; the revocation; the second
 * roster, which two name; a name of `ca` beside one that was decided; checkpoints of two members at different sizes,
 * and a false one of the third.
 */
export async function addLog({ store, keys, next, topic, members, messages, now }: LogOfHome): Promise<void> {
  const { genesis: federation, hash: previous, signedGenesis } = keys.rosters;
  const federationLog = await FederationLog.open(store, signedGenesis.statement);
  const said = (node: NodeId, message: LedgerMessage) =>
    readBack(topic.submit(writeLedgerMessage(message), now(), accountOf(node)));
  const ca = nodeId('ca');
  const ahead = Array.from({ length: DECIDED_AHEAD }, (_, i): LedgerMessage => {
    const batch = i + 1;
    return {
      v: 2,
      type: 'batch',
      federation,
      node: ca,
      batch,
      envelope: hashOf(`ca-${batch}`),
      keyId: hashOf('key of ca'),
    };
  });
  const roster: LedgerMessage = {
    v: 2,
    type: 'roster',
    federation,
    previous,
    statement: await federationLog.keepRoster(next),
  };
  const rival: LedgerMessage = {
    v: 2,
    type: 'batch',
    federation,
    node: ca,
    batch: 5,
    envelope: hashOf('a rival'),
    keyId: hashOf('key of ca'),
  };
  const more = [
    ...[...ahead, rival].map((message) => said(ca, message)),
    said(nodeId('eu'), roster),
    said(nodeId('us'), roster),
  ];
  await federationLog.take([...messages, ...more]);
  if (federationLog.state.rosters.length !== 2) throw new Error('the second roster is not in force');
  await addCheckpoints({ store, keys, members }, federationLog);
}

async function addCheckpoints(
  { store, keys, members }: Pick<LogOfHome, 'keys' | 'members' | 'store'>,
  log: FederationLog,
): Promise<void> {
  const texts = await Promise.all(log.state.rosters.map(({ hash }) => log.rosterText(hash)));
  const rosters = texts.map((text) => rosterStatement.parse(text ?? ''));
  const checkpointStore = await CheckpointStore.open(store, log, {
    rosters: () => logRosters(log.state, { rosters }),
    stands: () => true,
    identityKeysOf: (checkpoint) => identityKeysOf(keys, checkpoint),
  });
  for (const [node, { signer }] of members) {
    const size = node === 'eu' ? log.size : log.size - 5;
    const root = node === 'ca' ? hashOf('another tree') : await log.rootAt(size);
    await checkpointStore.learn(await signCheckpoint(log.state.federation, node, signer, size, root));
  }
}

/** A checkpoint that vouches for nothing. */
async function signCheckpoint(
  federation: Sha256Hash,
  node: NodeId,
  signer: Signer,
  size: number,
  root: Sha256Hash,
  vouched: Checkpoint['vouched'] = {},
): Promise<KnownCheckpoint> {
  const checkpoint: Checkpoint = {
    v: 1,
    type: 'checkpoint',
    federation,
    node,
    keyId: signer.keyId,
    size,
    root,
    vouched,
  };
  const { statement, signature } = await signStatement(checkpointStatement, checkpoint, signer);
  return { checkpoint, signed: { text: statement, signature } };
}
