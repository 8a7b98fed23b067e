import { type Envelope, envelopeStatement } from '../../protocol/chain/envelope.ts';
import { hashText } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { type DecisionState, knownNode } from '../../protocol/log/decision-state.ts';
import { signatureHolds, type SignedStatement, StatementError } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { DecidedBatch, KeptLog } from './kept-log.ts';
import type { PublicNode } from '../../node/federation/public-node.ts';
import type { StatementWatch } from './statement-watch.ts';
import { FalseAnswerError, type WatchedNodes } from './watched-nodes.ts';

/** An envelope that a node shows beside the decided one, signed by a key of its origin. */
export interface ShownRival {
  readonly node: NodeId;
  readonly batch: number;
  readonly decided: DecidedBatch;
  readonly rival: SignedStatement;
}

export interface ChainWatchOptions {
  readonly state: () => DecisionState;
  readonly kept: KeptLog;
  readonly statements: StatementWatch;
  readonly nodes: WatchedNodes;
  readonly now: () => number;
  /** In [0, 1): which batches are looked at again. */
  readonly random: () => number;
  /** Told of every decided envelope as a node shows it first. */
  readonly onShown: (envelope: Envelope, decided: DecidedBatch) => void;
  /** Told of every envelope beside a decided one; the same may come again. */
  readonly onRival: (rival: ShownRival) => void;
}

/** A batch that a node shows and the log has not decided. */
export interface OpenBatch {
  readonly batch: number;
  readonly sealedAt: string;
  /** When it was seen first, in epoch milliseconds: `sealedAt` is the word of its node. */
  readonly seenAt: number;
}

/** Pages of one chain in one round at most. */
const PAGES_PER_POLL = 16;
/** Batches before the newest among which one in two looks begins, for a lie is told where it pays: at the end. */
const NEWEST = 4;

/**
 * The chains of all nodes, as far as the log decided them: nodes must show every envelope that was decided, and none
 * but that, signed by a key that its node certified.
 */
export class ChainWatch {
  readonly #options: ChainWatchOptions;
  readonly #shown: Map<NodeId, number>;
  readonly #open = new Map<NodeId, readonly OpenBatch[]>();
  /** Chains that were read further in this round and are not at their end. */
  readonly #underWay = new Set<NodeId>();
  #turn = 0;

  constructor(options: ChainWatchOptions, shown: Readonly<Record<string, number>>) {
    this.#options = options;
    this.#shown = new Map(Object.entries(shown).map(([node, batch]) => [nodeId(node), batch]));
  }

  /** Every node that a roster named. */
  get nodes(): readonly NodeId[] {
    const { members, past } = this.#options.state();
    return Object.keys({ ...past, ...members })
      .map(nodeId)
      .toSorted();
  }

