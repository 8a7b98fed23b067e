import { BatchWalk, type ChainContext, type MadeGroup, type WalkedBatch } from '../../protocol/chain/batch-walk.ts';
import { type ChainState, leastFrom, startOfChain, stateAfter } from '../../protocol/chain/chain-state.ts';
import { envelopeFits } from '../../protocol/chain/envelope-rules.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import { ChainRefusal } from '../../protocol/chain/refusal.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { checkedSuite, nativeSuite } from '../keys/native-suite.ts';
import { readBatch, readHead, type StoredBatch } from '../records/batch-tables.ts';
import { chainStateTable, derivedOperations } from '../records/chain-tables.ts';
import { groupTable } from '../records/record-tables.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { groupAnew } from './group-anew.ts';
import { draftHistory, type StoredGroup, storedGroups, storedHistory } from './stored-chain.ts';

/** What the federation's log says of an own batch: the envelope that it decided, and when. */
export interface OwnDecision {
  readonly envelope: Sha256Hash;
  readonly at: Timestamp;
}

/** A draft that members would derive. */
export interface SealableBatch {
  readonly walked: WalkedBatch;
  /** Rows of its groups that were signed again. */
  readonly anew: readonly Operation[];
}

export interface SealedChainOptions {
  readonly node: NodeId;
  readonly store: Store;
  /** Public key of that id where this node has certified it for records from `first` on or earlier ones. */
  readonly publicKeyOf: ChainContext['publicKeyOf'];
  /** What a chain of this node begins from, see `ChainState.since`; null while the log does not name the node yet. */
  readonly chainStart: () => Promise<Timestamp | null>;
  /** What the log decided of an own batch; undefined while nothing. */
  readonly decisionOf: (batch: number) => Promise<OwnDecision | undefined>;
}

/**
 * Where this node's own chain stands after the last batch that it sealed, decided yet or not, and the rules by which
 * every member will derive the next one (protocol §4, §6): a node runs them before it signs.
 *
 * Ownership: `#state` is moved by the sealing loop alone, once the batch is on the disk.
 */
export class SealedChain {
  readonly #options: SealedChainOptions;
  readonly #context: ChainContext;
  #state: ChainState | null;
  /** The key of the last envelope. */
  #keyId: Sha256Hash | null;
  /** Why a batch in the store is none that members derive; null where all are. */
  readonly refusal: ChainRefusal | null;

  private constructor(
    options: SealedChainOptions,
    context: ChainContext,
    state: ChainState | null,
    keyId: Sha256Hash | null,
    refusal: ChainRefusal | null,
  ) {
    this.#options = options;
    this.#context = context;
    this.#state = state;
    this.#keyId = keyId;
    this.refusal = refusal;
  }

  /**
   * Goes on from the store. Batches that were taken back from other members are walked like those of another member;
   * one that is refused is the end, and `refusal` says why.
   */
  static async open(options: SealedChainOptions): Promise<SealedChain> {
    const { store, node, publicKeyOf, chainStart, decisionOf } = options;
    const slices = new TimeSlices();
    const rest = async () => {
      if (slices.isOver) await slices.rest();
    };
    const context: ChainContext = { suite: checkedSuite, history: storedHistory(store, node), publicKeyOf, rest };
    const head = await readHead(store, node);
    const end = head?.envelope.batch ?? 0;
    let state = (await chainStateTable.get(store, node)) ?? (await startOf(node, chainStart));
    while (state !== null && state.batch < end) {
      const taken = await readBatch(store, node, state.batch + 1);
      if (taken === undefined) break;
      try {
        const { sources } = await walk(context, state, taken.envelope, storedGroups(store, taken.envelope));
        await store.write(derivedOperations(stateOf(taken, null), sources));
        state = await afterBatch(taken, decisionOf);
      } catch (error) {
        if (error instanceof ChainRefusal) return new SealedChain(options, context, state, null, error);
        throw error;
      }
    }
    if (state !== null && head !== undefined && state.batch === end) state = await afterBatch(head, decisionOf);
    return new SealedChain(options, context, state, head?.envelope.keyId ?? null, null);
  }

