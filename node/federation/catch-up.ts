import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { Chains } from '../log/chains.ts';
import type { Decided } from '../log/decidable.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import { checkStatementApart } from '../log/members/statement-check.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import { type Store, StoreError } from '../store/store.ts';
import {
  ChainAssembler,
  type ChainBesides,
  ChainContradictionError,
  type RecordsOfOthers,
  rewindChain,
} from './chain-assembler.ts';
import {
  type ArrivedPage,
  keptFrames,
  PageAhead,
  PageEnd,
  type PageStart,
  type PageTaker,
  takeArrived,
  takeFrame,
} from './page-ahead.ts';
import { PageChecks } from './page-checks.ts';
import type { PageClient } from './page-client.ts';

/** How long a peer that failed is left alone for this chain. In milliseconds. */
const REST_MS = 5_000;
/** Pause after this node's own store refused what a peer served. In milliseconds. */
const OWN_FAULT_MS = 500;
/** Rest of a peer that served something false. In milliseconds. */
const DISTRUST_MS = 60_000;

/**
 * Pages of one chain that wait for their turn: one arrives while the one before it is checked and a third is written.
 */
const PAGES_AHEAD = 2;
/** The same of all chains: each takes two mebibytes of memory or little more. */
const MOST_PAGES_AHEAD = 6;

export interface CatchUpOptions {
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly decided: Decided;
  readonly faults: PeerFaults;
  readonly pages: Pick<PageClient, 'read'>;
  /** A clock that no step moves, in milliseconds. Default: that of the process. */
  readonly monotonic?: () => number;
  readonly log: Logger;
  /**
   * Told of the batches that a peer's page made whole, once they are checked and on the disk, in order of their chain.
   */
  readonly onBatches: (node: NodeId, batches: readonly StoredBatch[], peer: NodeId) => Promise<void>;
  /** Told of a chain whose origin contradicts itself. */
  readonly onContradiction: (node: NodeId, peer: NodeId, error: ChainContradictionError) => Promise<void>;
  /** A peer's page stands on a key that nobody has certified here yet, or on a roster that is not known. */
  readonly onUnknownKey: (peer: NodeId) => void;
  /** Whether what is held of that node waits to be replaced: nothing can follow it. */
  readonly isOutdone?: (node: NodeId) => boolean;
  /** The last batch of a node that is pulled, but for what the same page brings. Default: any. */
  readonly lastToCome?: (node: NodeId) => number;
  /** Rows that go beside those of a node's chain. */
  readonly besides?: (node: NodeId) => ChainBesides | undefined;
  /** Who goes by what other nodes record. */
  readonly others?: RecordsOfOthers;
  /** What checks the records of pages, and ends with this. Default: threads once there is enough to check. */
  readonly checks?: PageChecks;
}

/** A page of a node's chain from a peer, and who takes it. */
interface PulledPage extends PageTaker {
  readonly node: NodeId;
  readonly peer: NodeId;
}

interface Lead {
  /** Batch that the peer says it holds. */
  batch: number;
  /** Of the monotonic clock: not asked before. */
  notBefore: number;
}

/**
 * Pulls the chains that peers are ahead in, page by page, one page at a time from a peer: from the second page on one
 * arrives while the one before it is checked by another thread and a third is written. What a peer says about its heads
 * only decides whom to ask; what is stored was checked by the assembler, or by that thread and the assembler.
 */
export class CatchUp implements AsyncDisposable {
  readonly #options: CatchUpOptions;
  readonly #leads = new Map<NodeId, Map<NodeId, Lead>>();
  readonly #running = new Map<NodeId, Promise<void>>();
  /**
   * Of a chain whose next batch was begun again, the peer whose page it was: it alone is asked until the batch is whole,
   * or it rests, so that a peer with other groups of the batch does not make it begin over and over.
   */
  readonly #sole = new Map<NodeId, NodeId>();
  /** Chains that are being dropped in part: nothing of them is pulled. */
  readonly #rewinding = new Set<NodeId>();
  readonly #assemblers = new Map<NodeId, ChainAssembler>();
  /** Of a chain that is being pulled, the pages after the one that is taken, in order. */
  readonly #ahead = new Map<NodeId, PageAhead[]>();
  readonly #checks: PageChecks;
  readonly #closing = new AbortController();

  constructor(options: CatchUpOptions) {
    this.#options = options;
    this.#checks = options.checks ?? new PageChecks({ log: options.log });
  }

  /** A peer says that it holds a node's chain up to `batch`. */
  lead(node: NodeId, peer: NodeId, batch: number): void {
    const leads = this.#leads.get(node) ?? new Map<NodeId, Lead>();
    this.#leads.set(node, leads);
    const known = leads.get(peer);
    leads.set(peer, { batch: Math.max(batch, known?.batch ?? 0), notBefore: known?.notBefore ?? 0 });
    this.#wake(node);
  }

