import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { Closed, NodeIdShape, OrdinalShape } from '../../protocol/shapes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { removeDurably, replaceDurably } from '../keys/durable-file.ts';

/** In the home, beside the store, of which no row is changed. */
export const STATE_FILE = 'fsck.state';
const FILE_MODE = 0o600;
const KEY_WORD = 'meridian/fsck-state/1\0';
/** Ranges that are remembered: damage parts them, and a store with so much of it is checked again. */
const MOST_RANGES = 1_000;
/** Between two writes of the file, in milliseconds. */
const SAVE_MS = 2_000;
/** Text for people, and a lock: they change with every start and hold no row. */
const NOT_COMPARED = new Set(['LOCK', 'LOG', 'LOG.old']);

const StateShape = Closed({
  v: Type.Literal(1),
  /** The store that was checked, and for whom. */
  store: Type.String(),
  /** Records in which nothing was found: of each chain from the first up to before the second. */
  ranges: Type.Array(Closed({ node: NodeIdShape, first: OrdinalShape, next: OrdinalShape })),
});
type State = Static<typeof StateShape>;
const FileShape = Closed({ state: Type.String(), mac: Type.String() });
const [stateOf, fileOf] = [Compile(StateShape), Compile(FileShape)];

/** That a check is remembered while it goes on. */
export interface Remembering {
  /** Whether it goes on from where one of the same store was interrupted. */
  readonly resumes: boolean;
  /** Told once of that: why it does not, or null, and the records that are judged already. */
  readonly onResume?: (refusal: NoResumption | null, records: number) => void;
}

export interface ProvenRangesOptions {
  readonly home: string;
  /** What the state is of: `storeIdentity`. */
  readonly store: string;
  /** Its file is authenticated with it. Null where the home has none: then by a checksum alone. */
  readonly payloadKey: Uint8Array | null;
}

/** Why a check does not go on from where another one stopped. */
export type NoResumption = 'absent' | 'changed' | 'damaged';

/**
 * The ranges of records in which a check that goes on found nothing, kept in a file so that the next one need not judge
 * them again. What it says is trusted as much as the home: whoever can write it with its MAC has the payload key. It
 * spares the judging of texts and payloads alone: files, signatures, leaves, roots, links and indexes are checked every
 * time, and ranges with findings are never in it.
 */
export class ProvenRanges {
  readonly #options: ProvenRangesOptions;
  readonly #key: Uint8Array;
  readonly #found: { node: NodeId; first: number; next: number }[] = [];
  #before: State['ranges'] = [];
  #savedAt = performance.now();

  private constructor(options: ProvenRangesOptions) {
    this.#options = options;
    this.#key = hash('sha256', Buffer.concat([Buffer.from(KEY_WORD), options.payloadKey ?? Buffer.alloc(0)]), 'buffer');
  }

  /** Begins a check that is remembered. */
  static async open(options: ProvenRangesOptions, { resumes, onResume }: Remembering): Promise<ProvenRanges> {
    const proven = new ProvenRanges(options);
    if (resumes) onResume?.(await proven.#resume(), proven.#records);
    return proven;
  }

  /** Records that are judged already. */
  get #records(): number {
    return this.#before.reduce((sum, { first, next }) => sum + next - first, 0);
  }

  /** Takes over what an interrupted check of the same store found whole; or tells why it does not. */
  async #resume(): Promise<NoResumption | null> {
    const text = await readFile(this.#path, 'utf8').catch(() => null);
    if (text === null) return 'absent';
    const state = this.#read(text);
    if (state === null) return 'damaged';
    if (state.store !== this.#options.store) return 'changed';
    this.#before = state.ranges;
    this.#found.push(...structuredClone(state.ranges));
    return null;
  }

  has(node: NodeId, first: number, next: number): boolean {
    return this.#before.some((range) => range.node === node && range.first <= first && next <= range.next);
  }

  /** Nothing was found in these records. */
  async add(node: NodeId, first: number, next: number): Promise<void> {
    if (this.has(node, first, next)) return;
    const last = this.#found.at(-1);
    if (last?.node === node && last.next === first) last.next = next;
    else if (this.#found.length < MOST_RANGES) this.#found.push({ node, first, next });
    if (performance.now() - this.#savedAt >= SAVE_MS) await this.save();
  }

  /** Puts on the disk what is known. */
  async save(): Promise<void> {
    if (this.#found.length === 0) return;
    const state = JSON.stringify({ v: 1, store: this.#options.store, ranges: this.#found } satisfies State);
    await replaceDurably(this.#path, JSON.stringify({ state, mac: this.#mac(state).toString('hex') }), FILE_MODE);
    this.#savedAt = performance.now();
  }

  /** After a check that came to its end. */
  async remove(): Promise<void> {
    await removeDurably(this.#path);
  }

  get #path(): string {
    return join(this.#options.home, STATE_FILE);
  }

  #mac(state: string): Buffer {
    return createHmac('sha256', this.#key).update(state).digest();
  }

  #read(text: string): State | null {
    try {
      const file: unknown = JSON.parse(text);
      if (!fileOf.Check(file)) return null;
      const [mac, expected] = [Buffer.from(file.mac, 'hex'), this.#mac(file.state)];
      if (mac.length !== expected.length || !timingSafeEqual(mac, expected)) return null;
      const state: unknown = JSON.parse(file.state);
      return stateOf.Check(state) ? state : null;
    } catch {
      return null;
    }
  }
}

/** Tells one state of a stopped store from another, by its files' names, sizes and times; and who it is checked for. */
export async function storeIdentity(directory: string, own: NodeId | null): Promise<string> {
  const lines = [`own ${own ?? ''}`];
  for (const name of (await readdir(directory)).sort()) {
    if (NOT_COMPARED.has(name)) continue;
    const { size, mtimeNs, ino } = await stat(join(directory, name), { bigint: true });
    lines.push(`${name} ${size} ${mtimeNs} ${ino}`);
  }
  return hash('sha256', lines.join('\n'), 'hex');
}
