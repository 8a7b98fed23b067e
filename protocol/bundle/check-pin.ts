import type { Sha256Hash } from '../hash.ts';
import type { Federation } from './opened-proof.ts';
import type { Finding } from './verdict.ts';

/** The rosters begin with the one that the verifier trusts. Nothing to say where it pinned none. */
export function checkPin({ rosters }: Federation, pin: Sha256Hash | undefined): readonly Finding[] {
  if (pin === undefined || rosters === null || rosters.genesis === pin) return [];
  const detail = `the bundle is of federation ${rosters.genesis}, not ${pin}`;
  return [{ check: 'bundleBinding', code: 'federation-mismatch', detail }];
}
