import { hashText, type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { checkpointStatement } from '../../protocol/log/checkpoint.ts';
import type { ReadMessage } from '../../protocol/proof/charge.ts';
import { judgeProof } from '../../protocol/proof/judge-proof.ts';
import { type Difference, type MisdeedProof, PROOF_FORMAT } from '../../protocol/proof/misdeed.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { CheckpointStore } from '../../node/log/checkpoint-store.ts';
import type { KnownCheckpoint } from '../../node/log/known-checkpoint.ts';
import type { FederationLog } from '../../node/log/federation-log.ts';
import { proveFederation } from '../../node/verification/federation-proof.ts';
import { LogKnowledge, logViewOf } from '../../node/verification/log-knowledge.ts';
import { Misdeeds, type MisdeedSources } from '../../node/verification/misdeeds.ts';
import type { ShownRival } from './chain-watch.ts';
import type { KeptLog } from './kept-log.ts';
import { type Accusation, ProofStore } from './proof-store.ts';
import type { StatementWatch } from './statement-watch.ts';
import type { AnsweringNode, WatchedNodes } from './watched-nodes.ts';

/** A proof that was written. */
export interface WrittenProof {
  readonly code: Accusation['misdeed'];
  readonly subject: string;
  readonly detail: string;
  readonly file: string;
}

export interface ProofWatchOptions {
  readonly log: FederationLog;
  readonly checkpointStore: CheckpointStore;
  readonly statements: StatementWatch;
  readonly kept: KeptLog;
  readonly nodes: WatchedNodes;
  readonly directory: string;
  /** Names of the proofs that were written before. */
  readonly known: readonly string[];
  readonly onProof: (proof: WrittenProof) => void;
}

/** Pages of one node's proofs in one round at most. */
const PAGES_PER_POLL = 8;
/** Accused nodes whose proofs one node is asked for in one round at most. */
const ACCUSED_PER_POLL = 4;
/** Envelopes beside decided ones that wait for a proof at most. */
const MAX_RIVALS = 256;

/**
 * Makes proofs of what members signed against the protocol, and takes those that nodes show; each is judged by the
 * monitor's own log before it is called one.
 */
export class ProofWatch {
  readonly #options: ProofWatchOptions;
  readonly #sources: MisdeedSources;
  readonly #knowledge: LogKnowledge;
  readonly #misdeeds: Misdeeds;
  readonly #proofStore: ProofStore;
  /** By node and batch. */
  readonly #rivals = new Map<string, ShownRival>();

  constructor(options: ProofWatchOptions) {
    this.#options = options;
    const sources = { federationLog: options.log, checkpointStore: options.checkpointStore, keys: options.statements };
    this.#knowledge = new LogKnowledge(sources);
    this.#sources = { ...sources, knowledge: this.#knowledge };
    this.#misdeeds = new Misdeeds(this.#sources);
    this.#proofStore = new ProofStore(options.directory, options.known);
  }

  get names(): readonly string[] {
    return this.#proofStore.names;
  }

  /** A node shows an envelope beside the decided one. It proves something where its own account named both. */
  noteRival(rival: ShownRival): void {
    if (this.#rivals.size < MAX_RIVALS) this.#rivals.set(`${rival.node}/${rival.batch}`, rival);
  }

  /** Writes what can be proven now. */
  async look(): Promise<void> {
    const [first] = this.#options.nodes.answering;
    if (first !== undefined) await this.#readFrom(first);
    for (const [name, rival] of this.#rivals) {
      this.#rivals.delete(name);
      await this.#proveEnvelopes(rival);
    }
    for (const known of this.#options.checkpointStore.contradicted) await this.#proveCheckpoint(known);
  }

  /** Takes the proofs that a node holds: of another one in each round. */
  async #readFrom({ node }: AnsweringNode): Promise<void> {
    const { nodes } = this.#options;
    await nodes.ask(node, async () => {
      const accused = new Set<NodeId>();
      let cursor: string | null = null;
      for (let page = 0; page < PAGES_PER_POLL; page++) {
        const answer: Awaited<ReturnType<typeof node.equivocations>> = await node.equivocations(cursor);
        for (const { node: who, batch, stands } of answer.equivocations) {
          if (stands && !this.#proofStore.isFull({ misdeed: 'two-envelopes', accused: who, batch })) accused.add(who);
        }
        cursor = answer.nextCursor;
        if (cursor === null) break;
      }
      for (const who of [...accused].slice(0, ACCUSED_PER_POLL)) await this.#readProofs(node, who);
    });
  }

  async #readProofs(node: AnsweringNode['node'], accused: NodeId): Promise<void> {
    let cursor: string | null = null;
    for (let page = 0; page < PAGES_PER_POLL; page++) {
      const answer: Awaited<ReturnType<typeof node.misdeedProofs>> = await node.misdeedProofs(accused, cursor);
      for (const proof of answer.proofs) await this.#take(proof);
      cursor = answer.nextCursor;
      if (cursor === null) return;
    }
  }

  async #proveEnvelopes({ node, batch, decided, rival }: ShownRival): Promise<void> {
    if (this.#proofStore.isFull({ misdeed: 'two-envelopes', accused: node, batch })) return;
    if ((await this.#options.log.rivalOf(node, batch)) === undefined) return;
    const first = await this.#fetchEnvelope(node, batch, decided.envelope);
    const proof = first === null ? null : await this.#misdeeds.proofOf({ first, second: rival });
    if (proof !== null) await this.#take(proof);
  }

  /** The decided envelope as it was signed, from any node. */
  async #fetchEnvelope(node: NodeId, batch: number, hash: Sha256Hash): Promise<SignedStatement | null> {
    const { nodes } = this.#options;
    for (const { node: by } of nodes.answering) {
      const signed = await nodes.ask(by, async () => (await by.chain(node, batch)).batches[0]?.envelope);
      if (signed !== undefined && hashText(nativeSuite, signed.statement) === hash) return signed;
    }
    return null;
  }

  /** By the member's own later checkpoint where there is one, else by those of a majority. */
  async #proveCheckpoint({ checkpoint, signed }: KnownCheckpoint): Promise<void> {
    const { checkpointStore } = this.#options;
    const { node, size } = checkpoint;
    // The tree as it was then is kept no more.
    if (size < this.#options.kept.from) return;
    const own = checkpointStore.of(node).find((known) => known.checkpoint.size >= size);
    if (own !== undefined && !this.#proofStore.isFull({ misdeed: 'two-checkpoints', accused: node, batch: null })) {
      const keys = [checkpoint, own.checkpoint];
      const { statements } = await proveFederation(this.#sources, [], keys);
      const difference = await this.#differenceAt(size, own.checkpoint.size);
      const misdeed = { type: 'two-checkpoints' as const, first: signed, second: own.signed, difference };
      await this.#take({ format: PROOF_FORMAT, misdeed, ...statements });
    }
    if (this.#proofStore.isFull({ misdeed: 'false-checkpoint', accused: node, batch: null })) return;
    await this.#take(await this.#misdeeds.falseCheckpoint({ checkpoint, signed }));
  }

  /** The root that the true tree had at a size, and that the larger one begins with it. */
  async #differenceAt(size: number, larger: number): Promise<Difference> {
    const { log } = this.#options;
    const path = await log.consistencyAt(size, larger);
    return { type: 'beginning', root: await log.rootAt(size), path: path.map(writeSha256) };
  }

  /** Keeps a proof that holds by what is known here; what falls short of that is no lie of anyone who shows it. */
  async #take(proof: MisdeedProof): Promise<void> {
    const { log, kept, onProof } = this.#options;
    const messages = await this.#messagesOf(proof.misdeed);
    const sizes = sizesOf(proof).filter((size) => size >= kept.from);
    const verdict = judgeProof(nativeSuite, proof, {
      pin: log.state.federation,
      log: logViewOf(await this.#knowledge.ask({ places: [], sizes, batches: [] })),
      messageAt: (sequence) => messages.get(sequence),
    });
    const { accused, batch, misdeed } = verdict;
    // The file must hold by itself, but for what the ledger alone can say.
    const alone = judgeProof(nativeSuite, proof, { pin: log.state.federation });
    const holdsAlone = alone.proven || alone.word === 'two-signed';
    if (!verdict.proven || !holdsAlone || accused === null) return;
    const accusation = { misdeed, accused, batch };
    if (this.#proofStore.isFull(accusation)) return;
    const file = await this.#proofStore.put(accusation, proof);
    const subject = batch === null ? accused : `${accused}/${batch}`;
    onProof({ code: misdeed, subject, detail: `by ${accused}`, file });
  }

  /** What was read on the ledger where the proof says that its envelopes were named. */
  async #messagesOf(misdeed: MisdeedProof['misdeed']): Promise<ReadonlyMap<string, ReadMessage>> {
    const found = new Map<string, ReadMessage>();
    if (misdeed.type !== 'two-envelopes') return found;
    for (const { statement } of [misdeed.first, misdeed.second]) {
      const of = readName(statement);
      const decision = of === null ? undefined : (await this.#options.kept.batch(of.node, of.batch))?.decision;
      const rival = of === null ? undefined : await this.#options.log.rivalOf(of.node, of.batch);
      for (const name of [decision, rival]) if (name !== undefined) found.set(name.sequence, name);
    }
    return found;
  }
}

function readName(text: string) {
  try {
    return envelopeStatement.parse(text);
  } catch {
    return null;
  }
}

/** Sizes of the trees that it says something false of. */
function sizesOf({ misdeed }: MisdeedProof): readonly number[] {
  if (misdeed.type === 'two-checkpoints') return [misdeed.first, misdeed.second].flatMap(({ text }) => sizeOf(text));
  return misdeed.type === 'false-checkpoint' ? sizeOf(misdeed.checkpoint.text) : [];
}

function sizeOf(text: string): readonly number[] {
  try {
    return [checkpointStatement.parse(text).size];
  } catch {
    return [];
  }
}
