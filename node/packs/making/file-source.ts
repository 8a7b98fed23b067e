import type { FileHandle } from 'node:fs/promises';
import type { PackSource } from '../../../protocol/pack/container.ts';

/** A file on the disk as packs are read from one. */
export async function fileSource(file: FileHandle): Promise<PackSource> {
  const { size } = await file.stat();
  return {
    size,
    async read(from, to) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
      if (bytesRead !== to - from) throw new Error('the file became shorter while it was read');
      return buffer;
    },
  };
}
