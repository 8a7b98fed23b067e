import Type from 'typebox';
import { Closed, CountShape, NodeIdShape, TimestampShape } from '../shapes.ts';

/**
 * What a node that has started waits for before it takes records. `ledger`: the topic is not read to its end.
 * `members`: some have not told how far they hold this node's chain; after `until` the others are enough where `needed`
 * of them answered. `time`: a federation of one waits until nothing from before can reach the ledger. `batches`:
 * batches of this node are known of that nobody has brought yet. `decision`: one that was taken back is not decided.
 * `other`: another process signs as this node.
 */
export const StartWaitShape = Type.Union(
  [
    Closed({ for: Type.Literal('ledger') }),
    Closed({
      for: Type.Literal('members'),
      answered: Type.Array(NodeIdShape),
      missing: Type.Array(NodeIdShape),
      needed: CountShape,
      until: TimestampShape,
    }),
    Closed({ for: Type.Literal('time'), until: TimestampShape }),
    Closed({ for: Type.Literal('batches'), held: CountShape, known: CountShape }),
    Closed({ for: Type.Literal('decision'), batch: CountShape }),
    Closed({ for: Type.Literal('other'), batch: CountShape, sealedAt: TimestampShape }),
  ],
  { title: 'StartWait' },
);
