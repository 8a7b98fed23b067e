import { nameKey } from '../../protocol/screening/name-key.ts';
import { sortedSuffixes } from './key-suffixes.ts';
import { type ListedEntry, NAME_KINDS } from './lists/contract.ts';
import { type PackedEdition, packKeys, packTexts, particularsOf } from './packed-edition.ts';

/** Of any chain of the Ethereum kind, whatever currency a list names it for: the same account exists on all of them. */
const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/**
 * Reads an edition's entries to their end and makes it ready to be searched. Takes half a second for all lists
 * together, so it belongs into a thread of its own. Throws what the entries throw.
 */
export async function packEdition(entries: AsyncIterable<ListedEntry> | Iterable<ListedEntry>): Promise<PackedEdition> {
  const packing = new Packing();
  for await (const entry of entries) packing.add(entry);
  return packing.packed();
}

class Packing {
  readonly #keys = new Map<string, number[]>();
  readonly #names: string[] = [];
  readonly #nameEntries: number[] = [];
  readonly #nameKinds: number[] = [];
  readonly #titles: number[] = [];
  readonly #addresses = new Map<string, number[]>();
  readonly #particulars: string[] = [];

  add(entry: ListedEntry): void {
    const number = this.#particulars.length;
    this.#titles.push(this.#names.length);
    for (const { text, kind } of entry.names) {
      const key = nameKey(text);
      // A name without a letter or digit cannot be asked for.
      if (key !== '') addTo(this.#keys, key, this.#names.length);
      this.#names.push(text);
      this.#nameEntries.push(number);
      this.#nameKinds.push(NAME_KINDS.indexOf(kind));
    }
    const addresses = entry.addresses.filter((text) => EVM_ADDRESS.test(text)).map((text) => text.toLowerCase());
    for (const address of new Set(addresses)) addTo(this.#addresses, address, number);
    this.#particulars.push(JSON.stringify(particularsOf(entry)));
  }

  packed(): PackedEdition {
    const keys = packKeys(this.#keys);
    return {
      keys,
      ...sortedSuffixes(keys),
      names: packTexts(this.#names),
      nameEntries: Uint32Array.from(this.#nameEntries),
      nameKinds: Uint8Array.from(this.#nameKinds),
      titles: Uint32Array.from(this.#titles),
      addresses: packKeys(this.#addresses),
      particulars: packTexts(this.#particulars),
    };
  }
}

function addTo(keys: Map<string, number[]>, key: string, number: number): void {
  const numbers = keys.get(key);
  if (numbers === undefined) keys.set(key, [number]);
  else numbers.push(number);
}
