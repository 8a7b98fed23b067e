import type { Logger } from 'pino';
import { hashText } from '../../protocol/hash.ts';
import type { EntityId, NodeId } from '../../protocol/ids.ts';
import { type Timestamp, timestampOf } from '../../protocol/time.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import { anchorTable } from '../anchoring/anchors.ts';
import type { FederationKeys } from '../federation/federation-keys.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { readBatch, readHead, type StoredBatch } from '../sealing/batch-tables.ts';
import type { Store } from '../store/store.ts';
import { type OwnChainEnd, readRestorations, type Restoration, restorationTable } from './restoration-table.ts';

export interface RecoveryOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly keys: Pick<FederationKeys, 'rosters'>;
  readonly anchoring: Pick<Anchoring, 'topicRead' | 'anchorOf' | 'state'>;
  /** Account that pays for this node's anchors. */
  readonly operatorId: EntityId;
  readonly now: () => number;
  readonly log: Logger;
}

/** Why a restored copy may not sign yet. */
export type RecoveryWait =
  | { readonly for: 'peers'; readonly answered: readonly NodeId[]; readonly needed: number }
  | { readonly for: 'ledger' }
  /** The ledger shows own batches that nobody has brought yet. */
  | { readonly for: 'batches'; readonly held: number; readonly anchored: number }
  /** A batch of this node was sealed after this start: somebody else signs in its name. */
  | { readonly for: 'other'; readonly batch: number; readonly sealedAt: Timestamp };

/** Batches at the end of the own chain whose anchors tell which accounts paid for them. */
const PAYERS_OF = 8;

/**
 * A restored copy on its way to where its node's chain ends. It may sign once three things hold: so many peers have said
 * how far they hold the chain that one of them holds every batch that was ever witnessed; the ledger's topic was read to
 * its end, which shows what was anchored whether a peer answers or not; and every batch that either of them knows of is
 * here. A batch sealed after this start shows that another process signs in this node's name: then it waits for good.
 */
export class Recovery {
  readonly #options: RecoveryOptions;
  readonly #row: Restoration;
  readonly #startedAt: Timestamp;
  #pending = true;
  #waits: readonly RecoveryWait[] = [];
  #heard: readonly NodeId[] = [];

  private constructor(options: RecoveryOptions, row: Restoration) {
    this.#options = options;
    this.#row = row;
    this.#startedAt = timestampOf(options.now());
  }

  /** Null where the store is no copy, or one that has learned it already. */
  static async open(options: RecoveryOptions): Promise<Recovery | null> {
    const rows = await readRestorations(options.store, options.self);
    const open = rows.findLast(({ settled }) => settled === null);
    return open === undefined ? null : new Recovery(options, open);
  }

  /** Whether the node may sign nothing yet. */
  get pending(): boolean {
    return this.#pending;
  }

  /** What it waits for, as of the last look. */
  get waits(): readonly RecoveryWait[] {
    return this.#waits;
  }

  begin(): void {
    this.#options.log.warn({ takenAt: this.#row.takenAt }, 'this store is a restored copy; it signs nothing yet');
  }

  /** Whether nothing is missing. `heard`: peers that answered since the start. */
  readonly suffices = async (heard: ReadonlySet<NodeId>): Promise<boolean> => {
    const waits = await this.#look(heard);
    const isNew = JSON.stringify(waits) !== JSON.stringify(this.#waits);
    this.#waits = waits;
    if (isNew && waits.length > 0) this.#options.log.warn({ waits }, 'a restored copy waits before it signs');
    return waits.length === 0;
  };

  /** Notes what the chain turned out to be. From then on this store is the node's own again. */
  async settle(): Promise<void> {
    const { store, self, anchoring, now, log } = this.#options;
    const head = await readHead(store, self);
    const end: OwnChainEnd = endOf(head);
    const { topic } = await anchoring.state();
    const settled = {
      at: timestampOf(now()),
      end,
      sealedAt: head?.envelope.sealedAt ?? null,
      peers: [...this.#heard],
      sequence: String(topic.head.sequence),
    };
    const rows = await readRestorations(store, self);
    const open = rows.filter((row) => row.settled === null);
    await store.write(open.map((row) => restorationTable.put([self, row.takenAt], { ...row, settled })));
    this.#pending = false;
    const { held, takenAt } = this.#row;
    log.warn(
      { takenAt, held, end, sealedAt: settled.sealedAt },
      'a restored copy is this node again; records that were acknowledged after its last batch was sealed are lost',
    );
  }

  async #look(heard: ReadonlySet<NodeId>): Promise<RecoveryWait[]> {
    const { self, store, keys, anchoring } = this.#options;
    const { members, quorum } = keys.rosters.current;
    const peers = members.map(({ node }) => node).filter((node) => node !== self);
    this.#heard = peers.filter((node) => heard.has(node));
    const needed = peersNeeded(members.length, quorum);
    const waits: RecoveryWait[] = [];
    if (this.#heard.length < needed) waits.push({ for: 'peers', answered: this.#heard, needed });
    if (!anchoring.topicRead()) waits.push({ for: 'ledger' });
    const head = await readHead(store, self);
    const held = head?.envelope.batch ?? 0;
    const anchored = await this.#anchoredUpTo(held);
    if (anchored > held) waits.push({ for: 'batches', held, anchored });
    if (head !== undefined && head.envelope.sealedAt > this.#startedAt) {
      waits.push({ for: 'other', batch: held, sealedAt: head.envelope.sealedAt });
    }
    return waits;
  }

  /**
   * The last own batch that the ledger shows. Whoever may write to the topic can name a batch there, so only anchors count
   * that an account of this node paid for: the one that is configured, or one that paid for a batch that is held.
   */
  async #anchoredUpTo(held: number): Promise<number> {
    const { self, store } = this.#options;
    const payers = await this.#payers(held);
    let last = held;
    for await (const [, { batch, anchor }] of anchorTable.under(store, [self], { after: held })) {
      if (payers.has(anchor.payer)) last = Math.max(last, batch);
    }
    return last;
  }

  async #payers(held: number): Promise<ReadonlySet<string>> {
    const { self, store, anchoring, operatorId } = this.#options;
    const payers = new Set<string>([operatorId]);
    for (let batch = held; batch > Math.max(0, held - PAYERS_OF); batch--) {
      const stored = await readBatch(store, self, batch);
      if (stored === undefined) continue;
      const anchor = await anchoring.anchorOf(self, batch, hashText(nativeSuite, stored.signed.statement));
      if (anchor !== undefined) payers.add(anchor.payer);
    }
    return payers;
  }
}

/**
 * Answers after which no witnessed batch can be missed: a witnessed one is held by `quorum` peers, so any
 * `peers - quorum + 1` of them include one of those; and never fewer than a quorum.
 */
function peersNeeded(members: number, quorum: number): number {
  const peers = members - 1;
  return Math.min(peers, Math.max(quorum, peers - quorum + 1));
}

function endOf(head: StoredBatch | undefined): OwnChainEnd {
  if (head === undefined) return { batch: 0, next: 1 };
  const { batch, first, size } = head.envelope;
  return { batch, next: first + size };
}
