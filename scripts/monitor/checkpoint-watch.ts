import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { neededWitnesses } from '../../protocol/log/roster.ts';
import { signatureHolds, StatementError } from '../../protocol/statement/statement.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { CheckpointStore } from '../../node/log/checkpoint-store.ts';
import { type KnownCheckpoint, readCheckpoint } from '../../node/log/known-checkpoint.ts';
import { contradictingMajority, shownFalse } from '../../node/log/contradiction.ts';
import type { FederationLog } from '../../node/log/federation-log.ts';
import type { Alerts } from './alerts.ts';
import type { KeptLog } from './kept-log.ts';
import type { Retraction } from './monitor-store.ts';
import type { StatementWatch } from './statement-watch.ts';
import { FalseAnswerError, type WatchedNodes } from './watched-nodes.ts';

export interface CheckpointWatchOptions {
  readonly log: FederationLog;
  readonly kept: KeptLog;
  readonly checkpointStore: CheckpointStore;
  readonly statements: StatementWatch;
  readonly nodes: WatchedNodes;
  readonly alerts: Alerts;
  readonly now: () => number;
}

interface CheckpointWatchState {
  readonly ahead: Readonly<Record<string, number>>;
  readonly retractions: readonly Retraction[];
}

/** Checkpoints of one answer whose signatures are checked: two of each member of the largest roster. */
const MAX_CHECKED = 512;

/** Compares the checkpoints that every node shows with the monitor's own tree, and with each other. */
export class CheckpointWatch {
  readonly #options: CheckpointWatchOptions;
  /** By member: one that it signed for a larger tree than the monitor's, and since when there is such. */
  readonly #ahead = new Map<NodeId, { readonly known: KnownCheckpoint; readonly since: number }>();
  readonly #since: Map<string, number>;
  readonly #retractions: Map<NodeId, Retraction>;
  /** Hashes of those that were judged: a signature is checked once. Forgotten round by round. */
  #judged = new Set<Sha256Hash>();

  constructor(options: CheckpointWatchOptions, { ahead, retractions }: CheckpointWatchState) {
    this.#options = options;
    this.#since = new Map(Object.entries(ahead));
    this.#retractions = new Map(retractions.map((retraction) => [retraction.node, retraction]));
  }

