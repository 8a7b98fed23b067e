import type { Logger } from 'pino';
import type { Static } from 'typebox';
import type { StartWaitShape } from '../../../protocol/api/start-waits.ts';
import { decodeUtf8 } from '../../../protocol/bytes.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import { type DecisionState, isRevoked, knownNode } from '../../../protocol/log/decision-state.ts';
import { type BatchMessage, parseLedgerMessage } from '../../../protocol/log/message.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { Anchoring } from '../../anchoring/anchoring.ts';
import { AutoResetEvent } from '../../concurrency/auto-reset-event.ts';
import type { Intake } from '../../intake/intake.ts';
import type { Sealer } from '../../intake/sealing/sealer.ts';
import type { OwnKeys } from '../../log/members/own-keys.ts';
import { ownNameTable, startTable, STOPPED_ROW } from '../../log/start-tables.ts';
import { readBatch, readHead, type StoredBatch } from '../../records/batch-tables.ts';
import type { Operation } from '../../store/operation.ts';
import { type Rows, type Store, StoreError } from '../../store/store.ts';
import type { FederationSync } from '../federation.ts';
import type { LogFollower } from '../log-follower.ts';
import type { OwnChainEvidence } from '../own-chain.ts';
import type { StatementNamer } from '../statement-namer.ts';
import { type OwnChainEnd, readRestorations, restorationTable } from './restoration-table.ts';
import {
  mayName,
  sealedByAnother,
  type StartFacts,
  type StartWait,
  startWaits,
  type TopicReadTo,
} from './start-rule.ts';

/** Names kept, of the numbers that come first: a node names one batch after the other. */
const MAX_NAMES = 64;

/**
 * The batches of this node that its own account named on the ledger's topic and that are not decided: the node sealed
 * one of each number, whatever its store says.
 *
 * Crash order: a name's row lands in the write that takes its message into the log.
 */
export class OwnNames {
  readonly #self: NodeId;
  /** By number, the key of the name that came last. */
  readonly #names: Map<number, Sha256Hash>;

  private constructor(self: NodeId, names: Map<number, Sha256Hash>) {
    this.#self = self;
    this.#names = names;
  }

  static async open(store: Rows, self: NodeId): Promise<OwnNames> {
    const names = new Map<number, Sha256Hash>();
    for await (const [[batch = ''], keyId] of ownNameTable.under(store, [])) names.set(Number(batch), keyId);
    return new OwnNames(self, names);
  }

