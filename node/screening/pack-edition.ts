import { nameKey } from '../../protocol/screening/name-key.ts';
import { type ListedEntry, NAME_KINDS } from './lists/contract.ts';
import { END, type KeyTable, type PackedEdition, packKeys, packTexts, particularsOf } from './packed-edition.ts';

const SPACE = 0x20;
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

/** All places where a token begins, in the byte order of what follows there up to the end of the key. */
function sortedSuffixes({ bytes, starts }: KeyTable): Pick<PackedEdition, 'suffixes' | 'suffixKeys'> {
  const places: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const before = at === 0 ? END : bytes[at - 1];
    if (before === END || before === SPACE) places.push(at);
  }
  const suffixes = Uint32Array.from(places).sort((a, b) => compareSuffixes(bytes, a, b));
  const keyAt = new Uint32Array(bytes.length);
  for (let key = 0; key + 1 < starts.length; key++) keyAt.fill(key, starts[key], starts[key + 1]);
  return { suffixes, suffixKeys: suffixes.map((at) => keyAt[at] ?? 0) };
}

/** Equal suffixes go by their places, so that there is one order. */
function compareSuffixes(bytes: Uint8Array, a: number, b: number): number {
  for (let i = 0; ; i++) {
    const byte = bytes[a + i];
    const order = (byte ?? END) - (bytes[b + i] ?? END);
    if (order !== 0) return order;
    if (byte === END || byte === undefined) return a - b;
  }
}
