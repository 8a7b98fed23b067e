import { heldBody, type HeldBody } from './entity-tag.ts';

/**
 * A document that names the node's public address: written when it is first asked for, and anew only after the node has
 * moved. `write` takes that address.
 */
export function writtenDocument(baseUrl: () => string, write: (baseUrl: string) => string): () => HeldBody {
  let held: { readonly address: string; readonly body: HeldBody } | undefined;
  return () => {
    const address = baseUrl();
    if (held?.address !== address) held = { address, body: heldBody(write(address)) };
    return held.body;
  };
}

/** Caches ask each time whether it is still the same: it changes as the node is started anew, or moves. */
export const ASKED_AGAIN = { 'Cache-Control': 'public, no-cache' };
