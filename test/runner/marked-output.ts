import type { Readable } from 'node:stream';

/** Where a process prints more than this between two marks, the middle of it is lost, never its end. */
const OUTPUT_LIMIT_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Bytes in the order in which they arrived. */
class Section {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes > OUTPUT_LIMIT_BYTES && this.#chunks.length > 2) {
      const [lost] = this.#chunks.splice(1, 1);
      this.#bytes -= lost?.length ?? 0;
      this.#dropped += lost?.length ?? 0;
    }
  }

  toString(): string {
    const note = this.#dropped > 0 ? `\n(${this.#dropped} bytes of output dropped)\n` : '';
    return Buffer.concat(this.#chunks).toString('utf8') + note;
  }
}

/**
 * The output of a process that writes a line `mark text` on each of its streams behind every section of it. Reads until
 * it is closed.
 */
export class MarkedOutput {
  readonly #mark: Buffer;
  readonly #streams: readonly Readable[];
  readonly #onSection: (output: string, text: string) => void;
  readonly #waiting: Buffer[];
  /** How many marks have arrived on each stream. */
  readonly #arrived: number[];
  /** From the first that not every stream has ended. */
  readonly #sections: Section[] = [];
  #ended = 0;

  /** `onSection` is called where its mark has arrived on every stream, with the text of the mark. */
  constructor(mark: string, streams: readonly Readable[], onSection: (output: string, text: string) => void) {
    this.#mark = Buffer.from(`\n${mark} `);
    this.#streams = streams;
    this.#onSection = onSection;
    this.#waiting = streams.map(() => Buffer.alloc(0));
    this.#arrived = streams.map(() => 0);
    for (const [index, stream] of streams.entries()) stream.on('data', (chunk: Buffer) => this.#read(index, chunk));
  }

  /** Ends the reading, and returns what came behind the last mark. */
  close(): string {
    for (const stream of this.#streams) stream.destroy();
    for (const [index, bytes] of this.#waiting.entries()) this.#section(index).add(bytes);
    return this.#sections.join('');
  }

  #read(stream: number, chunk: Buffer): void {
    let bytes = Buffer.concat([this.#waiting[stream] ?? Buffer.alloc(0), chunk]);
    for (;;) {
      const start = bytes.indexOf(this.#mark);
      const end = start < 0 ? -1 : bytes.indexOf(NEWLINE, start + this.#mark.length);
      if (end < 0) break;
      this.#section(stream).add(bytes.subarray(0, start));
      this.#end(stream, bytes.toString('utf8', start + this.#mark.length, end));
      bytes = bytes.subarray(end + 1);
    }
    const kept = this.#startOfMark(bytes);
    this.#section(stream).add(bytes.subarray(0, kept));
    this.#waiting[stream] = bytes.subarray(kept);
  }

  /** The section that a stream is in. */
  #section(stream: number): Section {
    return (this.#sections[(this.#arrived[stream] ?? 0) - this.#ended] ??= new Section());
  }

  #end(stream: number, text: string): void {
    this.#arrived[stream] = (this.#arrived[stream] ?? 0) + 1;
    if (Math.min(...this.#arrived) === this.#ended) return;
    this.#ended++;
    this.#onSection(String(this.#sections.shift() ?? ''), text);
  }

  /** Where a mark begins that has not arrived as a whole; the end of the bytes where none does. */
  #startOfMark(bytes: Buffer): number {
    const start = bytes.lastIndexOf(NEWLINE);
    if (start < 0) return bytes.length;
    const begun = bytes.subarray(start, start + this.#mark.length);
    return begun.equals(this.#mark.subarray(0, begun.length)) ? start : bytes.length;
  }
}
