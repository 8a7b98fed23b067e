/** JSON text in two: itself with every item of one list replaced by `0`, and those items. Both not yet parsed. */
export interface SplitText {
  readonly skeleton: Buffer;
  readonly items: readonly Buffer[];
}

export interface SplitLimits {
  /** The top-level member whose items are taken out; null: those of the text itself, which is a list. */
  readonly member: string | null;
  readonly maxItems: number;
  /** Bytes of one item, and of all that is no item. */
  readonly maxItemBytes: number;
  readonly maxSkeletonBytes: number;
  /** Members and items in the whole text: what parsing takes grows with them. */
  readonly maxValues: number;
}

export type SplitFault = 'too-many-items' | 'item-too-large' | 'skeleton-too-large' | 'too-many-values';

export class SplitError extends Error {
  override readonly name = 'SplitError';
  readonly fault: SplitFault;
  /** Of the item at fault. */
  readonly index: number;

  constructor(fault: SplitFault, index: number) {
    super(fault);
    this.fault = fault;
    this.index = index;
  }
}

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPENING_BRACKET = 91;
const BACKSLASH = 92;
const CLOSING_BRACKET = 93;
const OPENING_BRACE = 123;
const CLOSING_BRACE = 125;
const MAX_SPACE = 32;
/** Bytes of a member's name that are looked at: a longer one is another. */
const MAX_NAME_BYTES = 128;
/** Nesting of an object's members; and of the items in such a member, and in a list that is the whole text. */
const MEMBER_DEPTH = 1;
const ITEM_DEPTH = 2;
const LISTED_DEPTH = 1;

const PLACEHOLDER = Buffer.from('0');

/**
 * Splits the text of a JSON object or list without parsing it, a piece at a time. Nothing is judged: brackets are only
 * counted, so the text is JSON exactly where the skeleton and every item are.
 */
export class ItemSplitter {
  readonly #bytes: Buffer;
  readonly #limits: SplitLimits;
  readonly #itemDepth: number;
  readonly #items: Buffer[] = [];
  readonly #skeleton: Buffer[] = [];
  #skeletonBytes = 0;
  #at = 0;
  #depth = 0;
  #values = 0;
  #isInString = false;
  /** Of a string on the level of the members: where it begins; and the text of the last such one. */
  #stringStart = 0;
  #lastString: string | undefined;
  /** Where a bracket opens now, it opens the items: the member's name and colon have just been read. */
  #isAwaited: boolean;
  #isAmongItems = false;
  #isDone = false;
  /** Where the item, or the part of the skeleton, begins. */
  #start = 0;

  constructor(bytes: Buffer, limits: SplitLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#itemDepth = limits.member === null ? LISTED_DEPTH : ITEM_DEPTH;
    this.#isAwaited = limits.member === null;
  }

  /** Goes on for so many bytes; whether there are more. Throws `SplitError`. */
  advance(count: number): boolean {
    const bytes = this.#bytes;
    const end = Math.min(this.#at + count, bytes.length);
    while (this.#at < end) {
      if (this.#isInString) this.#passString(end);
      else this.#take(bytes[this.#at] ?? 0);
    }
    if (this.#values > this.#limits.maxValues) throw new SplitError('too-many-values', this.#items.length);
    return this.#at < bytes.length;
  }

  /** After the last piece. Throws `SplitError`. */
  finish(): SplitText {
    this.#keep(this.#bytes.subarray(this.#start));
    return { skeleton: Buffer.concat(this.#skeleton), items: this.#items };
  }

  #passString(end: number): void {
    const bytes = this.#bytes;
    let at = this.#at;
    while (at < end) {
      const byte = bytes[at];
      if (byte === BACKSLASH) at += 2;
      else if (byte === QUOTE) {
        this.#isInString = false;
        if (this.#depth === MEMBER_DEPTH) this.#lastString = nameOf(bytes.subarray(this.#stringStart, at + 1));
        at++;
        break;
      } else at++;
    }
    this.#at = at;
  }

  #take(byte: number): void {
    if (byte <= MAX_SPACE) {
      this.#at++;
      return;
    }
    const isAwaited = this.#isAwaited;
    this.#isAwaited = false;
    if (byte === QUOTE) {
      this.#isInString = true;
      this.#stringStart = this.#at;
    } else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      this.#depth++;
      this.#values++;
      if (isAwaited && byte === OPENING_BRACKET) this.#beginItems();
    } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
      if (this.#isAmongItems && this.#depth === this.#itemDepth) this.#endItems();
      this.#depth--;
    } else if (byte === COMMA) {
      this.#values++;
      if (this.#isAmongItems && this.#depth === this.#itemDepth) this.#endItem(true);
      if (this.#depth === MEMBER_DEPTH) this.#lastString = undefined;
    } else if (byte === COLON && this.#depth === MEMBER_DEPTH && !this.#isDone) {
      this.#isAwaited = this.#lastString === this.#limits.member;
    }
    this.#at++;
  }

  #beginItems(): void {
    this.#keep(this.#bytes.subarray(this.#start, this.#at + 1));
    this.#isAmongItems = true;
    this.#isDone = true;
    this.#start = this.#at + 1;
  }

  #endItem(isFollowed: boolean): void {
    const { maxItems, maxItemBytes } = this.#limits;
    const item = this.#bytes.subarray(this.#start, this.#at);
    const index = this.#items.length;
    if (item.length > maxItemBytes) throw new SplitError('item-too-large', index);
    if (index >= maxItems) throw new SplitError('too-many-items', index);
    this.#items.push(item);
    this.#keep(PLACEHOLDER);
    if (isFollowed) this.#keep(this.#bytes.subarray(this.#at, this.#at + 1));
    this.#start = this.#at + 1;
  }

  /** Where there is nothing between the brackets, there is no item. */
  #endItems(): void {
    const item = this.#bytes.subarray(this.#start, this.#at);
    const isEmpty = this.#items.length === 0 && item.length <= this.#limits.maxItemBytes && isBlank(item);
    if (!isEmpty) this.#endItem(false);
    this.#isAmongItems = false;
    this.#start = this.#at;
  }

  #keep(part: Buffer): void {
    this.#skeletonBytes += part.length;
    if (this.#skeletonBytes > this.#limits.maxSkeletonBytes) throw new SplitError('skeleton-too-large', 0);
    this.#skeleton.push(part);
  }
}

/** The text of a string in its quotes; undefined where it is long, or no JSON. */
function nameOf(quoted: Buffer): string | undefined {
  if (quoted.length > MAX_NAME_BYTES) return undefined;
  try {
    const text: unknown = JSON.parse(quoted.toString('utf8'));
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte <= MAX_SPACE);
}