  /** What held up a node's chain is over. */
  resume(node: NodeId): void {
    this.#wake(node);
  }

  /** Whatever a peer was resting for is over, for one chain or for all: it came back, or nobody else is left. */
  forgive(peer: NodeId, node?: NodeId): void {
    for (const [chain, leads] of this.#leads) if (node === undefined || node === chain) leads.delete(peer);
  }

  /**
   * Pulls no more of a node's chain before somebody leads again. Resolves once the page that is under way has ended.
   */
  abandon(node: NodeId): Promise<void> {
    this.#leads.delete(node);
    return this.settled(node);
  }

  /** Drops the held batches of a node after number `to`; the chain is pulled again from there. */
  async rewind(node: NodeId, to: number): Promise<void> {
    const { store, chains } = this.#options;
    this.#rewinding.add(node);
    try {
      await this.settled(node);
      this.#assemblers.delete(node);
      await rewindChain(store, chains, node, to);
    } finally {
      this.#rewinding.delete(node);
      for (const lead of this.#leads.get(node)?.values() ?? []) lead.notBefore = 0;
      this.#wake(node);
    }
  }

  /** Chains being pulled at this moment. */
  get active(): readonly NodeId[] {
    return [...this.#running.keys()];
  }

  /** Resolves once nobody is left to ask about a node's chain: it is whole, or every peer that leads rests. */
  async settled(node: NodeId): Promise<void> {
    for (let run = this.#running.get(node); run !== undefined; run = this.#running.get(node)) await run;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running.values());
    await this.#checks[Symbol.asyncDispose]();
  }

  #wake(node: NodeId): void {
    if (this.#running.has(node) || this.#closing.signal.aborted || this.#choose(node) === undefined) return;
    const run = this.#pull(node).finally(async () => {
      await this.#dropAhead(node);
      this.#running.delete(node);
      this.#wake(node);
      if (this.#running.size === 0) await this.#checks.rest();
    });
    this.#running.set(node, run);
  }

  async #pull(node: NodeId): Promise<void> {
    for (let peer = this.#choose(node); peer !== undefined; peer = this.#choose(node)) {
      try {
        const advanced = await this.#pullPage(node, peer);
        if (this.#closing.signal.aborted) return;
        // A peer that ran out of batches knew less than it said.
        if (!advanced) {
          this.#options.faults.note(peer, 'withheld');
          this.#rest(node, peer, REST_MS);
        }
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        await this.#judge(node, peer, error);
      }
    }
  }

  /** Whether the page brought anything: a batch, or a part of one that takes more pages than this. */
  async #pullPage(node: NodeId, peer: NodeId): Promise<boolean> {
    const assembler = await this.#assemblerOf(node);
    const start = assembler.wanted;
    const arrived = await this.#takeAhead(node, peer, start);
    const page: PulledPage = { node, peer, assembler, batches: [] };
    try {
      assembler.beginPage(peer);
      try {
        await (arrived === null ? this.#pullNow(page, start) : takeArrived(page, arrived));
      } finally {
        await assembler.endPage();
      }
    } finally {
      // Not one by one, nor exclusive of other questions to the peer.
      if (page.batches.length > 0) await this.#options.onBatches(node, page.batches, peer);
    }
    const { batch, seq } = assembler.wanted;
    if (batch !== start.batch) this.#sole.delete(node);
    else if (seq < start.seq) this.#sole.set(node, peer);
    return batch !== start.batch || seq !== start.seq;
  }

  /** Checks a page as it arrives. */
  async #pullNow(page: PulledPage, start: PageStart): Promise<void> {
    const { node, peer } = page;
    const end = new PageEnd();
    const take = async (frames: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const frame of frames) {
        end.take(frame);
        await takeFrame(page, frame);
      }
    };
    await this.#options.pages.read(peer, { want: 'chain', node, ...start }, take, this.#closing.signal);
    this.#askAhead(node, peer, end.start);
  }

  /** The page that was asked for ahead, if it is the one that is wanted now and not too long. */
  async #takeAhead(node: NodeId, peer: NodeId, start: PageStart): Promise<ArrivedPage | null> {
    const pages = this.#ahead.get(node);
    const page = pages?.[0];
    if (pages === undefined || page === undefined) return null;
    let arrived: ArrivedPage | null = null;
    try {
      if (page.isOf(peer, start)) arrived = await page.arrived;
    } finally {
      // What comes behind it goes on from a page that nobody takes.
      if (arrived === null) await this.#dropAhead(node);
    }
    if (arrived !== null) {
      pages.shift();
      this.#askAhead(node, peer, (pages.at(-1) ?? page).next);
    }
    return arrived;
  }

