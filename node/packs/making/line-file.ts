import { type FileHandle, open } from 'node:fs/promises';

/** Characters that are gathered before they are written. */
const GATHERED = 512 << 10;

/** A file that grows by lines. Nothing of it is sure to be on the disk before `flush`. */
export class LineFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  #length: number;
  #waiting: string[] = [];
  #characters = 0;

  private constructor(handle: FileHandle, length: number) {
    this.#handle = handle;
    this.#length = length;
  }

  /** Goes on with a file behind its first `length` bytes; what was written after them is dropped. */
  static async open(path: string, length: number): Promise<LineFile> {
    const handle = await open(path, length === 0 ? 'w' : 'r+');
    await handle.truncate(length);
    return new LineFile(handle, length);
  }

  async append(line: string): Promise<void> {
    this.#waiting.push(line, '\n');
    this.#characters += line.length + 1;
    if (this.#characters >= GATHERED) await this.#write();
  }

  /** Resolves to the length of the file once all of it is on the disk. */
  async flush(): Promise<number> {
    await this.#write();
    await this.#handle.datasync();
    return this.#length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #write(): Promise<void> {
    const bytes = Buffer.from(this.#waiting.join(''));
    this.#waiting = [];
    this.#characters = 0;
    if (bytes.length === 0) return;
    await this.#handle.write(bytes, 0, bytes.length, this.#length);
    this.#length += bytes.length;
  }
}
