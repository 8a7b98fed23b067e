import { type HeldBody, heldBody } from './entity-tag.ts';

/**
 * What names the node's public address: made when it is first asked for, once for all who ask meanwhile, and again only
 * after the node has moved. `make` takes that address; where it fails, the next who asks has it tried again.
 */
export function onceForAddress<Made>(
  baseUrl: () => string,
  make: (baseUrl: string) => Promise<Made>,
): () => Promise<Made> {
  let held: { readonly address: string; readonly made: Promise<Made> } | undefined;
  return () => {
    const address = baseUrl();
    if (held?.address === address) return held.made;
    const made = make(address);
    held = { address, made };
    made.catch(() => {
      if (held?.made === made) held = undefined;
    });
    return made;
  };
}

/** The same of a text, as it is sent. */
export function writtenDocument(
  baseUrl: () => string,
  write: (baseUrl: string) => string | Promise<string>,
): () => Promise<HeldBody> {
  return onceForAddress(baseUrl, async (address) => heldBody(await write(address)));
}
