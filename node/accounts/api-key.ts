import Type, { type Static } from 'typebox';
import type { KeyAnswer } from '../../protocol/api/keys.ts';
import { KEY_PRESETS, PRESET_NAMES, SCOPES } from '../../protocol/api/scopes.ts';
import { SecondFactorHolderShape } from '../../protocol/api/second-factors.ts';
import { Closed, TimestampShape } from '../../protocol/shapes.ts';
import type { Timestamp } from '../../protocol/time.ts';
import type { Operation } from '../store/operation.ts';
import { jsonTable, Table, textCodec } from '../store/table.ts';
import { type KeyId, KeyIdShape } from './key-id.ts';

const ApiKeyShape = Closed({
  id: KeyIdShape,
  account: Type.String(),
  name: Type.Union([Type.String(), Type.Null()]),
  preset: Type.Union([Type.Enum([...PRESET_NAMES]), Type.Null()]),
  scopes: Type.Array(Type.Enum([...SCOPES]), { uniqueItems: true }),
  /** The only sources that it reaches; null: all. */
  sources: Type.Union([Type.Array(Type.String()), Type.Null()]),
  /** The only addresses that it is taken from; null: any. */
  addresses: Type.Union([Type.Array(Type.String()), Type.Null()]),
  createdAt: TimestampShape,
  expiresAt: Type.Union([TimestampShape, Type.Null()]),
  /** The first and last moment of the records that it may see; null or absent: without bound. */
  from: Type.Optional(Type.Union([TimestampShape, Type.Null()])),
  to: Type.Optional(Type.Union([TimestampShape, Type.Null()])),
  revokedAt: Type.Union([TimestampShape, Type.Null()]),
  /** The key made in its place; this one then ends at `expiresAt`. */
  replacedBy: Type.Union([KeyIdShape, Type.Null()]),
  /** Who signs in by mail and has it, or made it by one of theirs; no request says it. Absent: whoever has its text. */
  holder: Type.Optional(SecondFactorHolderShape),
  /** It is for one sign-in by mail, and nobody has its text. Absent: whoever asked for it has that. */
  signIn: Type.Optional(Type.Literal(true)),
  /** UTC day of the last use; null: never used. */
  lastUsedDay: Type.Union([Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), Type.Null()]),
});
/** What is known of an API key. Its text is nowhere: rows stand under its digest. */
export type ApiKey = Readonly<Static<typeof ApiKeyShape>>;

/** (SHA-256 of the key, hex) → whose it is and what it may do. */
export const apiKeyTable = jsonTable('api-key', ApiKeyShape);
/** (account id, key id) → SHA-256 of the key, hex. */
export const accountKeyTable = new Table('account-key', textCodec);

/** What a key may do, on which sources, from where, and until when. */
export type KeyTerms = Pick<
  ApiKey,
  'name' | 'preset' | 'scopes' | 'sources' | 'addresses' | 'expiresAt' | 'from' | 'to' | 'holder' | 'signIn'
>;

/** The terms of a key that may do everything. */
export const ADMIN_TERMS: KeyTerms = {
  name: null,
  preset: 'admin',
  scopes: [...KEY_PRESETS.admin],
  sources: null,
  addresses: null,
  expiresAt: null,
};

export type KeyState = 'active' | 'expired' | 'revoked';

/** What a key is worth at a moment (epoch milliseconds). */
export function keyState({ revokedAt, expiresAt }: ApiKey, now: number): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'active';
}

/** A key that nobody has used yet. */
export function freshKey(id: KeyId, account: string, terms: KeyTerms, createdAt: Timestamp): ApiKey {
  const { name, preset, scopes, sources, addresses, expiresAt, ...rest } = terms;
  const { from = null, to = null, holder, signIn } = rest;
  const period = { ...(from !== null && { from }), ...(to !== null && { to }) };
  const state = { createdAt, expiresAt, revokedAt: null, replacedBy: null, lastUsedDay: null };
  const whose = { ...(holder !== undefined && { holder }), ...(signIn === true && { signIn }) };
  return { id, account, name, preset, scopes, sources, addresses, ...period, ...whose, ...state };
}

/** The rows of a key, for one atomic write. */
export function keyOperations(digest: string, key: ApiKey): Operation[] {
  return [apiKeyTable.put([digest], key), accountKeyTable.put([key.account, key.id], digest)];
}

/** What takes those rows away. */
export function keyRemoval(digest: string, key: ApiKey): Operation[] {
  return [apiKeyTable.del(digest), accountKeyTable.del(key.account, key.id)];
}

/** A key as its owner and the operator see it at a moment (epoch milliseconds). */
export function keyAnswer(key: ApiKey, now: number): KeyAnswer {
  const { id, name, preset, scopes, sources, addresses } = key;
  const { createdAt, expiresAt, from = null, to = null, revokedAt, replacedBy, lastUsedDay } = key;
  const terms = { id, name, status: keyState(key, now), preset, scopes, sources, addresses };
  return { ...terms, createdAt, expiresAt, from, to, revokedAt, replacedBy, lastUsedDay };
}
