import { decodeBase64url } from '../bytes.ts';
import { payloadMatches } from '../payload/commitment.ts';
import type { Suite } from '../suite/suite.ts';
import type { OpenedBundle } from './opened-bundle.ts';
import type { Finding } from './verdict.ts';

/** Check 2: the disclosed salt and payload are what the record committed to. Nothing to say where none is disclosed. */
export function checkPayload(suite: Suite, { bundle, record }: OpenedBundle): readonly Finding[] {
  const { disclosure } = bundle;
  if (disclosure === undefined || record === null) return [];
  try {
    if (payloadMatches(suite, record, decodeBase64url(disclosure.salt), disclosure.payload)) return [];
  } catch (error) {
    const detail = error instanceof Error ? error.message : 'unreadable disclosure';
    return [{ check: 'payloadHashMatch', code: 'disclosure-malformed', detail }];
  }
  return [
    { check: 'payloadHashMatch', code: 'payload-mismatch', detail: 'salt and payload do not hash to the commitments' },
  ];
}
