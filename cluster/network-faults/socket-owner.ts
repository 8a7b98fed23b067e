import { readdir, readFile, readlink } from 'node:fs/promises';

const SOCKET = /^socket:\[(\d+)\]$/;
/** State of an established connection in `/proc/net/tcp`. */
const ESTABLISHED = '01';

/**
 * Which of these processes owns the local end of a TCP connection on loopback, by its port; undefined where none does.
 * From Linux's `/proc`: the only way to tell who dials, since all places share one address.
 */
export async function ownerOfPort(port: number, pids: readonly number[]): Promise<number | undefined> {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  for (const line of (await readFile('/proc/net/tcp', 'utf8')).split('\n').slice(1)) {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
    if (local?.endsWith(`:${wanted}`) !== true || state !== ESTABLISHED || inode === undefined) continue;
    for (const pid of pids) if ((await socketsOf(pid)).has(inode)) return pid;
  }
  return undefined;
}

async function socketsOf(pid: number): Promise<ReadonlySet<string>> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return new Set(links.flatMap((link) => SOCKET.exec(link)?.[1] ?? []));
}