  state(): { ahead: Record<string, number>; retractions: Retraction[] } {
    const ahead = Object.fromEntries([...this.#ahead].map(([node, { since }]) => [node, since]));
    return { ahead, retractions: [...this.#retractions.values()] };
  }

  /** Asks every node for the checkpoints that it holds of all members, and judges those that are new. */
  async read(): Promise<void> {
    const { nodes } = this.#options;
    await this.#reconsider();
    const before = this.#judged;
    this.#judged = new Set();
    for (const { node } of nodes.answering) {
      await nodes.ask(node, async () => {
        const shown = await node.checkpoints();
        for (const signed of shown.slice(0, MAX_CHECKED)) {
          const name = hashText(nativeSuite, `${signed.signature} ${signed.text}`);
          if (!before.has(name) && !this.#judged.has(name) && !(await this.#judge(signed))) continue;
          this.#judged.add(name);
        }
      });
    }
  }

  /**
   * Of a node, the last batch that as many members of the roster in force vouch for as it takes, besides the node
   * itself unless it is the only one.
   */
  confirmed(node: NodeId): number {
    const { roster } = this.#options.statements;
    const others = roster.members.filter((member) => member.node !== node || roster.members.length === 1);
    const vouched = others.map((member) => this.counted(member.node)?.checkpoint.vouched[node] ?? 0);
    return vouched.sort((a, b) => b - a)[neededWitnesses(roster) - 1] ?? 0;
  }

  /** The newest checkpoint of a member that counts: it agrees with the own tree, by a key that counts there. */
  counted(node: NodeId): KnownCheckpoint | undefined {
    const { checkpointStore, statements } = this.#options;
    return checkpointStore.of(node).find(({ checkpoint }) => statements.stands(checkpoint));
  }

  /** Says which members contradict, lag behind, or are ahead of the ledger as it was read. */
  async see(patienceMs: number): Promise<void> {
    const { alerts, checkpointStore, statements, now } = this.#options;
    const { roster } = statements;
    const { members } = roster;
    const stands = ({ checkpoint }: KnownCheckpoint): boolean => statements.stands(checkpoint);
    const against = contradictingMajority({ self: null, checkpointStore, roster, stands });
    if (against.length > 0) alerts.see('log-contradicted', 'log', `by ${against.join(', ')}`, now());
    for (const { checkpoint } of shownFalse(checkpointStore, against)) {
      const { node, size, root } = checkpoint;
      alerts.see('checkpoint-false', node, `signed ${root} for ${size} decisions, which have another root`, now());
    }
    for (const { node, earlier, later } of this.#retractions.values()) {
      const [before, after] = [readCheckpoint(earlier).checkpoint, readCheckpoint(later).checkpoint];
      alerts.see('vouched-less', node, `less at ${after.size} decisions than at ${before.size}`, now());
    }
    for (const { node } of members) await this.#seeBehind(node, patienceMs);
    this.#seeAhead(patienceMs);
  }

  async #seeBehind(node: NodeId, patienceMs: number): Promise<void> {
    const { log, kept, alerts, now } = this.#options;
    const size = this.counted(node)?.checkpoint.size ?? 0;
    if (size >= log.size) return;
    // What is trimmed was decided long ago.
    const first = await kept.decision(Math.max(size, kept.from));
    if (first === undefined || now() - Date.parse(timestampOfConsensus(first.consensusTimestamp)) <= patienceMs) return;
    alerts.see('checkpoint-behind', node, `covers ${size} of ${log.size} decisions`, now());
  }

  #seeAhead(patienceMs: number): void {
    const { log, alerts, now } = this.#options;
    for (const [node, { known, since }] of this.#ahead) {
      const { size, root } = known.checkpoint;
      if (now() - since > patienceMs) {
        alerts.see(
          'checkpoint-ahead',
          node,
          `signed for ${size} decisions; the ledger as it was read has ${log.size}`,
          now(),
        );
      }
      for (const [other, { known: its }] of this.#ahead) {
        const differs = other > node && its.checkpoint.size === size && its.checkpoint.root !== root;
        if (differs) alerts.see('checkpoints-differ', `${node} ${other}`, `two roots of ${size} decisions`, now());
      }
    }
  }

  /** The own tree has grown since: those that were ahead may be judged. */
  async #reconsider(): Promise<void> {
    const { checkpointStore, log } = this.#options;
    await checkpointStore.reconsider();
    for (const [node, { known }] of this.#ahead) if (known.checkpoint.size <= log.size) this.#ahead.delete(node);
  }

  /** Whether it was judged for good. Throws `FalseAnswerError` on one that no member signed. */
  async #judge(signed: SignedCheckpoint): Promise<boolean> {
    const { checkpointStore, log, kept, now } = this.#options;
    const known = this.#open(signed);
    if (known === null) return false;
    const { node, size } = known.checkpoint;
    this.#compareWithEarlier(known);
    // The tree as it was then is kept no more.
    if (size < kept.from && size < log.size) return true;
    if ((await checkpointStore.learn(known)) !== 'ahead') return true;
    const since = this.#ahead.get(node)?.since ?? this.#since.get(node) ?? now();
    const waiting = this.#ahead.get(node);
    if (waiting === undefined || waiting.known.checkpoint.size < size) this.#ahead.set(node, { known, since });
    return false;
  }

  /** Null where the certificate of its key is not known here. Throws `FalseAnswerError`. */
  #open(signed: SignedCheckpoint): KnownCheckpoint | null {
    const { statements, log } = this.#options;
    const known = readShown(signed);
    const { node, keyId, federation } = known.checkpoint;
    if (federation !== log.state.federation) throw new FalseAnswerError('a checkpoint of another federation');
    const key = statements.signingKey(node, keyId);
    if (key === undefined) return null;
    const { text: statement, signature } = signed;
    if (signatureHolds(nativeSuite, checkpointStatement, { statement, signature }, key.publicKey)) return known;
    throw new FalseAnswerError(`the signature of a checkpoint of ${node} does not hold`);
  }

  /** A member never covers more of the log and vouches for less. By which keys does not matter, but for stolen ones. */
  #compareWithEarlier(known: KnownCheckpoint): void {
    const { checkpointStore, statements } = this.#options;
    const { node, keyId } = known.checkpoint;
    if (this.#retractions.has(node) || statements.isCompromised(node, keyId)) return;
    for (const other of checkpointStore.of(node)) {
      if (statements.isCompromised(node, other.checkpoint.keyId)) continue;
      const [earlier, later] = other.checkpoint.size <= known.checkpoint.size ? [other, known] : [known, other];
      const isLess = vouchesLess(later.checkpoint, earlier.checkpoint);
      const isSameSize = earlier.checkpoint.size === later.checkpoint.size;
      if (!isLess || (isSameSize && !vouchesLess(earlier.checkpoint, later.checkpoint))) continue;
      this.#retractions.set(node, { node: nodeId(node), earlier: earlier.signed, later: later.signed });
    }
  }
}

/** Throws `FalseAnswerError` on a text that is no checkpoint. */
function readShown(signed: SignedCheckpoint): KnownCheckpoint {
  try {
    return readCheckpoint(signed);
  } catch (error) {
    if (error instanceof StatementError) throw new FalseAnswerError(error.message);
    throw error;
  }
}

function vouchesLess(later: Checkpoint, earlier: Checkpoint): boolean {
  return Object.entries(earlier.vouched).some(([node, batch]) => (later.vouched[node] ?? 0) < batch);
}
