import { heldBody, type HeldBody } from './entity-tag.ts';

/**
 * A document that names the node's public address: written once, and anew only after the node has moved. `write` takes
 * that address.
 */
export function writtenDocument(baseUrl: () => string, write: (baseUrl: string) => string): () => HeldBody {
  let address = baseUrl();
  let held = heldBody(write(address));
  return () => {
    if (baseUrl() === address) return held;
    address = baseUrl();
    held = heldBody(write(address));
    return held;
  };
}

/** Caches ask each time whether it is still the same: it changes as the node is started anew, or moves. */
export const ASKED_AGAIN = { 'Cache-Control': 'public, no-cache' };
