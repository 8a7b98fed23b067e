import type { EquivocationsAnswer } from '../../protocol/api/equivocations.ts';
import { isNodeId, type NodeId } from '../../protocol/ids.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { judgedOrNull, judgeEnvelopes } from '../../protocol/proof/judge.ts';
import { judgeRosters } from '../../protocol/proof/verify.ts';
import { timestampOfConsensus } from '../../protocol/time.ts';
import { PROMISE_MS } from '../attestation/anchoring-promise.ts';
import { type Alert, Alerts, type NoticeCode } from './alerts.ts';
import { AuthorityWatch, signedOf } from './authority-watch.ts';
import { ChainReading, headOf } from './chain-reading.ts';
import { ChainWatch, type Proven } from './chain-watch.ts';
import { type Patience, seeAuthorities, seeChain } from './conditions.ts';
import { Faces } from './faces.ts';
import { ForeignAnchors } from './foreign-anchors.ts';
import { compareHeads } from './head-comparison.ts';
import { learnAuthorities } from './learn-authorities.ts';
import type { MonitorOptions, RoundResult } from './monitor-options.ts';
import { ProofShelf } from './proof-shelf.ts';
import { PublicFace } from './public-face.ts';
import { type MonitorState, type OpenBatch, readState, writeState } from './state.ts';
import { TopicWatch } from './topic-watch.ts';

/** In milliseconds. */
const PATIENCE: Patience = { anchorMs: PROMISE_MS, bodyMs: 60_000 };
const FAILING_ROUNDS = 3;
/** Pages of one node's proofs in one round at most. */
const PROOF_PAGES_A_ROUND = 8;

/**
 * A watcher that is no member and holds no key: reads the ledger topic and what nodes show to anyone, checks all of it up
 * to the genesis roster, says what is late or missing, and writes a proof of every misbehaviour that is signed.
 *
 * Ownership: everything is moved by the one round that is under way. Crash order: proofs are written as they are found,
 * the state at the end of a round; a crash between reads the round's part again.
 */
export class Monitor implements Disposable {
  readonly #options: MonitorOptions;
  readonly #patience: Patience;
  readonly #ending = new AbortController();
  readonly #alerts: Alerts;
  readonly #authority: AuthorityWatch;
  readonly #topic: TopicWatch;
  readonly #faces: Faces;
  readonly #reading: ChainReading;
  readonly #shelf: ProofShelf;
  readonly #foreign = new ForeignAnchors();
  readonly #chains = new Map<NodeId, ChainWatch>();
  #newProofs = 0;
  #lastRoundAt = 0;
  /** Seconds from sealing to consensus of the batches that closed. */
  onAnchored: (seconds: number) => void = () => undefined;

