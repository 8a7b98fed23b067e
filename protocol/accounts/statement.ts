import Type, { type Static } from 'typebox';
import { SCOPES } from '../api/scopes.ts';
import { Closed, NodeIdShape, OrdinalShape, OrNull, Sha256Shape, TimestampShape } from '../shapes.ts';
import { canonicalText, StatementError } from '../statement/statement.ts';
import { ACCOUNT_ID_PATTERN } from './account-id.ts';
import { KeyIdShape } from './key-id.ts';
import { TIERS } from './tier.ts';

/** The source under which a home node records the versions of an account's statement. */
export const ACCOUNT_SOURCE = 'meridian/account';

/** Nodes of one statement: as many as a roster has members at most. */
export const MAX_ACCOUNT_NODES = 256;
/** Keys of one statement. */
export const MAX_STATED_KEYS = 128;
/** Sources, or addresses, that one key may be limited to. */
const MAX_LIMITS = 100;
const MAX_SOURCE_CHARACTERS = 1_024;
const MAX_ADDRESS_CHARACTERS = 64;

const StatedKeyShape = Closed({
  /** IP addresses and CIDR ranges that it is taken from; null: any. */
  addresses: OrNull(Type.Array(Type.String({ maxLength: MAX_ADDRESS_CHARACTERS }), { maxItems: MAX_LIMITS })),
  /** Its own end. */
  expiresAt: OrNull(TimestampShape),
  /** The first and last moment of the records that the key may see; null: without bound. */
  from: OrNull(TimestampShape),
  /** SHA-256 of the key's text. */
  hash: Sha256Shape,
  id: KeyIdShape,
  scopes: Type.Array(Type.Enum([...SCOPES]), { uniqueItems: true, maxItems: SCOPES.length }),
  /** The only sources that it reaches; null: all. */
  sources: OrNull(Type.Array(Type.String({ maxLength: MAX_SOURCE_CHARACTERS }), { maxItems: MAX_LIMITS })),
  to: OrNull(TimestampShape),
});
export type StatedKey = Static<typeof StatedKeyShape>;

const AccountStatementShape = Closed({
  account: Type.String({ pattern: ACCOUNT_ID_PATTERN }),
  keys: Type.Array(StatedKeyShape, { maxItems: MAX_STATED_KEYS }),
  nodes: Type.Array(NodeIdShape, { minItems: 1, maxItems: MAX_ACCOUNT_NODES, uniqueItems: true }),
  tier: Type.Enum([...TIERS]),
  /** From 1. */
  version: OrdinalShape,
});
/**
 * One version of what an account's home says of it to the nodes that it names (protocol §5): the payload of a record of
 * kind `account`, whose claims repeat `nodes` and `version`. A key that a version does not list is revoked by it.
 */
export type AccountStatement = Static<typeof AccountStatementShape>;

const statementText = canonicalText('account statement', AccountStatementShape);

/** The canonical text of a statement. */
export function writeAccountStatement(statement: AccountStatement): string {
  return statementText.write(statement);
}

/** Throws `StatementError` where the text is not canonical, of another shape, or lists a key twice. */
export function readAccountStatement(text: string): AccountStatement {
  const statement = statementText.parse(text);
  const { keys } = statement;
  for (const named of [keys.map(({ id }) => id), keys.map(({ hash }) => hash)]) {
    if (new Set<string>(named).size < keys.length) throw new StatementError('account statement: lists a key twice');
  }
  return statement;
}
