import Type, { type Static } from 'typebox';
import { Closed, CountShape, NodeIdShape, OrdinalShape, TimestampShape } from '../shapes.ts';
import { EXAMPLE_SUBMITTED_AT } from './example-ids.ts';

/** Days that the overview counts records of, today the last. */
export const OVERVIEW_DAYS = 30;
/** Batches that it says the times of. */
export const OVERVIEW_BATCHES = 30;
/** A key that ends within so many days is told of. */
export const KEY_ENDS_SOON_DAYS = 30;

const DayShape = Closed({ day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), records: CountShape });

/** `GET /v1/overview`: how an account stands at a node. */
export const OverviewAnswerShape = Closed({
  success: Type.Literal(true),
  node: NodeIdShape,
  asOf: TimestampShape,
  /** That the account's calls made here, by days of UTC. */
  records: Closed({
    today: CountShape,
    thisMonth: CountShape,
    /** The last 30 days, today the last. */
    days: Type.Array(DayShape, { minItems: OVERVIEW_DAYS, maxItems: OVERVIEW_DAYS }),
  }),
  /** Whether the node reaches the ledger that its batches are named on. */
  ledger: Type.String(),
  anchoring: Closed({
    /** The last batches of this node that the ledger has named, the oldest first. */
    batches: Type.Array(
      Closed({
        batch: OrdinalShape,
        sealedAt: TimestampShape,
        /** From its sealing to its consensus time. */
        seconds: CountShape,
      }),
      { maxItems: OVERVIEW_BATCHES },
    ),
  }),
  /** Of those that the key sees: whose clocks run, whose first one ends within a day, whose first one is over. */
  incidents: Closed({
    open: CountShape,
    dueSoon: CountShape,
    overdue: CountShape,
    /** There are more than are looked at for this. */
    truncated: Type.Boolean(),
  }),
  keys: Closed({
    active: CountShape,
    /** Of them, those that end within 30 days, but for keys of sign-ins by mail and those that have another in their place. */
    endingSoon: CountShape,
  }),
  packs: Closed({ ready: CountShape, making: CountShape, failed: CountShape }),
  /** Signed in at the console. */
  signIns: CountShape,
});
export type OverviewAnswer = Static<typeof OverviewAnswerShape>;

export const OVERVIEW_EXAMPLE = {
  success: true,
  node: 'eu',
  asOf: EXAMPLE_SUBMITTED_AT,
  records: {
    today: 118,
    thisMonth: 640,
    days: Array.from({ length: OVERVIEW_DAYS }, (_, i) => ({
      day: new Date(Date.UTC(2026, 9, 23 + i)).toISOString().slice(0, 10),
      records: i === OVERVIEW_DAYS - 1 ? 118 : 18,
    })),
  },
  ledger: 'ok',
  anchoring: { batches: [{ batch: 42, sealedAt: EXAMPLE_SUBMITTED_AT, seconds: 11 }] },
  incidents: { open: 2, dueSoon: 1, overdue: 0, truncated: false },
  keys: { active: 3, endingSoon: 1 },
  packs: { ready: 1, making: 0, failed: 0 },
  signIns: 1,
};