  /** Null while the log does not name this node: it seals nothing, for nobody could derive it. */
  get state(): ChainState | null {
    return this.#state;
  }

  /** The key that signed the last envelope; null before the first. */
  get keyId(): Sha256Hash | null {
    return this.#keyId;
  }

  /** The least `from` of the next envelope, in epoch milliseconds; null while there is none. */
  get leastFrom(): number | null {
    return this.#state === null ? null : leastFrom(this.#state);
  }

  /** The log may name this node by now: then its chain can begin. */
  async begin(): Promise<void> {
    this.#state ??= await startOf(this.#options.node, this.#options.chainStart);
  }

  /**
   * Runs the rules on a draft whose records are on the disk; `made`: its groups where this process made them all and
   * still has them, null where they are to be read from the store. Groups by another key than the draft's are signed
   * again by its `signer`, in memory. Throws `ChainRefusal`, and what the store or the key throws.
   */
  async walk(draft: Envelope, signer: Signer, made: readonly MadeGroup[] | null): Promise<SealableBatch> {
    const state = this.#state;
    if (state === null) throw new RangeError('the chain has not begun');
    const anew: Operation[] = [];
    const { store, node } = this.#options;
    const context = { ...this.#context, history: draftHistory(store, node) };
    const walked = await walk(context, state, draft, made ?? storedGroups(store, draft), async (held) => {
      const group = await groupAnew(held, signer);
      if (group !== null) anew.push(groupTable.put([draft.node, group.group.first], group.signed));
      const signed = group?.signed ?? held;
      // In another thread: the walk finds that it is checked.
      await checkedSuite.checkApart(signer.publicKey, signed, groupStatement.context);
      return signed;
    });
    return { walked, anew };
  }

  /** Rows that land in the sealing write: groups that were signed again, and what the chain goes on from. */
  operations(batch: StoredBatch, { walked, anew }: SealableBatch): Operation[] {
    return [...anew, ...derivedOperations(stateOf(batch, null), walked.sources)];
  }

  /** Rows of the same for the last batch, of which only the envelope is another now. */
  resigned(batch: StoredBatch): Operation[] {
    return derivedOperations(stateOf(batch, null), []);
  }

  /** The batch is on the disk. */
  advance(batch: StoredBatch): void {
    this.#state = stateOf(batch, null);
    this.#keyId = batch.envelope.keyId;
  }

  /** The log has decided an own batch: the next one may begin from its ledger time, where that is the earlier one. */
  noteDecided(batch: number, { envelope, at }: OwnDecision): void {
    const state = this.#state;
    if (state === null || state.batch !== batch || state.prev !== envelope || at >= state.since) return;
    this.#state = { ...state, since: at };
  }
}

/** `signedBy`: each group as it is to be walked. */
async function walk(
  context: ChainContext,
  state: ChainState,
  envelope: Envelope,
  groups: AsyncIterable<StoredGroup> | Iterable<MadeGroup>,
  signedBy: (held: SignedStatement) => Promise<SignedStatement> = async (held) => held,
): Promise<WalkedBatch> {
  const misfit = envelopeFits(state, envelope);
  if (misfit !== null) throw misfit;
  const walking = new BatchWalk(context, envelope);
  for await (const group of groups) {
    const signed = await signedBy(group.signed);
    if ('made' in group) await walking.takeMade({ signed, made: group.made });
    else await walking.takeGroup(signed, group.records);
  }
  return walking.finish();
}

async function startOf(node: NodeId, chainStart: SealedChainOptions['chainStart']): Promise<ChainState | null> {
  const since = await chainStart();
  return since === null ? null : startOfChain(node, since);
}

async function afterBatch(batch: StoredBatch, decisionOf: SealedChainOptions['decisionOf']): Promise<ChainState> {
  const decided = await decisionOf(batch.envelope.batch);
  const isOurs = decided?.envelope === hashText(nativeSuite, batch.signed.statement);
  return stateOf(batch, decided !== undefined && isOurs ? decided.at : null);
}

function stateOf({ envelope, signed }: StoredBatch, ledgerTime: Timestamp | null): ChainState {
  return stateAfter(envelope, hashText(nativeSuite, signed.statement), ledgerTime);
}
