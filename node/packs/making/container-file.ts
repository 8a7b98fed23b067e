import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { sha256Hash, type Sha256Hash } from '../../../protocol/hash.ts';
import { type ContainedFile, directory, localHeader } from '../../../protocol/pack/container.ts';

/** Bytes that are copied at once. */
const COPIED = 1 << 20;

/** What goes into a container: a file on the disk, or bytes. */
export type Content = { readonly path: string } | { readonly bytes: Uint8Array };

/** A file as it stands in the container. */
export interface WrittenFile extends ContainedFile {
  readonly sha256: Sha256Hash;
}

/**
 * Writes a container in its one form, file after file. The header of a file, whose check is known only once it was
 * copied, is written again then.
 */
export class ContainerFile implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #files: WrittenFile[] = [];
  #at = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async create(path: string): Promise<ContainerFile> {
    return new ContainerFile(await open(path, 'w'));
  }

  get files(): readonly WrittenFile[] {
    return this.#files;
  }

  async add(name: string, content: Content): Promise<void> {
    const size = 'bytes' in content ? content.bytes.length : (await stat(content.path)).size;
    const from = this.#at;
    await this.#write(localHeader({ name, size, crc: 0 }));
    const hash = createHash('sha256');
    const crc =
      'bytes' in content ? await this.#put(content.bytes, hash, 0) : await this.#copy(content.path, size, hash);
    const file = { name, size, crc, sha256: sha256Hash(`sha256:${hash.digest('hex')}`) };
    await this.#handle.write(localHeader(file), 0, undefined, from);
    this.#files.push(file);
  }

  /** Resolves to the length of the container once all of it is on the disk. */
  async finish(): Promise<number> {
    await this.#write(directory(this.#files));
    await this.#handle.sync();
    return this.#at;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #copy(path: string, size: number, hash: Hash): Promise<number> {
    await using file = await open(path, 'r');
    const buffer = Buffer.allocUnsafe(Math.min(COPIED, Math.max(1, size)));
    let crc = 0;
    for (let at = 0; at < size;) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - at), at);
      if (bytesRead === 0) throw new RangeError(`${path} is shorter than it was`);
      crc = await this.#put(buffer.subarray(0, bytesRead), hash, crc);
      at += bytesRead;
    }
    return crc;
  }

  /** The check of the file so far. */
  async #put(bytes: Uint8Array, hash: Hash, crc: number): Promise<number> {
    hash.update(bytes);
    await this.#write(bytes);
    return crc32(bytes, crc);
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    await this.#handle.write(bytes, 0, bytes.length, this.#at);
    this.#at += bytes.length;
  }
}