  /** Asks for the page after the last that is here, where the peer says that there is more and not too much waits. */
  #askAhead(node: NodeId, peer: NodeId, start: PageStart | null): void {
    const pages = this.#ahead.get(node) ?? [];
    if (start === null || pages.length >= PAGES_AHEAD || this.#closing.signal.aborted) return;
    if ([...this.#ahead.values()].reduce((sum, { length }) => sum + length, 0) >= MOST_PAGES_AHEAD) return;
    const { lastToCome } = this.#options;
    const last = Math.min(this.#leads.get(node)?.get(peer)?.batch ?? 0, lastToCome?.(node) ?? Number.POSITIVE_INFINITY);
    if (start.batch > last) return;
    const page = new PageAhead(peer, start, (signal) => this.#arrive(node, peer, start, signal), this.#closing.signal);
    pages.push(page);
    this.#ahead.set(node, pages);
    const askNext = (): void => {
      if (this.#ahead.get(node)?.at(-1) === page) this.#askAhead(node, peer, page.next);
    };
    page.arrived.then(askNext, () => {});
  }

  /** Reads a page to its end, and has other threads begin with it. */
  async #arrive(node: NodeId, peer: NodeId, start: PageStart, signal: AbortSignal): Promise<ArrivedPage | null> {
    const { pages, keys, besides } = this.#options;
    const kept = await pages.read(peer, { want: 'chain', node, ...start }, keptFrames, signal);
    if (kept === null) return null;
    const end = new PageEnd();
    const frames = kept.map((frame) => {
      const signed = end.take(frame);
      const isLookedAt = signed && checkStatementApart(keys, groupStatement, signed, (group) => group);
      return { frame, signed, isLookedAt };
    });
    const isOwn = besides?.(node) !== undefined;
    const groups = isOwn ? Promise.resolve([]) : this.#checks.check(kept, this.#closing.signal);
    return { frames, next: end.start, groups };
  }

  async #dropAhead(node: NodeId): Promise<void> {
    const pages = this.#ahead.get(node) ?? [];
    this.#ahead.delete(node);
    await Promise.all(pages.map((page) => page[Symbol.asyncDispose]()));
  }

  async #assemblerOf(node: NodeId): Promise<ChainAssembler> {
    const known = this.#assemblers.get(node);
    if (known !== undefined) return known;
    const assembler = await ChainAssembler.recover({ ...this.#options, node, besides: this.#options.besides?.(node) });
    this.#assemblers.set(node, assembler);
    return assembler;
  }

  async #judge(node: NodeId, peer: NodeId, error: unknown): Promise<void> {
    const { log, faults, onContradiction, onUnknownKey } = this.#options;
    faults.noteError(peer, error);
    // What was staged may be half of something; the store knows what is whole.
    this.#assemblers.delete(node);
    if (error instanceof ChainContradictionError) {
      faults.note(node, 'contradiction');
      log.error({ err: error, node, peer }, 'a node contradicts its own chain');
      this.#rest(node, peer, DISTRUST_MS);
      await onContradiction(node, peer, error);
    } else if (error instanceof PeerStatementError && (error.fault === 'forged' || error.fault === 'malformed')) {
      log.warn({ err: error, node, peer }, 'a peer served a page that does not hold');
      this.#rest(node, peer, DISTRUST_MS);
    } else if (error instanceof PeerStatementError && error.fault === 'undecidable') {
      log.info({ err: error, node, peer }, 'a peer holds a batch that the log cannot decide any more');
      this.#rest(node, peer, REST_MS);
    } else if (error instanceof StoreError) {
      log.error({ err: error, node, peer }, 'a page could not be stored; asking again');
      this.#rest(node, peer, OWN_FAULT_MS);
    } else {
      if (error instanceof PeerStatementError) onUnknownKey(peer);
      log.debug({ err: error, node, peer }, 'a page did not arrive');
      this.#rest(node, peer, REST_MS);
    }
  }

  #now(): number {
    return (this.#options.monotonic ?? (() => performance.now()))();
  }

  /** The one that began the batch again, or the origin itself if it can be asked, else the peer that is furthest ahead. */
  #choose(node: NodeId): NodeId | undefined {
    if (this.#rewinding.has(node) || this.#options.isOutdone?.(node) === true) return undefined;
    const now = this.#now();
    const held = this.#options.chains.head(node).batch;
    if (held >= (this.#options.lastToCome?.(node) ?? Number.POSITIVE_INFINITY)) return undefined;
    const able = [...(this.#leads.get(node) ?? [])].filter(([, lead]) => lead.batch > held && lead.notBefore <= now);
    const sole = this.#sole.get(node);
    if (able.some(([peer]) => peer === sole)) return sole;
    able.sort(([a, leadA], [b, leadB]) => Number(b === node) - Number(a === node) || leadB.batch - leadA.batch);
    return able[0]?.[0];
  }

  #rest(node: NodeId, peer: NodeId, milliseconds: number): void {
    const lead = this.#leads.get(node)?.get(peer);
    if (lead === undefined) return;
    if (this.#sole.get(node) === peer) this.#sole.delete(node);
    lead.notBefore = this.#now() + milliseconds;
    setTimeout(() => this.#wake(node), milliseconds + 1).unref();
  }
}
