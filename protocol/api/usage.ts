import Type from 'typebox';
import { Closed, CountShape, NodeIdShape, OrdinalShape, TimestampShape } from '../shapes.ts';

const WindowShape = Closed({
  limit: OrdinalShape,
  remaining: CountShape,
  /** Seconds until one more request is free; 0 where all are. */
  resetSeconds: CountShape,
});

/** `GET /v1/usage`. Null: no limit. */
export const UsageAnswerShape = Closed({
  success: Type.Literal(true),
  tier: Type.String(),
  /** The node that says so: every limit is each node's own. */
  countedBy: NodeIdShape,
  /** All authenticated requests of the account in the last 60 seconds, this one among them. */
  minute: Type.Union([WindowShape, Type.Null()]),
  /** Endpoints with a limit of their own beside it. */
  endpoints: Type.Array(Closed({ endpoint: Type.String(), ...WindowShape.properties })),
  /** The UTC day. */
  day: Closed({
    day: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    records: CountShape,
    limit: Type.Union([OrdinalShape, Type.Null()]),
    remaining: Type.Union([CountShape, Type.Null()]),
    resetsAt: TimestampShape,
  }),
  /** The month of UTC. Its quota is what the tier is meant for; nothing is refused for it. */
  month: Closed({
    month: Type.String({ pattern: '^\\d{4}-\\d{2}$' }),
    records: CountShape,
    quota: Type.Union([Closed({ value: OrdinalShape, enforced: Type.Boolean() }), Type.Null()]),
    resetsAt: TimestampShape,
  }),
});

export const USAGE_EXAMPLE = {
  success: true,
  tier: 'developer',
  countedBy: 'eu',
  minute: { limit: 60, remaining: 51, resetSeconds: 14 },
  endpoints: [{ endpoint: 'POST /v1/attest', limit: 60, remaining: 57, resetSeconds: 32 }],
  day: { day: '2026-11-21', records: 118, limit: 1000, remaining: 882, resetsAt: '2026-11-22T00:00:00.000Z' },
  month: {
    month: '2026-11',
    records: 640,
    quota: { value: 1000, enforced: false },
    resetsAt: '2026-12-01T00:00:00.000Z',
  },
};
