import type { Logger } from 'pino';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { MirrorMessage } from '../anchoring/ledger/mirror-shapes.ts';
import type { TopicPoint } from '../anchoring/ledger/topic-point.ts';
import type { Chains } from '../log/chains.ts';
import type { Decided } from '../log/decidable.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { PeerFaults } from '../log/peer-faults.ts';
import type { LoggedRival } from '../log/rival-name.ts';
import { readBatch, type StoredBatch } from '../records/batch-tables.ts';
import type { Store } from '../store/store.ts';
import type { Transport, TransportMember, ValidationResult } from '../transport/contract.ts';
import { CatchUp } from './catch-up.ts';
import type { ChainBesides, ChainContradictionError, RecordsOfOthers } from './chain-assembler.ts';
import type { Equivocation, Equivocations } from './equivocations.ts';
import { encodeGossip, type GossipMessage, TOPIC_OF } from './gossip-forms.ts';
import { GossipHandler } from './gossip.ts';
import { HeadExchange } from './head-exchange.ts';
import { Holdings } from './holdings.ts';
import { type HaltReason, OwnChain, type Sufficiency } from './own-chain.ts';
import { OwnReplacement, type OwnReplacementOptions } from './own-replacement.ts';
import { PageClient } from './page-client.ts';
import { status } from './page-forms.ts';
import { PageServer } from './page-server.ts';
import { Replacement } from './replacement.ts';
import { RivalSearch } from './rival-search.ts';
import { RosterChanges } from './roster-changes.ts';
import { type AskRosters, RosterInquiry, rostersNamed } from './roster-inquiry.ts';
import { RosterTexts } from './roster-texts.ts';
import { type StartAnswers, startFrames } from './start/start-answers.ts';

export interface FederationOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly equivocations: Equivocations;
  /** What the log decided, by which copies of batches are taken. */
  readonly decided: Decided;
  readonly transport: Transport;
  readonly askRosters: AskRosters;
  readonly now: () => number;
  /** Former members that are let in still: of each, what it says of itself is heard. Default: none. */
  readonly leaving?: () => Promise<readonly TransportMember[]>;
  /** Whether this node was removed, and is done. Default: no. */
  readonly isReleased?: () => boolean;
  /**
   * The last batch of another node that is decided or may still be: one that was removed makes no more. Default: any.
   */
  readonly lastToCome?: (node: NodeId) => number;
  /** How long members have to come before they are asked at their public addresses, in milliseconds. */
  readonly rosterPatienceMs?: number;
  readonly log: Logger;
  /** A member says how far its own sources agree on the ledger's topic. */
  readonly onTold: (from: NodeId, point: TopicPoint) => void;
  /** A checkpoint came. Throws `PeerStatementError` where it does not hold. */
  readonly onCheckpoint: (signed: SignedCheckpoint) => Promise<unknown>;
  /** What this member answers one that has started; undefined in tests that are not about it. */
  readonly starts?: Pick<StartAnswers, 'answer' | 'noteFromOrigin'>;
  /** Whether the roster in force names this node. */
  readonly isMember: (node: NodeId) => boolean;
  /** Another member holds more of the own chain. Must not throw. */
  readonly onReplicated: () => void;
  /** What was held of another node's chain gave way to another one. Must not throw. */
  readonly onReplaced: (node: NodeId) => void;
  /** In [0, 1), for the jitter of back-offs. */
  readonly random: () => number;
  /** Batches of a node's chain are here, whole and checked. Must not throw. */
  readonly onHeld?: (node: NodeId) => void;
  /** Rows that are derived from own records and batches, for those that are taken back from peers. */
  readonly besidesOwn: ChainBesides;
  /** Who goes by what other nodes record. */
  readonly others?: RecordsOfOthers;
  readonly outbox: OwnReplacementOptions['outbox'];
  /** This node must sign no record and no batch any more. */
  readonly onHalt: (reason: HaltReason) => void;
}

/** This node among its peers: announces its batches, and holds everyone else's. */
export class FederationSync implements AsyncDisposable {
  /** What peers were caught at since the start. */
  readonly faults: PeerFaults;
  /** How far others hold the own chain. */
  readonly holdings: Holdings;
  readonly #options: FederationOptions;
  readonly #gossip: GossipHandler;
  readonly #heads: HeadExchange;
  readonly #catchUp: CatchUp;
  readonly #pages: PageServer;
  readonly #rivals: RivalSearch;
  readonly #replacement: Replacement;
  readonly #ownChain: OwnChain;
  readonly #rosters: RosterChanges;
  readonly #rosterTexts: RosterTexts;
  readonly #inquiry: RosterInquiry;
  readonly #closing = new AbortController();
  readonly #stopListening: (() => void)[] = [];
  #prepared: Promise<void> | undefined;