  private constructor(options: MonitorOptions, state: MonitorState | null) {
    const { now, mirror } = options;
    this.#options = options;
    this.#patience = { ...PATIENCE, ...options.patience };
    this.#alerts = new Alerts(state?.alerts);
    this.#authority = new AuthorityWatch(options.rosters, state ?? undefined);
    this.#shelf = new ProofShelf(options.proofDirectory, state?.proofs);
    const { genesis: federation, current } = this.#authority.rosters;
    const { signal } = this.#ending;
    const topic = { mirror, topicId: current.ledger.topicId, federation, alerts: this.#alerts, now, signal };
    this.#topic = new TopicWatch(topic, state?.topic);
    const urls = options.nodes ?? current.members.map(({ baseUrl }) => baseUrl);
    const faces = [...new Set(urls)].map((url) => new PublicFace(url.replace(/\/$/, ''), { now, signal }));
    const patience = options.failingRounds ?? FAILING_ROUNDS;
    this.#faces = new Faces({ faces, alerts: this.#alerts, now, patience });
    this.#reading = new ChainReading({
      faces: this.#faces,
      authorities: this.#authority,
      now,
      onProven: (proven) => this.#prove(proven),
    });
    for (const [node, chain] of Object.entries(state?.chains ?? {})) {
      if (isNodeId(node)) this.#chains.set(node, new ChainWatch(node, chain));
    }
  }

  /** Goes on where the state file ends. Throws `StateFileError`, `RosterError`. */
  static async open(options: MonitorOptions): Promise<Monitor> {
    const { genesis } = new AuthorityWatch(options.rosters).rosters;
    const state = options.stateFile === null ? null : await readState(options.stateFile, genesis);
    return new Monitor(options, state);
  }

  get alerts(): readonly Alert[] {
    return this.#alerts.all();
  }

  /** Conditions over the bound, which are not among the alerts. */
  get alertsDropped(): number {
    return this.#alerts.dropped;
  }

  /** Names of all proofs, those of earlier runs too. */
  get proofs(): readonly string[] {
    return this.#shelf.names;
  }

  /** Epoch milliseconds; 0 before the first. */
  get lastRoundAt(): number {
    return this.#lastRoundAt;
  }

  get topicSequence(): number {
    return this.#topic.head.sequence;
  }

  /** Last batch read of each chain, and how many of it wait for the ledger or a quorum. */
  get heads(): readonly { readonly node: NodeId; readonly batch: number; readonly open: number }[] {
    return [...this.#chains.values()].map((chain) => ({
      node: chain.node,
      batch: chain.head,
      open: [...chain.open].length,
    }));
  }

  /** Reads and checks what is new, tells of it, and keeps the state. Rejects only where the disk does. */
  async round(): Promise<RoundResult> {
    this.#newProofs = 0;
    this.#reading.begin();
    await this.#faces.begin();
    await learnAuthorities(this.#authority, this.#faces);
    await this.#readTopic();
    for (const node of this.#authority.rosters.nodes) await this.#readChain(this.#chain(node));
    await this.#reading.spotCheck([...this.#chains.values()]);
    const { now } = this.#options;
    const comparison = { faces: this.#faces, reading: this.#reading, alerts: this.#alerts, now };
    await compareHeads(comparison, this.#chains.values());
    await this.#readProofs();
    await this.#foreign.explain([...this.#chains.values()], this.#reading);
    await this.#proveRosters();
    const complete = this.#conclude();
    if (this.#options.stateFile !== null) await writeState(this.#options.stateFile, this.#state());
    this.#lastRoundAt = this.#options.now();
    return { complete, alerts: this.alerts, newProofs: this.#newProofs };
  }

  /** Ends what is being asked. The round under way still ends by itself, soon. */
  [Symbol.dispose](): void {
    this.#ending.abort();
  }

  async #readTopic(): Promise<void> {
    // A long ledger waits for the chains: what is on it must be kept until its batch is read.
    const isWorking = ({ node, ahead }: ChainWatch) => ahead.isMany && this.#reading.isUnderWay(node);
    if ([...this.#chains.values()].some(isWorking)) return this.#topic.rest();
    for (const entry of await this.#topic.read()) {
      const { anchor, seen } = entry;
      if (anchor.type !== 'batch') this.#authority.read(entry, this.#options.now());
      // A stranger may write of nodes that there are not.
      else if (this.#authority.rosters.nodes.includes(anchor.node)) {
        this.#chain(anchor.node).anchored({ batch: anchor.batch, envelope: anchor.envelope, ...seen });
      }
    }
  }

  async #readChain(chain: ChainWatch): Promise<void> {
    await this.#reading.forward(chain);
    for (const open of chain.open) {
      if (open.anchoredAt !== null) this.#close(chain, open);
    }
  }

  #close(chain: ChainWatch, { batch, sealedAt, anchoredAt, keyId }: OpenBatch): void {
    chain.close(batch);
    if (anchoredAt === null) return;
    const subject = `${chain.node}/${batch}`;
    const consensus = timestampOfConsensus(anchoredAt);
    const delay = Date.parse(consensus) - Date.parse(sealedAt);
    const notice = (code: NoticeCode, detail: string) =>
      this.#options.onEvent({ kind: 'notice', code, subject, detail });
    if (delay > this.#patience.anchorMs) notice('anchor-late', `on the ledger ${delay / 1000} s after it was sealed`);
    if (delay < 0) notice('sealed-after-anchor', `says ${sealedAt} and was on the ledger at ${consensus}`);
    if (!this.#authority.directory.standsAt(chain.node, keyId, anchoredAt)) {
      notice('key-revoked', `reached the ledger at ${consensus}, when its key counted no more`);
    }
    this.onAnchored(delay / 1000);
  }

  /** Takes the proofs that nodes hold of batches that are not proven here. */
  async #readProofs(): Promise<void> {
    for (const { face, federation } of this.#faces.shown) {
      const isNew = federation.equivocations.some(
        ({ node, batch }) => !this.#shelf.names.includes(`equivocation-${node}-${node}-${batch}`),
      );
      if (!isNew) continue;
      await this.#faces.ask(face, async () => {
        let cursor: string | null = null;
        for (let asked = 0; asked < PROOF_PAGES_A_ROUND; asked++) {
          const page: EquivocationsAnswer = await face.equivocations(cursor);
          for (const { envelopes } of page.equivocations) {
            const [first, second] = envelopes.flatMap(({ signed }) => signed ?? []);
            if (first === undefined || second === undefined) continue;
            const finding = judgedOrNull(() => judgeEnvelopes(this.#authority, first, second));
            if (finding === null) this.#faces.lies(face, 'an equivocation that proves nothing');
            else await this.#prove({ finding, statements: [first, second] });
          }
          cursor = page.nextCursor;
          if (cursor === null) return;
        }
      });
    }
  }

  async #proveRosters(): Promise<void> {
    const { rosters, rivals } = this.#authority;
    for (const rival of rivals) {
      for (const signed of signedOf(rosters)) {
        const finding = judgedOrNull(() => judgeRosters(this.#authority, signed, rival));
        if (finding !== null) await this.#prove({ finding, statements: [] }, [signed, rival]);
      }
    }
  }

  /** Tells what holds now and what does not any more. Whether there is nothing more to read at present. */
  #conclude(): boolean {
    // What could not be asked any more says nothing of those who were to answer.
    if (this.#ending.signal.aborted) return false;
    const complete = this.#seeAll();
    const { raised, cleared } = this.#alerts.settle();
    for (const alert of raised) this.#tell('alert', alert);
    for (const alert of cleared) this.#tell('cleared', alert);
    return complete;
  }

  #seeAll(): boolean {
    const { now } = this.#options;
    const { atEnd } = this.#topic;
    this.#faces.end();
    for (const chain of this.#chains.values()) {
      seeChain(chain, this.#authority, this.#alerts, { now: now(), patience: this.#patience, atEnd });
    }
    seeAuthorities(this.#authority, this.#alerts, now(), this.#patience);
    const isBehind = this.#faces.shown.some((shown) =>
      [...this.#chains.values()].some(
        (chain) => !chain.tainted && (headOf(shown, chain.node)?.batch ?? 0) > chain.head,
      ),
    );
    return atEnd && !this.#faces.paced && !isBehind;
  }

  async #prove({ finding, statements }: Proven, contradicting: readonly SignedRoster[] = []): Promise<void> {
    const { misdeed, members, batch, revokedKeys } = finding;
    if (batch !== null && (misdeed === 'equivocation' || misdeed === 'broken-chain')) this.#chain(batch.node).taint();
    const file = await this.#shelf.put(finding, { statements, contradicting }, this.#authority);
    if (file === null) return;
    this.#newProofs++;
    const subject = batch === null ? members.join(', ') : `${batch.node}/${batch.number}`;
    const revoked = revokedKeys.length === 0 ? '' : '; the key is revoked: somebody else may have held it';
    const detail = `by ${members.join(', ')}${revoked}`;
    this.#options.onEvent({ kind: 'proof', code: misdeed, subject, detail, file });
  }

  #chain(node: NodeId): ChainWatch {
    const chain = this.#chains.get(node) ?? new ChainWatch(node);
    this.#chains.set(node, chain);
    return chain;
  }

  #tell(kind: 'alert' | 'cleared', { code, subject, detail }: Alert): void {
    this.#options.onEvent({ kind, code, subject, detail });
  }

  #state(): MonitorState {
    const chains = Object.fromEntries([...this.#chains].map(([node, chain]) => [node, chain.state()]));
    const { genesis } = this.#authority.rosters;
    const shelf = { alerts: [...this.alerts], proofs: [...this.#shelf.names] };
    return { v: 3, genesis, topic: this.#topic.head, ...this.#authority.state(), chains, ...shelf };
  }
}
