import type { Logger } from 'pino';
import { isRevoked, knownNode } from '../../../protocol/log/decision-state.ts';
import { type NodeId, nodeId } from '../../../protocol/ids.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import type { Anchoring } from '../../anchoring/anchoring.ts';
import { AutoResetEvent } from '../../concurrency/auto-reset-event.ts';
import { settleRestorations } from './settle-restorations.ts';
import type { OwnChainEvidence } from '../own-chain.ts';
import type { FederationSync } from '../federation.ts';
import type { Intake } from '../../intake/intake.ts';
import type { OwnKeys } from '../../log/members/own-keys.ts';
import type { LogFollower } from '../log-follower.ts';
import type { StatementNamer } from '../statement-namer.ts';
import { readBatch, readHead } from '../../records/batch-tables.ts';
import type { Sealer } from '../../intake/sealing/sealer.ts';
import type { Store } from '../../store/store.ts';
import type { OwnNames } from './own-names.ts';
import type { StartMarks } from './start-marks.ts';
import {
  mayName,
  sealedByAnother,
  type StartFacts,
  startWaits,
  type StartWait,
  type TopicReadTo,
} from './start-rule.ts';
import { startTable } from '../../log/start-tables.ts';

/**
 * After so long no transaction from before a start can land: they are valid for 120 seconds, and consensus may take some
 * more. In milliseconds.
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
 * A node on its way to its first signature after a start (TRUST §9). Every start may be that of an old copy: groups and
 * envelopes are signed once the topic was read to its end and the others have told how far they hold this node's chain, and
 * all of it is here.
 *
 * Crash order: `signed` is marked before anything is signed. A node that is stopped before leaves no mark, and the next
 * start asks anew.
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
   * Takes up the own chain where the federation knows it to end. Groups and envelopes may be signed once it resolves, unless
   * the node was halted. Rejects when the signal ends.
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
      const taken = await federation.recoverOwnChain(signal, (evidence) => this.#suffices(evidence));
      if (taken > 0) await Promise.all([intake.reload(), sealer.reload()]);
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

  /** The first own batch that was taken back and is not decided. One by a key that was revoked cannot be: it is none. */
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