  constructor(options: FederationOptions) {
    this.#options = options;
    const { self, keys, besidesOwn } = options;
    const pages = new PageClient(options.transport);
    this.faults = new PeerFaults(options.now);
    const { faults } = this;
    const onLead = (node: NodeId, peer: NodeId, batch: number) => {
      if (node === self) this.#ownChain.noteClaim(peer, batch);
      else this.#catchUp.lead(node, peer, batch);
    };
    const onUnknownKey = (peer: NodeId) => this.#heads.exchange(peer);
    this.#gossip = new GossipHandler({
      ...options,
      faults,
      onLead,
      onEquivocation: (proof) => this.#onEquivocation(proof),
      onUnknownKey,
    });
    this.#heads = new HeadExchange({
      ...options,
      faults,
      pages,
      onLead,
      onRival: (node, peer, batch) => this.#judgeHead(node, peer, batch),
      onProof: (proof) => this.#gossip.learn(proof),
      onExchanged: (peer) => this.#ownChain.noteCompared(peer),
    });
    this.#catchUp = new CatchUp({
      ...options,
      faults,
      pages,
      onBatches: (node, batches, peer) => this.#onBatches(node, batches, peer),
      onContradiction: (node, peer, error) => this.#onContradiction(node, peer, error),
      onUnknownKey,
      besides: (node) => (node === self ? besidesOwn : undefined),
      isOutdone: (node) => this.#replacement.isDue(node),
      lastToCome: (node) =>
        node === self ? Number.POSITIVE_INFINITY : (options.lastToCome?.(node) ?? Number.POSITIVE_INFINITY),
    });
    this.#pages = new PageServer(options);
    this.holdings = new Holdings({ ...options, faults, onHeld: options.onReplicated });
    this.#rivals = new RivalSearch({ ...options, pages, signal: this.#closing.signal });
    this.#replacement = new Replacement({
      ...options,
      rivals: this.#rivals,
      catchUp: this.#catchUp,
      faults,
      onReplaced: (node, held, other) => this.#noteReplaced(node, held, other),
    });
    this.#ownChain = new OwnChain({
      ...options,
      rivals: this.#rivals,
      faults,
      pages,
      catchUp: this.#catchUp,
      replacement: new OwnReplacement({
        ...options,
        pages,
        besides: besidesOwn.batch,
        onReplaced: (batches) => this.noteSignedAnew(batches),
      }),
    });
    const onRemoved = () => this.#ownChain.noteRemoval();
    this.#rosters = new RosterChanges({
      ...options,
      currentRosters: keys.currentRosters,
      exchangeAll: () => this.#heads.exchangeAll(),
      onRemoved,
    });
    this.#rosterTexts = new RosterTexts({ ...options, faults, pages, currentRosters: keys.currentRosters });
    this.#inquiry = new RosterInquiry({
      ...options,
      currentRosters: keys.currentRosters,
      hasMet: () => options.transport.peers().some(({ connected }) => connected),
      onRemoved,
    });
  }

  /** Takes what the transport hears on a topic. */
  receive(data: Uint8Array, from: string): Promise<ValidationResult> {
    return this.#gossip.receive(data, nodeId(from));
  }

  get catchingUp(): readonly NodeId[] {
    return this.#catchUp.active;
  }

  /** How far each member that was asked since the start said last that it holds a node's chain. */
  toldHeads(node: NodeId): ReadonlyMap<NodeId, number> {
    return this.#heads.told(node);
  }

  /** Judges again what is known of the other members, and registers what they are answered. Talks to nobody yet. */
  prepare(): Promise<void> {
    this.#prepared ??= this.#prepare();
    return this.#prepared;
  }

  /** Meets the other members, prepared for it. */
  async start(): Promise<void> {
    const { transport, chains } = this.#options;
    await this.prepare();
    await transport.start();
    this.#inquiry.note();
    this.#heads.start();
    this.holdings.start();
    // A start goes on with what an earlier run left.
    for (const node of chains.all().keys()) this.#replacement.poke(node);
  }

  /**
   * Takes back own batches that only peers hold; resolves to their number. Call after `start` and before anything is
   * signed. Where the own chain has two stories the node is halted instead.
   */
  async recoverOwnChain(signal: AbortSignal, suffices: Sufficiency): Promise<number> {
    const { self, equivocations } = this.#options;
    if (equivocations.isForked(self)) this.#ownChain.noteFork();
    return this.#ownChain.recover(AbortSignal.any([signal, this.#closing.signal]), suffices);
  }

  /** What a start waits for may have changed. */
  pokeOwnChain(): void {
    this.#ownChain.poke();
  }

  /** Why this node signs nothing; null while all is well. */
  get halted(): HaltReason | null {
    return this.#ownChain.halted;
  }

  /** Most members have another log than this node's. */
  noteContradicted(): void {
    this.#ownChain.noteContradicted();
  }

  /** What is held of a node may not be what the log decided, or be by a key that is revoked from now on. */
  noteOutdone(node: NodeId): void {
    this.#replacement.poke(node);
  }

  /** The log decided another envelope of an own batch than the one that is held. */
  noteOwnOutdone(): void {
    this.#ownChain.noteOutdone();
  }

  /** Looks for the text of a roster that a majority has named; undefined where nobody shows it now. */
  findRoster(hash: Sha256Hash): Promise<string | undefined> {
    return this.#rosterTexts.find(hash);
  }

  /**
   * A mirror shows messages. Where they name rosters and nobody is connected, one of them may have dropped this node.
   */
  noteShown(messages: readonly Pick<MirrorMessage, 'message'>[]): void {
    const { hashes, genesis } = this.#options.keys.rosters;
    if (rostersNamed(genesis, messages).some((roster) => !hashes.includes(roster))) this.#inquiry.note();
  }

  /**
   * The ledger names other envelopes than those that it decided: members are asked to show them. Resolves once those
   * that are connected were asked.
   */
  async noteRivals(rivals: readonly LoggedRival[]): Promise<void> {
    const { equivocations, transport, log } = this.#options;
    await equivocations.noteRivals(rivals);
    for (const { node, batch, name } of rivals) {
      this.faults.note(node, 'equivocation');
      log.error(
        { node, batch, sequence: name.sequence },
        'a node names a batch on the ledger again, by another envelope',
      );
      for (const peer of transport.peers()) {
        // Of no more numbers than are kept: a node can pay for any number of names.
        if (!equivocations.wants(node, batch) || this.#closing.signal.aborted) break;
        if (peer.connected) await this.#lookForRival(node, nodeId(peer.node), batch);
      }
    }
  }

  /** This node was removed and is done, or what one that leaves recorded is: who is let in is looked at again. */
  noteReleased(): void {
    this.#rosters.look();
  }

  /** Tells the federation of a new key certificate or revocation of this node. */
  announceKey(type: 'certificate' | 'revocation', signed: SignedStatement): Promise<void> {
    return this.#publish({ type, signed });
  }

  /** Tells the federation of a batch that this node has sealed. */
  async announce(batch: StoredBatch): Promise<void> {
    this.#options.chains.advance(batch);
    this.#options.onHeld?.(batch.envelope.node);
    await this.#publish({ type: 'envelope', signed: batch.signed });
  }

  /** Own batches, in order, are signed by another key now: what others hold of the old ones is not to be named. */
  noteSignedAnew(batches: readonly StoredBatch[]): void {
    const { chains, onHeld } = this.#options;
    const [first] = batches;
    const last = batches.at(-1);
    if (first === undefined || last === undefined) return;
    const { node, batch } = last.envelope;
    // What follows the last of them is yet to be signed.
    if (batch === chains.head(node).batch) chains.advance(last);
    this.holdings.forget(first.envelope.batch);
    onHeld?.(node);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const stop of this.#stopListening) stop();
    await this.holdings[Symbol.asyncDispose]();
    await this.#replacement[Symbol.asyncDispose]();
    this.#rosterTexts[Symbol.dispose]();
    await this.#inquiry[Symbol.asyncDispose]();
    await this.#rosters[Symbol.asyncDispose]();
    await this.#catchUp[Symbol.asyncDispose]();
    await this.#heads[Symbol.asyncDispose]();
    await this.#options.transport[Symbol.asyncDispose]();
  }

  async #prepare(): Promise<void> {
    const { transport, keys } = this.#options;
    const heads = this.#heads;
    transport.serve('status', async function* () {
      yield status.encode(heads.status());
    });
    const { starts } = this.#options;
    const gossip = this.#gossip;
    if (starts !== undefined) {
      transport.serve('start', async function* (_request, from) {
        const answer = await starts.answer(nodeId(from));
        const announced = gossip.announced(nodeId(from), answer.batch);
        yield* startFrames({ ...answer, ...(announced && { announced }) });
      });
    }
    transport.serve('batches', (request, from, _signal, version) => {
      return this.#servePages(request, nodeId(from), version);
    });
    this.#stopListening.push(
      transport.onConnect((peer) => {
        this.#catchUp.forgive(nodeId(peer));
        gossip.noteConnected(nodeId(peer));
        heads.meet(nodeId(peer));
      }),
    );
    this.#stopListening.push(keys.onRevocation(({ node }) => this.#reconsider(node)));
    await this.#options.equivocations.reconsider();
    await this.#rosters.start();
  }

  async *#servePages(body: Uint8Array, peer: NodeId, version: number): AsyncGenerator<Uint8Array> {
    const request = this.#pages.requestOf(body, peer, this.faults);
    yield* this.#pages.serve(request, version);
    if (request.want === 'chain' && request.node === this.#options.self) this.holdings.noteServed(peer, request.batch);
  }

  /** Batches of one chain are whole and checked. */
  async #onBatches(node: NodeId, batches: readonly StoredBatch[], peer: NodeId): Promise<void> {
    const { starts, onHeld, log } = this.#options;
    try {
      if (peer === node) {
        await starts?.noteFromOrigin(
          node,
          batches.map(({ envelope }) => envelope.batch),
        );
      }
    } catch (error) {
      // It is held all the same; only a rescue of it, after a start of its node, has one witness less.
      log.error({ err: error, node }, 'what a node gave of its own chain was not noted');
    }
    this.holdings.noteStored(node);
    onHeld?.(node);
    for (const { signed } of batches) await this.#gossip.watch(signed);
  }

  /** A node's signatures do not fit together: find the two envelopes that prove it to anyone. */
  async #onContradiction(node: NodeId, peer: NodeId, error: ChainContradictionError): Promise<void> {
    if (node === this.#options.self) this.#ownChain.noteFork();
    this.#replacement.poke(node);
    for (const signed of error.signed) {
      // Only envelopes can be rivals; a contradicting group is kept in the log alone.
      if (signed.statement.includes('"type":"batch"')) await this.#gossip.watch(signed);
    }
    const { batch } = this.#options.chains.head(node);
    if (batch > 0) await this.#lookForRival(node, peer, batch);
  }

  /** A head is a bare word: anyone who names another one than ours has an envelope to show for it. */
  async #judgeHead(node: NodeId, peer: NodeId, batch: number): Promise<void> {
    this.#replacement.poke(node);
    const theirs = await this.#lookForRival(node, peer, batch);
    if (theirs === 'unanswered') return;
    const ours = await readBatch(this.#options.store, node, batch);
    if (theirs === null || theirs.statement === ours?.signed.statement) this.faults.note(peer, 'withheld');
  }

  /** Takes a look at the envelope that a peer holds in the place of ours; null where it shows none. */
  async #lookForRival(node: NodeId, peer: NodeId, batch: number): Promise<SignedStatement | 'unanswered' | null> {
    try {
      const theirs = await this.#rivals.envelope(peer, node, batch);
      if (theirs === undefined) return null;
      await this.#gossip.watch(theirs.signed);
      return theirs.signed;
    } catch (error) {
      this.faults.noteError(peer, error);
      this.#options.log.warn({ err: error, node, peer, batch }, 'a peer does not show the envelope that it speaks of');
      return 'unanswered';
    }
  }

  /** A key of the node was revoked: what it signed may accuse it no more. */
  #reconsider(node: NodeId): void {
    this.#options.equivocations.reconsider(node).catch((error: unknown) => {
      this.#options.log.error({ err: error, node }, 'the equivocations of a node could not be judged again');
    });
  }

  /** Both envelopes may be two stories of their node. */
  #noteReplaced(node: NodeId, first: SignedStatement, second: SignedStatement): void {
    this.#options.onReplaced(node);
    this.#gossip.learn({ first, second }).catch((error: unknown) => {
      this.#options.log.error({ err: error, node }, 'the envelope that was held in place of another was not kept');
    });
  }

  #onEquivocation(proof: Equivocation): void {
    const { self, log, equivocations } = this.#options;
    log.error({ proof }, 'a node signed two envelopes for one batch');
    const { node, batch } = envelopeStatement.parse(proof.first.statement);
    if (equivocations.isSigned(node, batch)) this.faults.note(node, 'equivocation');
    if (node === self && equivocations.isForked(self)) this.#ownChain.noteFork();
    void this.#publish({ type: 'equivocation', proof });
  }

  async #publish(message: GossipMessage): Promise<void> {
    try {
      await this.#options.transport.publish(TOPIC_OF[message.type], encodeGossip(message));
    } catch (error) {
      // Peers that missed it learn of it when heads are compared.
      this.#options.log.warn({ err: error, type: message.type }, 'gossip was not sent');
    }
  }
}