  /**
   * The last own batch that is decided, or named so that it still can be: a name by a key that was revoked decides
   * nothing. 0 for none. A node names each number after the one before, so a name behind a gap is none of its own:
   * whoever stole its account named it, and makes it wait for nothing.
   */
  last(state: DecisionState): number {
    let last = decidedOf(state, this.#self);
    for (let keyId = this.#names.get(last + 1); keyId !== undefined; keyId = this.#names.get(last + 1)) {
      if (isRevoked(state, this.#self, keyId)) break;
      last++;
    }
    return last;
  }

  /**
   * Takes final messages, and returns the rows that land beside what the log makes of them. `state`: before the first.
   */
  take(messages: readonly TopicMessage[], state: DecisionState): readonly Operation[] {
    const { federation, accounts } = state;
    const changed = new Set<number>();
    for (const { payer, message } of messages) {
      if (accounts[payer] !== this.#self) continue;
      const named = batchNamed(message);
      if (named === null || named.federation !== federation || named.node !== this.#self) continue;
      // It decides nothing, and must not hide a name that can.
      if (isRevoked(state, this.#self, named.keyId)) continue;
      this.#names.set(named.batch, named.keyId);
      changed.add(named.batch);
    }
    const decided = decidedOf(state, this.#self);
    const kept = [...this.#names.keys()].filter((batch) => batch > decided).sort((a, b) => a - b);
    const dropped = [...this.#names.keys()].filter((batch) => !kept.slice(0, MAX_NAMES).includes(batch));
    for (const batch of dropped) this.#names.delete(batch);
    const rows = [...changed].flatMap((batch) => {
      const keyId = this.#names.get(batch);
      return keyId === undefined ? [] : [ownNameTable.put([batch], keyId)];
    });
    return [...rows, ...dropped.map((batch) => ownNameTable.del(batch))];
  }
}

function decidedOf(state: DecisionState, self: NodeId): number {
  return knownNode(state, self)?.last?.batch ?? 0;
}

/** Null for a message that names no batch: anyone may write to a topic. */
function batchNamed(message: Uint8Array): BatchMessage | null {
  try {
    const named = parseLedgerMessage(decodeUtf8(message));
    return named.type === 'batch' ? named : null;
  } catch {
    return null;
  }
}

/**
 * The marks by which a store tells its next start how it was left.
 *
 * Crash order: `stopped` is gone from the disk before anything runs, and written again as the last write of an ordered
 * end; `signed` is on the disk before the first group or envelope is signed.
 */
export class StartMarks implements AsyncDisposable {
  /** Whether this store may have signed a group or an envelope before this start. */
  readonly hasSigned: boolean;
  /** Whether the run before ended in order, after it knew how far its chain goes. */
  readonly wasStopped: boolean;
  readonly #store: Rows;
  #isOrdered: boolean;

  private constructor(store: Rows, hasSigned: boolean, wasStopped: boolean) {
    this.#store = store;
    this.hasSigned = hasSigned;
    this.wasStopped = wasStopped;
    this.#isOrdered = wasStopped;
  }

  /** To be disposed after all that signs, and before the store. */
  static async open(store: Rows, node: NodeId): Promise<StartMarks> {
    const hasSigned = (await startTable.get(store, 'signed')) !== undefined;
    const isMarked = (await startTable.get(store, STOPPED_ROW)) !== undefined;
    if (isMarked) await store.write([startTable.del(STOPPED_ROW)]);
    // What was copied from a stopped node by an earlier release has its mark, and says nothing of what came after.
    const isCopy = (await readRestorations(store, node)).some(({ settled }) => settled === null);
    return new StartMarks(store, hasSigned, isMarked && !isCopy);
  }

  /** The node is about to sign: it knows how far its chain goes. */
  async noteSigning(): Promise<void> {
    if (!this.hasSigned) await this.#store.write([startTable.put(['signed'], 1)]);
    this.#isOrdered = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOrdered) return;
    try {
      await this.#store.write([startTable.put([STOPPED_ROW], 1)]);
    } catch (error) {
      // A store that takes no writes says nothing: the next start waits.
      if (!(error instanceof StoreError)) throw error;
    }
  }
}

/**
 * After so long no transaction from before a start can land: they are valid for 120 seconds, and consensus may take
 * some more. In milliseconds.
 */
export const LEDGER_LIMIT_MS = 180_000;
/** How often the clock is looked at while that passes. In milliseconds. */
const LOOK_MS = 250;

export interface NodeStartOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly marks: StartMarks;
  readonly names: OwnNames;
  readonly follower: Pick<LogFollower, 'federationLog' | 'readToEnd' | 'removal'>;
  readonly federation: Pick<FederationSync, 'halted' | 'pokeOwnChain' | 'recoverOwnChain'>;
  readonly anchoring: Pick<Anchoring, 'start' | 'startStatements'>;
  readonly namer: Pick<StatementNamer, 'start'>;
  readonly intake: Pick<Intake, 'reload'>;
  readonly sealer: Pick<Sealer, 'reload'>;
  readonly ownKeys: Pick<OwnKeys, 'settle'>;
  /** The operator's word that this store is no copy, and the only one. */
  readonly isAlone: boolean;
  /** For tests whose ledger is down: signs without having read it, or asked anybody. */
  readonly isUnread: boolean;
  readonly now: () => number;
  /** A clock that no step moves, in milliseconds. Default: that of the process. */
  readonly monotonic?: () => number;
  readonly log: Logger;
}

/**
 * A node on its way to its first signature after a start (protocol §9). Every start may be that of an old copy: groups
 * and envelopes are signed once the topic was read to its end and the others have told how far they hold this node's
 * chain, and all of it is here.
 *
 * Crash order: `signed` is marked before anything is signed. A node that is stopped before leaves no mark, and the next
 * start asks again. What is signed first follows the last own group in the store, however it came there.
 */
export class NodeStart {
  readonly #options: NodeStartOptions;
  readonly #startedAt: number;
  readonly #startedOn: Timestamp;
  readonly #limitAt: Timestamp;
  #topicRead: TopicReadTo = 'nothing';
  #isTopicEmpty = false;
  #isPending = true;
  #isNaming = false;
  #waits: readonly StartWait[] = [];
  #answered: ReadonlySet<NodeId> = new Set();
  /** Own batches in the store at the start. */
  #heldAtStart = 0;

  constructor(options: NodeStartOptions) {
    this.#options = options;
    this.#startedAt = this.#monotonic();
    this.#startedOn = timestampOf(options.now());
    this.#limitAt = timestampOf(options.now() + LEDGER_LIMIT_MS);
  }

  /** Whether the node may sign nothing yet. */
  get pending(): boolean {
    return this.#isPending;
  }

  /** What it waits for, as of the last look. */
  get waits(): readonly StartWait[] {
    return this.#waits;
  }

  /**
   * Takes up the own chain where the federation knows it to end. Groups and envelopes may be signed once it resolves,
   * unless the node was halted. Rejects when the signal ends.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { self, store, federation, follower, anchoring, namer, intake, sealer, ownKeys, marks, isUnread } =
      this.#options;
    // One that was removed and is done signs nothing, and nobody answers it.
    if (follower.removal?.isReleased === true) return;
    this.#heldAtStart = (await readHead(store, self))?.envelope.batch ?? 0;
    anchoring.startStatements();
    const over = new AbortController();
    const reading = isUnread ? undefined : this.#readTopic(AbortSignal.any([signal, over.signal]));
    reading?.catch(() => undefined);
    try {
      await federation.recoverOwnChain(signal, (evidence) => this.#suffices(evidence));
      // However many batches that were: of one that nobody brought to its end, groups are in the store all the same.
      await Promise.all([intake.reload(), sealer.reload()]);
    } finally {
      over.abort();
      await reading?.catch(() => undefined);
    }
    if (federation.halted === null || federation.halted === 'removed') {
      await this.#settle();
      await marks.noteSigning();
    }
    await ownKeys.settle();
    // A halted node names what is to come into force all the same.
    if (this.#topicRead === 'nothing') namer.start();
    anchoring.start();
  }

  /** Everything that takes records runs: nobody is refused any more. */
  end(): void {
    this.#isPending = false;
    this.#waits = [];
  }

  #monotonic(): number {
    return (this.#options.monotonic ?? (() => performance.now()))();
  }

  /** Reads the topic to its end, and once more when nothing from before the start can land. */
  async #readTopic(signal: AbortSignal): Promise<void> {
    const { follower, federation, namer } = this.#options;
    await follower.readToEnd(signal);
    this.#isTopicEmpty = follower.federationLog.state.sequence === 0;
    this.#topicRead = 'start';
    federation.pokeOwnChain();
    // Before, it may not know what is in force.
    namer.start();
    const pause = new AutoResetEvent();
    while (this.#monotonic() - this.#startedAt < LEDGER_LIMIT_MS) {
      await pause.wait(LOOK_MS, signal);
      signal.throwIfAborted();
    }
    await follower.readToEnd(signal);
    this.#topicRead = 'limit';
    federation.pokeOwnChain();
  }

  async #suffices(evidence: OwnChainEvidence): Promise<boolean> {
    const { log, isUnread, anchoring } = this.#options;
    if (isUnread) return true;
    const facts = await this.#factsOf(evidence);
    const waits = startWaits(facts);
    const isNew = JSON.stringify(waits) !== JSON.stringify(this.#waits);
    this.#waits = waits;
    this.#answered = evidence.answered;
    if (isNew && waits.length > 0) log.warn({ waits }, 'this node waits before it signs');
    // What was taken back is decided when it is named: nothing else would name it.
    if (waits.length > 0 && mayName(waits) && !this.#isNaming) {
      this.#isNaming = true;
      anchoring.start();
    }
    return waits.length === 0;
  }

  async #factsOf({ answered, held, shown }: OwnChainEvidence): Promise<StartFacts> {
    const { self, store, marks, names, follower, isAlone } = this.#options;
    const { state } = follower.federationLog;
    const head = await readHead(store, self);
    return {
      isAlone,
      hasSigned: marks.hasSigned,
      wasStopped: marks.wasStopped,
      topicRead: this.#topicRead,
      isTopicEmpty: this.#isTopicEmpty,
      others: Object.keys(state.members)
        .map(nodeId)
        .filter((node) => node !== self),
      majority: state.majority,
      answered,
      limitAt: this.#limitAt,
      held,
      known: Math.max(shown, names.last(state)),
      provisional: await this.#provisional(),
      other: sealedByAnother(head?.envelope, this.#heldAtStart, this.#startedOn),
    };
  }

  /**
   * The first own batch that was taken back and is not decided. One by a key that was revoked cannot be: it is none.
   */
  async #provisional(): Promise<number | null> {
    const { self, store, follower } = this.#options;
    const { state } = follower.federationLog;
    const takenBack = (await startTable.get(store, 'taken-back')) ?? 0;
    const next = (knownNode(state, self)?.last?.batch ?? 0) + 1;
    if (takenBack < next) return null;
    const batch = await readBatch(store, self, next);
    if (batch === undefined) return next;
    return isRevoked(state, self, batch.envelope.keyId) ? null : next;
  }

  async #settle(): Promise<void> {
    const { self, store, follower, now, log } = this.#options;
    const sequence = follower.federationLog.state.sequence;
    await settleRestorations({ store, self, peers: [...this.#answered], sequence, now, log });
  }
}

interface SettleOptions {
  readonly store: Store;
  readonly self: NodeId;
  /** Members that told how far they hold the chain. */
  readonly peers: readonly NodeId[];
  /** Sequence number up to which the ledger's topic was read. */
  readonly sequence: number;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Notes in a store that is a restored copy what its node's chain turned out to be, for the operator. From then on it is
 * the node's own again. Any other store is left as it is.
 */
export async function settleRestorations({ store, self, peers, sequence, now, log }: SettleOptions): Promise<void> {
  const open = (await readRestorations(store, self)).filter(({ settled }) => settled === null);
  if (open.length === 0) return;
  const head = await readHead(store, self);
  const settled = {
    at: timestampOf(now()),
    end: endOf(head),
    sealedAt: head?.envelope.sealedAt ?? null,
    peers: [...peers],
    sequence: String(sequence),
  };
  await store.write(open.map((row) => restorationTable.put([self, row.takenAt], { ...row, settled })));
  log.warn(
    { copies: open.map(({ takenAt, held }) => ({ takenAt, held })), end: settled.end, sealedAt: settled.sealedAt },
    'a restored copy is this node again; records that were acknowledged after its last batch was sealed are lost',
  );
}

function endOf(head: StoredBatch | undefined): OwnChainEnd {
  if (head === undefined) return { batch: 0, next: 1 };
  const { batch, first, size } = head.envelope;
  return { batch, next: first + size };
}

/** A wait as it is answered. */
export function startWaitAnswer(wait: StartWait): Static<typeof StartWaitShape> {
  return wait.for === 'members' ? { ...wait, answered: [...wait.answered], missing: [...wait.missing] } : { ...wait };
}
