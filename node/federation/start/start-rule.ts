import type { Envelope } from '../../../protocol/chain/envelope.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { Timestamp } from '../../../protocol/time.ts';

/**
 * How far the ledger's topic was read since the start: not to its end, to what was its end at the start, or once more
 * after the time by which no transaction from before the start can land.
 */
export type TopicReadTo = 'nothing' | 'start' | 'limit';

/** What a node knows of itself and the others since its start. */
export interface StartFacts {
  /** The operator's word that this store is no copy, and the only one. */
  readonly isAlone: boolean;
  /** Whether this store ever signed a group or an envelope. */
  readonly hasSigned: boolean;
  /** Whether the run before ended in order, after it knew how far its chain goes. */
  readonly wasStopped: boolean;
  readonly topicRead: TopicReadTo;
  readonly isTopicEmpty: boolean;
  /** The other members of the roster in force. */
  readonly others: readonly NodeId[];
  /** Members of the roster in force that change the federation, this node counted. */
  readonly majority: number;
  /** Who has told since the start how far it holds this node's chain, and was heard out. */
  readonly answered: ReadonlySet<NodeId>;
  /** When no transaction from before the start can land any more. */
  readonly limitAt: Timestamp;
  /** The last own batch in the store that is decided, or can be, with all before it. */
  readonly held: number;
  /** The last own batch that is decided, that the topic names by this node's account, or that a member has shown. */
  readonly known: number;
  /** The first own batch that was taken back and is not decided, though it can be; null for none. */
  readonly provisional: number | null;
  /** An own batch that was taken back and sealed after this start. */
  readonly other: { readonly batch: number; readonly sealedAt: Timestamp } | null;
}

/** Why a node signs nothing yet. */
export type StartWait =
  /** The topic is not read to its end. */
  | { readonly for: 'ledger' }
  /**
   * Members have not answered. After `until` the others are enough where they are `needed`, and the topic is read
   * again.
   */
  | {
      readonly for: 'members';
      readonly answered: readonly NodeId[];
      readonly missing: readonly NodeId[];
      readonly needed: number;
      readonly until: Timestamp;
    }
  /** A federation of one has nobody to ask: what is under way to the ledger is waited for. */
  | { readonly for: 'time'; readonly until: Timestamp }
  /** Own batches are known of that nobody has brought yet. */
  | { readonly for: 'batches'; readonly held: number; readonly known: number }
  /** An own batch was taken back that may still be another than the ledger decides. */
  | { readonly for: 'decision'; readonly batch: number }
  /** A batch of this node was sealed after this start: somebody else signs in its name. */
  | { readonly for: 'other'; readonly batch: number; readonly sealedAt: Timestamp };

/** What a node waits for before it signs a group or an envelope (protocol §9); nothing where it may. */
export function startWaits(facts: StartFacts): readonly StartWait[] {
  const { topicRead, held, known, provisional, other } = facts;
  const waits: StartWait[] = [];
  if (topicRead === 'nothing') waits.push({ for: 'ledger' });
  waits.push(...waitsForOthers(facts));
  if (known > held) waits.push({ for: 'batches', held, known });
  if (provisional !== null) waits.push({ for: 'decision', batch: provisional });
  if (other !== null) waits.push({ for: 'other', ...other });
  return waits;
}

/** Whether nothing but decisions of what was taken back is waited for: own batches may be named. */
export function mayName(waits: readonly StartWait[]): boolean {
  return waits.every((wait) => wait.for === 'decision');
}

/**
 * Answers after which one of every majority of the others is among them: a batch that a majority names in this node's
 * place is held by one that answered, and that does not name what it did not tell.
 */
export function answersNeeded(others: number, majority: number): number {
  return Math.max(0, others - majority + 1);
}

/**
 * The own batch that was taken back and sealed after the start: somebody else signs in this node's name. Null for none.
 * `last`: the last one in the store now.
 */
export function sealedByAnother(
  last: Pick<Envelope, 'batch' | 'sealedAt'> | undefined,
  heldAtStart: number,
  startedOn: Timestamp,
): StartFacts['other'] {
  if (last === undefined || last.batch <= heldAtStart || last.sealedAt <= startedOn) return null;
  return { batch: last.batch, sealedAt: last.sealedAt };
}

function waitsForOthers(facts: StartFacts): readonly StartWait[] {
  const { isAlone, hasSigned, wasStopped, topicRead, isTopicEmpty, others, majority, answered, limitAt: until } = facts;
  const isFirst = !hasSigned && topicRead !== 'nothing' && isTopicEmpty;
  if (isAlone || isFirst) return [];
  if (others.length === 0) return wasStopped || topicRead === 'limit' ? [] : [{ for: 'time', until }];
  const missing = others.filter((node) => !answered.has(node));
  const heard = others.filter((node) => answered.has(node));
  const needed = answersNeeded(others.length, majority);
  if (missing.length === 0 || (heard.length >= needed && topicRead === 'limit')) return [];
  return [{ for: 'members', answered: heard, missing, needed, until }];
}
