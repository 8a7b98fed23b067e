import { hashText } from '../hash.ts';
import type { BatchMessage } from '../log/message.ts';
import type { TileTree } from '../merkle/tiles.ts';
import type { SignedStatement } from '../statement/statement.ts';
import { type ConsensusTimestamp, timestampOfConsensus } from '../time.ts';
import { BatchWalk, type ChainContext, type DerivedGroup } from './batch-walk.ts';
import { type ChainState, stateAfter } from './chain-state.ts';
import { envelopeFits } from './envelope-rules.ts';
import { type Envelope, envelopeStatement } from './envelope.ts';
import { MAX_STATEMENT_LENGTH, requireSignature } from './member-signature.ts';
import type { RecordTexts } from './record.ts';
import { ChainRefusal } from './refusal.ts';
import type { MovedSource } from './sources.ts';

/** What the federation's log decided about a batch. */
export interface DecidedBatch extends Pick<BatchMessage, 'batch' | 'envelope' | 'keyId' | 'node'> {
  readonly consensusTimestamp: ConsensusTimestamp;
}

/** A batch that holds, and what its chain goes on from. */
export interface DerivedBatch {
  readonly state: ChainState;
  readonly envelope: Envelope;
  readonly tree: TileTree;
  /** Heads that replace those before the batch. */
  readonly sources: readonly MovedSource[];
}

/** A group as it is stored and sent. */
export interface GroupTexts {
  readonly signed: SignedStatement;
  readonly records: readonly RecordTexts[];
}

/**
 * Derives the batch that comes after a state of its chain: what a member does before it vouches for it (protocol §4).
 * It sees signed bytes and decisions only, no clock and no revocation, so that all honest members come to the same.
 */
export class BatchDeriver {
  readonly envelope: Envelope;
  readonly #state: ChainState;
  readonly #walk: BatchWalk;

  private constructor(walk: BatchWalk, state: ChainState, envelope: Envelope) {
    this.#walk = walk;
    this.#state = state;
    this.envelope = envelope;
  }

  /** Begins with the envelope. Throws `ChainRefusal`. */
  static open(context: ChainContext, before: ChainState, decided: DecidedBatch, signed: SignedStatement): BatchDeriver {
    const envelope = readDecided(context, decided, signed.statement);
    if (envelope.node !== decided.node) throw new ChainRefusal('node-mismatch', `decided for ${decided.node}`);
    if (envelope.batch !== decided.batch) throw new ChainRefusal('batch-mismatch', `decided as ${decided.batch}`);
    if (envelope.keyId !== decided.keyId) throw new ChainRefusal('key-not-decided', 'another key was decided');
    const misfit = envelopeFits(before, envelope);
    if (misfit !== null) throw misfit;
    // A certificate's `seqFrom` binds groups alone, and every group is by this key.
    const { keyId } = envelope;
    requireSignature(context, envelopeStatement, signed, { keyId, first: Number.MAX_SAFE_INTEGER });
    const after = stateAfter(envelope, decided.envelope, timestampOfConsensus(decided.consensusTimestamp));
    return new BatchDeriver(new BatchWalk(context, envelope), after, envelope);
  }

  /** `seq` of the record that comes next. */
  get next(): number {
    return this.#walk.next;
  }

  /**
   * Takes the next group with all its records. Throws `ChainRefusal`, and what the history throws; either ends the
   * derivation.
   */
  takeGroup({ signed, records }: GroupTexts): Promise<DerivedGroup> {
    return this.#walk.takeGroup(signed, records);
  }

  /** After the last group. Throws `ChainRefusal`. */
  finish(): DerivedBatch {
    return { state: this.#state, envelope: this.envelope, ...this.#walk.finish() };
  }
}

/**
 * Derives a whole batch. Resolves to the refusal where there is one; rejects with what the history or `groups` throws.
 */
export async function deriveBatch(
  context: ChainContext,
  before: ChainState,
  decided: DecidedBatch,
  envelope: SignedStatement,
  groups: AsyncIterable<GroupTexts> | Iterable<GroupTexts>,
): Promise<ChainRefusal | DerivedBatch> {
  try {
    const deriver = BatchDeriver.open(context, before, decided, envelope);
    for await (const group of groups) await deriver.takeGroup(group);
    return deriver.finish();
  } catch (error) {
    if (error instanceof ChainRefusal) return error;
    throw error;
  }
}

function readDecided({ suite }: ChainContext, decided: DecidedBatch, text: string): Envelope {
  const isBounded = text.length <= MAX_STATEMENT_LENGTH && text.isWellFormed();
  if (!isBounded || hashText(suite, text) !== decided.envelope) {
    throw new ChainRefusal('envelope-not-decided', 'another envelope was decided');
  }
  try {
    return envelopeStatement.parse(text);
  } catch (error) {
    throw ChainRefusal.because('envelope-malformed', error);
  }
}