  /** Whether there is so much to look at that the ledger may wait. */
  get isBusy(): boolean {
    const behind = [...this.#underWay].map((node) => this.decided(node) - this.shown(node));
    return behind.reduce((sum, batches) => sum + batches, 0) > this.#options.kept.patience;
  }

  /** Last batch of a node that the log decided. */
  decided(node: NodeId): number {
    return knownNode(this.#options.state(), node)?.last?.batch ?? 0;
  }

  /** Last batch of a node up to which nodes showed every decided envelope. */
  shown(node: NodeId): number {
    return this.#shown.get(node) ?? 0;
  }

  /** Whether a node says that it has more of what was decided. */
  isReadable(node: NodeId): boolean {
    const next = this.shown(node) + 1;
    const heads = this.#options.nodes.answering.flatMap(({ view }) => view.heads.filter((one) => one.node === node));
    return next <= this.decided(node) && heads.some(({ batch }) => batch >= next);
  }

  /** Batches that nodes show after the last that was decided. */
  open(node: NodeId): readonly OpenBatch[] {
    return this.#open.get(node) ?? [];
  }

  state(): Record<string, number> {
    return Object.fromEntries(this.#shown);
  }

  /** Reads on every chain, and looks again at some of what each node shows. */
  async read(): Promise<void> {
    this.#underWay.clear();
    for (const node of this.nodes) {
      await this.#forward(node);
      await this.#readOpen(node);
    }
    await this.#lookAgain();
  }

  async #forward(node: NodeId): Promise<void> {
    const { nodes, kept } = this.#options;
    const began = this.shown(node);
    for (const { node: by, view } of nodes.answering) {
      const head = view.heads.find((one) => one.node === node)?.batch ?? this.decided(node);
      for (let page = 0; page < PAGES_PER_POLL && this.shown(node) < Math.min(head, this.decided(node)); page++) {
        // What is trimmed cannot be compared any more.
        const first = await kept.firstBatch(node);
        const from = Math.max(this.shown(node) + 1, first ?? this.decided(node));
        this.#shown.set(node, from - 1);
        await this.#ask(by, node, from);
        if (this.shown(node) < from) break;
      }
    }
    const isMoving = this.shown(node) > began || nodes.paced;
    if (isMoving && this.shown(node) < this.decided(node)) this.#underWay.add(node);
  }

  /** What nodes show after the last decided batch: it waits for the ledger. */
  async #readOpen(node: NodeId): Promise<void> {
    const { nodes, now } = this.#options;
    const decided = this.decided(node);
    const before = new Map(this.open(node).map(({ batch, seenAt }) => [batch, seenAt]));
    this.#open.delete(node);
    for (const { node: by, view } of nodes.answering) {
      if ((view.heads.find((one) => one.node === node)?.batch ?? 0) <= decided) continue;
      await nodes.ask(by, async () => {
        const { batches } = await by.chain(node, decided + 1);
        const open = batches.flatMap(({ envelope: signed }, i): OpenBatch[] => {
          const envelope = this.#opened(signed, node, decided + 1 + i);
          if (envelope === null) return [];
          const { batch, sealedAt } = envelope;
          return [{ batch, sealedAt, seenAt: before.get(batch) ?? now() }];
        });
        if (open.length > this.open(node).length) this.#open.set(node, open);
      });
      if (this.open(node).length > 0) return;
    }
  }

  /** Asks every node for a page of one chain, another one each round: what it showed once it must show again. */
  async #lookAgain(): Promise<void> {
    const { nodes, random, kept } = this.#options;
    const chains = this.nodes.filter((node) => this.shown(node) > 0);
    this.#turn++;
    for (const [index, { node: by, view }] of nodes.answering.entries()) {
      const node = chains[(this.#turn + index) % chains.length];
      if (node === undefined) continue;
      const head = Math.min(this.shown(node), view.heads.find((one) => one.node === node)?.batch ?? 0);
      const first = (await kept.firstBatch(node)) ?? head;
      if (head < first) continue;
      const from = random() < 1 / 2 ? head - NEWEST + 1 : first + Math.floor(random() * (head - first + 1));
      await this.#ask(by, node, Math.max(first, from));
    }
  }

  /** Compares a page that a node shows with what was decided. */
  async #ask(by: PublicNode, node: NodeId, from: number): Promise<void> {
    const { nodes } = this.#options;
    await nodes.ask(by, async () => {
      const { batches } = await by.chain(node, from);
      for (const [index, served] of batches.entries()) {
        if (served.batch !== from + index) throw new FalseAnswerError(`${node}/${served.batch} is out of order`);
        if (served.batch > this.decided(node) || !(await this.#compare(by, node, served.batch, served.envelope))) {
          return;
        }
      }
    });
  }

  /** Whether it is the decided envelope. Throws `FalseAnswerError` on one that its node has not signed. */
  async #compare(by: PublicNode, node: NodeId, batch: number, signed: SignedStatement): Promise<boolean> {
    const { kept, onShown, onRival, nodes } = this.#options;
    const decided = await kept.batch(node, batch);
    const envelope = this.#opened(signed, node, batch);
    if (decided === undefined || envelope === null) return false;
    if (hashText(nativeSuite, signed.statement) !== decided.envelope) {
      nodes.lies(by, `another envelope of ${node}/${batch} than was decided`);
      onRival({ node, batch, decided, rival: signed });
      return false;
    }
    if (batch !== this.shown(node) + 1) return true;
    this.#shown.set(node, batch);
    onShown(envelope, decided);
    return true;
  }

  /** The envelope, where it is signed; null where the certificate of its key is not known here. */
  #opened(signed: SignedStatement, node: NodeId, batch: number): Envelope | null {
    const envelope = readEnvelope(signed.statement);
    if (envelope.node !== node || envelope.batch !== batch) {
      throw new FalseAnswerError(`batch ${envelope.node}/${envelope.batch} in the place of ${node}/${batch}`);
    }
    // It may be signed again by a key that is certified for later records.
    const key = this.#options.statements.signingKey(node, envelope.keyId);
    if (key === undefined) return null;
    if (signatureHolds(nativeSuite, envelopeStatement, signed, key.publicKey)) return envelope;
    throw new FalseAnswerError(`the signature of the envelope of ${node}/${batch} does not hold`);
  }
}

/** Throws `FalseAnswerError` on a text that is no envelope. */
function readEnvelope(text: string): Envelope {
  try {
    return envelopeStatement.parse(text);
  } catch (error) {
    if (error instanceof StatementError) throw new FalseAnswerError(error.message);
    throw error;
  }
}
