import { Agreement } from '../../../node/anchoring/topic/agreement.ts';
import { LinkError } from '../../../node/anchoring/topic/topic-links.ts';
import { CheckpointStore } from '../../../node/log/checkpoint-store.ts';
import { nextCheckpoint } from '../../../node/log/checkpoints.ts';
import { FederationLog, type LoggedDecision } from '../../../node/log/federation-log.ts';
import { RosterLackingError, takeFinal } from '../../../node/log/take-final.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { checkpointStatement, type SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import { nextBatch, rosterInForce } from '../../../protocol/log/decision-state.ts';
import { type LedgerMessage, parseLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope, nameStatement } from '../../../protocol/log/naming.ts';
import { majorityOf, type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { signatureHolds, signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { envelopeHash, sealDrafts, type SealedBatch } from '../../fixtures/federation-log-batch.ts';
import { newestKey } from '../../fixtures/federation-log-member.ts';
import { keyedSuite } from '../../fixtures/keyed-suite.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';
import { type Chain, type Derivations, emptyChain } from './derivations.ts';
import { type Mirror, TOPIC } from './ledger.ts';
import type { Letter, Said } from './network.ts';
import type { Setting } from './setting.ts';

/** Batches that a node seals ahead of what was decided of it. */
const MOST_AHEAD = 4;
const PAGE_MESSAGES = 100;

/** What a member has on its disk: all that outlasts a crash, and what an old copy rolls back. */
export interface Written {
  readonly rows: MemoryRows;
  /** By envelope hash. */
  readonly batches: Map<Sha256Hash, SealedBatch>;
  readonly chains: Map<NodeId, Chain>;
}

export function emptyDisk(): Written {
  return { rows: new MemoryRows(), batches: new Map(), chains: new Map() };
}

export function copyDisk({ rows, batches, chains }: Written): Written {
  return { rows: rows.copy(), batches: new Map(batches), chains: new Map(chains) };
}

/** What became of a message that a member gave to the ledger. */
export type Fate = 'lost' | 'silent' | 'receipt';

/**
 * A member that runs: its disk, and what it forgets in a crash. It acts by the node's own rules, when it is told to.
 */
export class ModelMember {
  readonly node: NodeId;
  readonly disk: Written;
  readonly log: FederationLog;
  readonly checkpointStore: CheckpointStore;
  readonly agreement: Agreement;
  readonly mirrors: readonly Mirror[];
  readonly #setting: Setting;
  readonly #derivations: Derivations;
  /** Milliseconds by which its clock differs. */
  readonly #clock: number;
  /** Own envelopes that another member holds. */
  readonly #replicated = new Set<Sha256Hash>();
  readonly #endAtStart: number;
  readonly #answered = new Set<NodeId>();
  readonly #texts = new Map<Sha256Hash, string>();
  #roster: Roster;
  /** Whether it tells others nothing. */
  isSilent = false;

  private constructor(
    setting: Setting,
    derivations: Derivations,
    node: NodeId,
    parts: Pick<ModelMember, 'checkpointStore' | 'disk' | 'log' | 'mirrors'>,
    roster: Roster,
  ) {
    this.node = node;
    this.disk = parts.disk;
    this.log = parts.log;
    this.checkpointStore = parts.checkpointStore;
    this.mirrors = parts.mirrors;
    this.#setting = setting;
    this.#derivations = derivations;
    this.#clock = (setting.nodes.indexOf(node) - 2) * 20_000;
    this.#endAtStart = setting.truth.length;
    this.#roster = roster;
    const { sequence, runningHash } = parts.log.state;
    this.agreement = new Agreement({
      topicId: TOPIC,
      head: { sequence, runningHash, consensusTimestamp: null },
      sources: parts.mirrors.map(({ name }) => name),
      self: node,
      members: roster.members.map((member) => member.node),
    });
  }

  static async start(
    setting: Setting,
    derivations: Derivations,
    node: NodeId,
    disk: Written,
    mirrors: readonly Mirror[],
  ): Promise<ModelMember> {
    const log = await FederationLog.open(disk.rows, setting.genesisText);
    const checkpointStore = await CheckpointStore.open(disk.rows, log);
    const roster = rosterStatement.parse((await log.rosterText(rosterInForce(log.state))) ?? '');
    return new ModelMember(setting, derivations, node, { log, checkpointStore, disk, mirrors }, roster);
  }

  /** The roster in force, as far as it has read. */
  get roster(): Roster {
    return this.#roster;
  }

  get isMember(): boolean {
    return this.#roster.members.some(({ node }) => node === this.node);
  }

  /** Whether it knows how far its own chain goes, so that it may sign (protocol §9). */
  get isReady(): boolean {
    if (this.#endAtStart === 0) return true;
    const { members } = this.#roster;
    const others = members.filter(({ node }) => node !== this.node);
    const answered = others.filter(({ node }) => this.#answered.has(node)).length;
    const needed = Math.min(others.length, members.length - majorityOf({ members }));
    const decided = this.log.state.members[this.node]?.last?.batch ?? 0;
    return this.log.state.sequence >= this.#endAtStart && answered >= needed && this.ownBatches().length >= decided;
  }

  /** Asks a mirror, and takes what became final. */
  async read(mirror: Mirror): Promise<void> {
    const after = this.agreement.nextRead(mirror.name);
    if (after === null) return;
    try {
      this.agreement.takePage(mirror.name, after, mirror.page(after));
    } catch (error) {
      if (!(error instanceof LinkError)) throw error;
    }
    await this.#deliver();
  }

  async askConsensus(): Promise<void> {
    const { truth } = this.#setting;
    this.agreement.noteConsensus(truth.pointAt(truth.length));
    await this.#deliver();
  }

  async receive({ from, said }: Letter): Promise<void> {
    switch (said.kind) {
      case 'told':
        this.agreement.noteTold(from, said.point);
        return this.#deliver();
      case 'checkpoint':
        return this.#learn(said.signed);
      case 'batches':
        for (const sealed of said.batches) this.disk.batches.set(envelopeHash(sealed), sealed);
        this.send(from, { kind: 'held', envelopes: said.batches.map(envelopeHash) });
        return this.#derive();
      case 'held':
        for (const envelope of said.envelopes) this.#replicated.add(envelope);
        return undefined;
      case 'rosters':
        for (const text of said.texts) this.learnRoster(text);
        return this.#deliver();
      case 'ask':
        return this.send(from, {
          kind: 'answer',
          batches: [...this.disk.batches.values()].filter(({ node }) => node === from),
          checkpoints: this.checkpointStore.of(from).map(({ signed }) => signed),
        });
      case 'answer':
        for (const sealed of said.batches) this.disk.batches.set(envelopeHash(sealed), sealed);
        for (const signed of said.checkpoints) await this.#learn(signed);
        this.#answered.add(from);
        return this.#derive();
    }
  }

  send(to: NodeId, said: Said): void {
    if (!this.isSilent) this.#setting.network.send({ from: this.node, to, said });
  }

  tellAll(said: Said): void {
    for (const to of this.#setting.nodes) if (to !== this.node) this.send(to, said);
  }

  /**
   * Tells all others what it has: the ledger's word, batches, rosters, and its checkpoint, a new one where it may sign
   * one.
   */
  async gossip(): Promise<void> {
    this.tellAll({ kind: 'told', point: this.agreement.agreedBySources() });
    if (!this.isReady) this.tellAll({ kind: 'ask' });
    this.tellAll({ kind: 'batches', batches: [...this.disk.batches.values()] });
    const inForce = await Promise.all(this.log.state.rosters.map(({ hash }) => this.log.rosterText(hash)));
    this.tellAll({ kind: 'rosters', texts: [...this.#texts.values(), ...inForce.flatMap((text) => text ?? [])] });
    await this.#sign();
    const own = this.checkpointStore.newest(this.node);
    if (own !== undefined) this.tellAll({ kind: 'checkpoint', signed: own.signed });
  }

  /** Seals a batch of one record. Null where it may not. */
  async seal(): Promise<SealedBatch | null> {
    const own = this.ownBatches();
    const last = own.at(-1);
    const decided = this.log.state.members[this.node]?.last?.batch ?? 0;
    if (!this.isReady || !this.isMember || own.length - decided >= MOST_AHEAD) return null;
    const key = newestKey(this.#setting.makerOf(this.node));
    const at = timestampOf(this.#setting.tick() + this.#clock);
    const sealed = await sealDrafts(
      {
        node: this.node,
        batch: own.length + 1,
        first: last === undefined ? 1 : last.envelope.first + last.envelope.size,
        prev: last === undefined ? null : envelopeHash(last),
        from: at,
        submittedAt: at,
        sealedAt: at,
        groupKey: key,
        envelopeKey: key,
        changeGroup: {},
        changeEnvelope: {},
      },
      [{ account: `acc_${at}` }],
    );
    this.disk.batches.set(envelopeHash(sealed), sealed);
    this.tellAll({ kind: 'batches', batches: [sealed] });
    return sealed;
  }

  /** Names its next batch on the ledger, once another member holds it. */
  async name(fate: Fate): Promise<void> {
    const known = this.log.state.members[this.node];
    const sealed = known === undefined ? undefined : this.ownBatches()[nextBatch(known) - 1];
    if (sealed === undefined || !this.isReady || !this.#replicated.has(envelopeHash(sealed))) return;
    await this.#pay(this.#nameOf(sealed), fate);
  }

  /** Names the next batch of another node that it holds. */
  async rescue(node: NodeId, fate: Fate): Promise<void> {
    const known = this.log.state.members[node] ?? this.log.state.past[node];
    if (known === undefined || node === this.node) return;
    const sealed = [...this.disk.batches.values()].find((one) => one.node === node && one.batch === nextBatch(known));
    if (sealed !== undefined) await this.#pay(this.#nameOf(sealed), fate);
  }

  /** Keeps the text of a roster, which need not be in force; others bring it again where it is lost. */
  learnRoster(text: string): void {
    this.#texts.set(rosterHash(text), text);
  }

  /** Names a roster that its operator signed. */
  async nameRoster(text: string, fate: Fate): Promise<void> {
    this.learnRoster(text);
    await this.#pay(nameStatement(keyedSuite, this.#setting.federation, { type: 'roster', text }), fate);
  }

  /** Its own batches, each following the one before; of two of one number the decided one. */
  ownBatches(): readonly SealedBatch[] {
    const own = [...this.disk.batches.values()].filter(({ node }) => node === this.node);
    const derived = this.disk.chains.get(this.node)?.state;
    const chain: SealedBatch[] = [];
    for (let prev: Sha256Hash | null = null; ;) {
      const next = own.filter(({ envelope }) => envelope.batch === chain.length + 1 && envelope.prev === prev);
      const isDecided = (sealed: SealedBatch) => envelopeHash(sealed) === derived?.prev;
      const found = next.find(isDecided) ?? next[0];
      if (found === undefined) return chain;
      chain.push(found);
      prev = envelopeHash(found);
    }
  }

  /** Of each node the last batch that it derived. */
  vouched(): ReadonlyMap<NodeId, number> {
    return new Map(
      [...this.disk.chains].flatMap(([node, { state }]) => (state.batch > 0 ? [[node, state.batch]] : [])),
    );
  }

  async #pay(message: LedgerMessage, fate: Fate): Promise<void> {
    if (fate === 'lost') return;
    const sequence = this.#setting.pay(this.#setting.accountOf(this.node), message);
    if (fate === 'silent') return;
    this.agreement.noteConsensus(this.#setting.truth.pointAt(sequence));
    await this.#deliver();
  }

  #nameOf(sealed: SealedBatch): LedgerMessage {
    return nameEnvelope(keyedSuite, this.#setting.federation, sealed.envelope, sealed.signedEnvelope.statement);
  }

  async #deliver(): Promise<void> {
    for (;;) {
      const messages = this.agreement.nextFinal(PAGE_MESSAGES);
      if (messages.length === 0) return;
      try {
        await takeFinal(this.log, messages, {
          textOf: (hash) => this.#texts.get(hash),
          onAdvance: ({ decided }) => this.#noteDecided(decided),
        });
      } catch (error) {
        // The same messages come again.
        if (error instanceof RosterLackingError) return;
        throw error;
      }
      this.agreement.advance(messages);
    }
  }

  async #noteDecided(decided: readonly LoggedDecision[]): Promise<void> {
    if (decided.length === 0) return;
    await this.checkpointStore.reconsider();
    if (decided.some(({ named }) => named.type === 'roster')) {
      this.#roster = rosterStatement.parse((await this.log.rosterText(rosterInForce(this.log.state))) ?? '');
      this.agreement.setMembers(this.#roster.members.map(({ node }) => node));
    }
    await this.#derive();
  }

  async #derive(): Promise<void> {
    for (const node of this.#setting.nodes) {
      let chain: Chain | null = this.disk.chains.get(node) ?? emptyChain(node);
      while (chain !== null) {
        const decision = await this.log.decisionOf(node, chain.state.batch + 1);
        const named = decision === undefined ? undefined : parseLedgerMessage(decision.message);
        const sealed = named?.type === 'batch' ? this.disk.batches.get(named.envelope) : undefined;
        if (decision === undefined || sealed === undefined) break;
        chain = await this.#derivations.after(chain, decision, sealed);
        if (chain !== null) this.disk.chains.set(node, chain);
      }
    }
  }

  async #learn(signed: SignedCheckpoint): Promise<void> {
    const checkpoint = checkpointStatement.parse(signed.text);
    const publicKey = this.#setting.publicKey(checkpoint.node, checkpoint.keyId);
    const statement = { statement: signed.text, signature: signed.signature };
    if (publicKey === undefined || !signatureHolds(keyedSuite, checkpointStatement, statement, publicKey)) return;
    await this.checkpointStore.learn({ checkpoint, signed });
  }

  async #sign(): Promise<void> {
    if (!this.isReady) return;
    const { signer } = newestKey(this.#setting.makerOf(this.node));
    const checkpoint = await nextCheckpoint({
      self: this.node,
      federation: this.#setting.federation,
      keyId: signer.keyId,
      tree: this.log,
      vouched: this.vouched(),
      before: this.checkpointStore.signedBy(this.node),
    });
    if (checkpoint === null) return;
    const { statement: text, signature } = await signStatement(checkpointStatement, checkpoint, signer);
    await this.checkpointStore.learn({ checkpoint, signed: { text, signature } });
  }
}

/** Hash of a roster's text. */
export function rosterHash(text: string): Sha256Hash {
  return hashText(keyedSuite, text);
}
