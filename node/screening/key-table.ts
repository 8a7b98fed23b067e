/**
 * Keys in byte order, and what each stands for. Of plain buffers alone, so that another thread can make it and hand it
 * over.
 */
export interface KeyTable {
  /** UTF-8 of the keys, each followed by `END`. */
  readonly bytes: Uint8Array;
  /** Where a key begins in `bytes`; one more than there are keys. */
  readonly starts: Uint32Array;
  /** Where the numbers of a key begin in `refs`; one more than there are keys. */
  readonly refStarts: Uint32Array;
  /** What the keys stand for, ascending within a key. */
  readonly refs: Uint32Array;
}

/** Less than every byte of a key, so that a key sorts before its continuations. */
export const END = 0;

const NONE: Uint32Array = new Uint32Array(0);

/** Packs keys and the ascending numbers that each stands for. No key may hold a byte `END`. */
export function packKeys(keys: ReadonlyMap<string, readonly number[]>): KeyTable {
  // Of one character a byte, so that the order of the texts is that of their bytes.
  const inOrder = [...keys]
    .map(([key, refs]) => ({ key: Buffer.from(key).toString('latin1'), refs }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const starts = new Uint32Array(inOrder.length + 1);
  const refStarts = new Uint32Array(inOrder.length + 1);
  for (const [i, { key, refs }] of inOrder.entries()) {
    starts[i + 1] = (starts[i] ?? 0) + key.length + 1;
    refStarts[i + 1] = (refStarts[i] ?? 0) + refs.length;
  }
  const bytes = new Uint8Array(starts.at(-1) ?? 0);
  const all = new Uint32Array(refStarts.at(-1) ?? 0);
  for (const [i, { key, refs }] of inOrder.entries()) {
    bytes.set(Buffer.from(key, 'latin1'), starts[i]);
    all.set(refs, refStarts[i]);
  }
  return { bytes, starts, refStarts, refs: all };
}

/** Number of the key of these bytes; undefined where there is none. */
export function findKey({ bytes, starts }: KeyTable, sought: Uint8Array): number | undefined {
  const keys = starts.length - 1;
  const found = firstThat(keys, (key) => compareAt(bytes, starts[key] ?? 0, sought) >= 0);
  if (found === keys) return undefined;
  const start = starts[found] ?? 0;
  const isWhole = compareAt(bytes, start, sought) === 0 && bytes[start + sought.length] === END;
  return isWhole ? found : undefined;
}

/** What a key stands for. */
export function refsOf({ refStarts, refs }: KeyTable, key: number | undefined): Uint32Array {
  return key === undefined ? NONE : refs.subarray(refStarts[key], refStarts[key + 1]);
}

/** The order of what begins at a place, cut to the length of the sought bytes, and these bytes. */
export function compareAt(bytes: Uint8Array, at: number, sought: Uint8Array): number {
  for (let i = 0; i < sought.length; i++) {
    const order = (bytes[at + i] ?? END) - (sought[i] ?? END);
    if (order !== 0) return order;
  }
  return 0;
}

/** First number below `count` that the condition holds for, as it then does for all above; `count` where for none. */
export function firstThat(count: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
