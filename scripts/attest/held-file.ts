import type { FileHandle } from 'node:fs/promises';
import { createServer } from 'node:net';

/**
 * Holds an open file for this process alone, whatever paths it has; null where another process of this machine holds
 * it. By a socket in Linux's abstract namespace (unix(7)): it ends with its process, however that ends, so that none is
 * ever left over to be told from one in use.
 */
export async function holdFile(file: FileHandle): Promise<Disposable | null> {
  const { dev, ino } = await file.stat({ bigint: true });
  const server = createServer((connection) => connection.destroy()).unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => ('code' in error && error.code === 'EADDRINUSE' ? resolve(null) : reject(error)));
    server.listen(`\0meridian-attest-${dev}-${ino}`, () => resolve({ [Symbol.dispose]: () => void server.close() }));
  });
}
