import Type, { type Static } from 'typebox';
import { ACCOUNT_ID_PATTERN } from '../accounts/account-id.ts';
import { MAX_ACCOUNT_NODES } from '../accounts/statement.ts';
import { TIERS } from '../accounts/tier.ts';
import { nodeId } from '../ids.ts';
import { Closed, NodeIdShape, OrdinalShape, OrNull, RecordIdShape } from '../shapes.ts';
import { EXAMPLE_IDS } from './example-ids.ts';

/** The nodes that an account is to name: each once. */
export const AccountNodesShape = Type.Array(NodeIdShape, {
  minItems: 1,
  maxItems: MAX_ACCOUNT_NODES,
  uniqueItems: true,
});

/** `PUT /v1/account`. */
export const ChangeAccountRequestShape = Closed({ nodes: AccountNodesShape });

/** `GET` and `PUT /v1/account`. */
export const AccountAnswerShape = Closed({
  success: Type.Literal(true),
  account: Closed(
    {
      id: Type.String({ pattern: ACCOUNT_ID_PATTERN }),
      /** The node that the id names: keys are made and rotated, and nodes changed, there alone. */
      home: NodeIdShape,
      tier: Type.Enum([...TIERS]),
      /** Where the keys of the account work, its home among them, in order of their ids. */
      nodes: Type.Array(NodeIdShape),
      /** Of the account's newest statement that this node holds; null before the first. */
      version: OrNull(OrdinalShape),
      /** Id of its record. */
      statement: OrNull(RecordIdShape),
      /** Whether a change made here is not in that version yet. */
      pending: Type.Boolean(),
    },
    { title: 'Account' },
  ),
});
export type AccountAnswer = Static<typeof AccountAnswerShape>;

const [EU, SG, US] = [nodeId('eu'), nodeId('sg'), nodeId('us')];

export const ACCOUNT_EXAMPLE = {
  request: { nodes: [EU, SG, US] },
  answer: {
    success: true,
    account: {
      id: EXAMPLE_IDS.account,
      home: EU,
      tier: 'standard',
      nodes: [EU, SG, US],
      version: 3,
      statement: EXAMPLE_IDS.accountStatement,
      pending: false,
    },
  },
} as const;
