import Type, { type Static } from 'typebox';
import { Closed, CountShape } from '../../protocol/shapes.ts';

/**
 * What holds as long as it is seen, and is told again when it ends. None is a proof: a line or a clock can be at fault.
 */
export const CONDITIONS = [
  /**
   * A node shows a batch that was sealed, or seen first, longer ago than the promise, and the ledger, read to its end,
   * did not decide it.
   */
  'anchor-missing',
  /** A batch was named, and what its name waits for does not come: another number, or a majority. */
  'batch-undecided',
  /** The ledger decided a batch that no node shows. */
  'batch-missing',
  /** Too few members besides the origin vouch for a decided batch by checkpoints. */
  'quorum-missing',
  /** Nodes hold a decided batch and do not derive it: the rules of its chain are broken there. */
  'chain-not-derived',
  /** Members say that a chain cannot go on: the ledger decided a batch that nobody can derive. */
  'chain-closed',
  /** A node's own account named another envelope for a batch that was decided. */
  'rival-named',
  /** The ledger put a revocation or roster in force that no node shows. */
  'statement-withheld',
  /** A checkpoint's root is not that of the monitor's own tree of its size. */
  'checkpoint-false',
  /** Checkpoints of a majority contradict the monitor's own tree: what its mirrors told is not what members read. */
  'log-contradicted',
  /** Two members signed different roots of one size, which the ledger as it was read does not reach. */
  'checkpoints-differ',
  /** A member's newest checkpoint does not cover what was decided long ago. */
  'checkpoint-behind',
  /** A member signed for more decisions than the ledger as it was read has, and has done so for too long. */
  'checkpoint-ahead',
  /** A member's later checkpoint vouches for less than an earlier one did. */
  'vouched-less',
  /** A node serves another tile than that of the tree, or lacks one of the tree that it signed. */
  'tile-false',
  /** A node takes another roster to be in force than the ledger does. */
  'roster-differs',
  'mirror-failing',
  /** A mirror's messages do not follow from what was read before, or two other sources say otherwise. */
  'mirror-lies',
  /** Sources tell two histories of the topic, and nothing shows which is right. */
  'mirrors-disagree',
  /** One mirror alone tells the end of the topic: neither another one nor a majority of members says the same. */
  'mirror-unconfirmed',
  'node-failing',
  /** A node shows something that does not hold. */
  'node-lies',
  /** A node says that it holds much less of a chain than was decided. */
  'node-behind',
] as const;
export type ConditionCode = (typeof CONDITIONS)[number];

/**
 * What happened once. `misdated`: a batch reached the ledger before it says that it was sealed, by more than clocks may
 * differ. `roster-in-force`, `key-revoked`: the ledger decided it.
 */
export type NoticeCode = 'anchor-late' | 'misdated' | 'roster-in-force' | 'key-revoked';

export const AlertShape = Closed({
  code: Type.Enum([...CONDITIONS]),
  /** What it is about: a node, a batch, an address. */
  subject: Type.String({ maxLength: 512 }),
  detail: Type.String({ maxLength: 1024 }),
  /** Epoch milliseconds. */
  since: CountShape,
});
export type Alert = Static<typeof AlertShape>;

/** Alerts at most: a hostile ledger or node could else make any number. */
const MAX_ALERTS = 1_000;
const MAX_DETAIL = 1_000;
const MAX_SUBJECT = 500;

/** The conditions that hold at present. */
export class Alerts {
  #standing: Map<string, Alert>;
  readonly #seen = new Map<string, Alert>();
  /** Conditions of the rounds so far that were over the bound. */
  dropped = 0;

  constructor(standing: readonly Alert[] = []) {
    this.#standing = new Map(standing.map((alert) => [keyOf(alert), alert]));
  }

  /** Says that a condition holds in this round. */
  see(code: ConditionCode, subject: string, detail: string, now: number): void {
    const alert = { code, subject: subject.slice(0, MAX_SUBJECT), detail: detail.slice(0, MAX_DETAIL), since: now };
    const key = keyOf(alert);
    if (this.#seen.has(key)) return;
    if (this.#seen.size >= MAX_ALERTS) this.dropped++;
    else this.#seen.set(key, { ...alert, since: this.#standing.get(key)?.since ?? now });
  }

  /** Ends the round: what was seen stands now. */
  settle(): { readonly raised: readonly Alert[]; readonly cleared: readonly Alert[] } {
    const before = this.#standing;
    const now = new Map(this.#seen);
    this.#seen.clear();
    this.#standing = now;
    return {
      raised: [...now].filter(([key]) => !before.has(key)).map(([, alert]) => alert),
      cleared: [...before].filter(([key]) => !now.has(key)).map(([, alert]) => alert),
    };
  }

  all(): readonly Alert[] {
    return [...this.#standing.values()];
  }
}

function keyOf({ code, subject }: Pick<Alert, 'code' | 'subject'>): string {
  return `${code} ${subject}`;
}
