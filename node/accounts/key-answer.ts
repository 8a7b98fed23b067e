import type { KeyAnswer } from '../../protocol/api/keys.ts';
import { type ApiKey, keyState } from './api-key.ts';

/** A key as its owner and the operator see it at a moment (epoch milliseconds). */
export function keyAnswer(key: ApiKey, now: number): KeyAnswer {
  const { id, name, preset, scopes, sources, addresses } = key;
  const { createdAt, expiresAt, revokedAt, replacedBy, lastUsedDay } = key;
  const terms = { id, name, status: keyState(key, now), preset, scopes, sources, addresses };
  return { ...terms, createdAt, expiresAt, revokedAt, replacedBy, lastUsedDay };
}
