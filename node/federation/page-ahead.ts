import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { StoredBatch } from '../records/batch-tables.ts';
import type { ChainAssembler } from './chain-assembler.ts';
import type { PageGroup } from './page-check.ts';
import { decodeItem, openedBytes, PAGE_BYTES } from './page-forms.ts';

/** A page that takes more than this while it waits is given up, and asked for again when its turn comes. In bytes. */
const MOST_WAITING_BYTES = 8 * PAGE_BYTES;

/**
 * A page that arrives, and is checked by other threads, while those before it are checked and written. It is read to
 * its end whatever becomes of them, so who waits for the peer never waits for this node's work; nothing in it is taken
 * before its turn.
 */
export class PageAhead implements AsyncDisposable {
  readonly #peer: NodeId;
  readonly #start: PageStart;
  readonly #given = new AbortController();
  readonly #arrived: Promise<ArrivedPage | null>;
  #next: PageStart | null = null;

  /** `ask`: reads a page to its end, or until it is told that it need not be read on. */
  constructor(
    peer: NodeId,
    start: PageStart,
    ask: (signal: AbortSignal) => Promise<ArrivedPage | null>,
    closing: AbortSignal,
  ) {
    this.#peer = peer;
    this.#start = start;
    this.#arrived = this.#read(ask(AbortSignal.any([closing, this.#given.signal])));
    // What went wrong is told to who takes it.
    this.#arrived.catch(() => {});
  }

  /** The page, once all of it is here; null where it is too long to wait. Rejects as the transport does. */
  get arrived(): Promise<ArrivedPage | null> {
    return this.#arrived;
  }

  /** Where the page behind it begins, once it is here; null before, and where it does not tell. */
  get next(): PageStart | null {
    return this.#next;
  }

  /** Whether it is what is asked for now. */
  isOf(peer: NodeId, { batch, seq }: PageStart): boolean {
    return this.#peer === peer && this.#start.batch === batch && this.#start.seq === seq;
  }

  /** Resolves once it is not read on. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#given.abort();
    await this.#arrived.catch(() => {});
  }

  async #read(asked: Promise<ArrivedPage | null>): Promise<ArrivedPage | null> {
    const page = await asked;
    this.#next = page?.next ?? null;
    return page;
  }
}

/** All frames of a page; null where it is too long to be kept. */
export async function keptFrames(page: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[] | null> {
  const frames: Uint8Array[] = [];
  let bytes = 0;
  for await (const frame of page) {
    frames.push(frame);
    bytes += openedBytes(frame);
    if (bytes > MOST_WAITING_BYTES) return null;
  }
  return frames;
}

/** Where the page after these frames begins, if they hold; null where they do not tell. */
export class PageEnd {
  #end = 0;
  #batch = 0;
  #next = 0;

  /** Looks at a frame for where it ends, and at nothing else. The group's statement, where it is one. */
  take(frame: Uint8Array): SignedStatement | undefined {
    if (frame[0] !== ENVELOPE && frame[0] !== GROUP) return undefined;
    try {
      const item = decodeItem(frame);
      if (item.kind === 'envelope') {
        const { batch, first, size } = envelopeStatement.parse(item.signed.statement);
        [this.#batch, this.#end] = [batch, first + size];
      } else if (item.kind === 'group') {
        const { first, size } = groupStatement.parse(item.signed.statement);
        this.#next = first + size;
        return item.signed;
      }
    } catch {
      // Anyone who checks the page says what is wrong with it.
    }
    return undefined;
  }

  get start(): PageStart | null {
    if (this.#batch === 0 || this.#next === 0) return null;
    return { batch: this.#batch + Number(this.#next >= this.#end), seq: this.#next };
  }
}

/** First bytes of the frames that tell. */
const ENVELOPE = 'E'.charCodeAt(0);
const GROUP = 'G'.charCodeAt(0);

/** Where a page of a chain begins. */
export interface PageStart {
  readonly batch: number;
  readonly seq: number;
}

/** A page that is here to its end, and what other threads say of it. */
export interface ArrivedPage {
  readonly frames: readonly ArrivedFrame[];
  /** Where the page behind it begins; null where it does not tell. */
  readonly next: PageStart | null;
  /** Those that it begins with, of which the records were checked. Never rejects. */
  readonly groups: Promise<readonly PageGroup[]>;
}

interface ArrivedFrame {
  readonly frame: Uint8Array;
  /** The statement of a group. */
  readonly signed: SignedStatement | undefined;
  /** Resolves once its signature was looked at. Never rejects. */
  readonly isLookedAt: Promise<void> | undefined;
}

/** Who puts a page's chain together, and what is made whole by it. */
export interface PageTaker {
  readonly assembler: Pick<ChainAssembler, 'take' | 'takeChecked'>;
  readonly batches: StoredBatch[];
}

/** Takes the next frame of a page. Throws what the assembler does. */
export async function takeFrame({ assembler, batches }: PageTaker, frame: Uint8Array): Promise<void> {
  const batch = await assembler.take(decodeItem(frame));
  if (batch !== undefined) batches.push(batch);
}

/** Takes a page: the groups whose records were checked as such, then frame by frame. Throws what the assembler does. */
export async function takeArrived(taker: PageTaker, { frames, groups }: ArrivedPage): Promise<void> {
  const { assembler, batches } = taker;
  const checked = (await groups).values();
  let taken = 0;
  for (const { frame, signed, isLookedAt } of frames) {
    if (taken-- > 0) continue;
    await isLookedAt;
    const group = signed && checked.next().value;
    if (signed === undefined || group === undefined) {
      await takeFrame(taker, frame);
    } else {
      const batch = await assembler.takeChecked(signed, group);
      if (batch !== undefined) batches.push(batch);
      taken = group.frames - 1;
    }
  }
}
