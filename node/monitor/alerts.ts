import Type, { type Static } from 'typebox';
import { Closed, CountShape } from '../../protocol/shapes.ts';

/** What holds as long as it is seen, and is told again when it ends. None is a proof: a line or a clock can be at fault. */
export const CONDITIONS = [
  /** A batch was sealed longer ago than the promise, and the ledger, read to its end, does not name it. */
  'anchor-missing',
  /** The ledger names a batch that no node shows. */
  'batch-missing',
  /** The ledger names another envelope for a batch than the nodes show; anyone who may write to the topic can do that. */
  'foreign-anchor',
  /** The ledger names a certificate, revocation or roster that no node shows. */
  'statement-withheld',
  /** A batch stands under a roster that is not known, or that does not name its node. */
  'not-a-member',
  /** Nodes show a roster that a quorum signed beside the one in force. */
  'roster-rival',
  /** A chain is not read on: its node's misbehaviour is proven. */
  'chain-tainted',
  'mirror-failing',
  /** A mirror's messages do not follow from what was read before. */
  'mirror-lies',
  /** Two mirrors tell two histories of the topic. */
  'mirrors-disagree',
  'node-failing',
  /** A node shows something that does not hold. */
  'node-lies',
  /** A node names a head that nobody shows the envelope of. */
  'head-unproven',
  /** A node holds much less of a chain than others. */
  'node-behind',
] as const;
export type ConditionCode = (typeof CONDITIONS)[number];

/** What happened once. `key-revoked`: a batch reached the ledger when its key counted no more. */
export type NoticeCode = 'anchor-late' | 'sealed-after-anchor' | 'key-revoked';

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
