import type { KeyDirectory } from '../../protocol/keys/key-directory.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { LedgerView } from './ledger-view.ts';

/**
 * Whether the key of an envelope speaks for its node: nobody else may have held it, or the ledger showed this very
 * envelope before the key was compromised. What the ledger has not shown yet does not stand, and may later.
 */
export async function envelopeStands(
  directory: Pick<KeyDirectory, 'compromisedSince' | 'standsAt'>,
  ledger: Pick<LedgerView, 'envelopeAnchor'>,
  envelope: Envelope,
  text: string,
): Promise<boolean> {
  const { node, keyId } = envelope;
  if (directory.compromisedSince(node, keyId) === null) return true;
  const anchor = await ledger.envelopeAnchor(envelope, text);
  return directory.standsAt(node, keyId, anchor?.consensusTimestamp ?? null);
}
