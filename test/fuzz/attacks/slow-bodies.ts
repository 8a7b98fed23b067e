import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Attack } from './attack.ts';
import { OutcomeCounts } from './attack.ts';
import { strangersHeader } from './attack-client.ts';

/** Connections that say nothing, half a head, or a part of a small body. */
const SILENT = 300;
/** Connections that send most of the longest body there is. Together they are more than a node takes at a time. */
const LONG = 10;
const LONG_BYTES = 16 << 20;
const SENT_BYTES = 8 << 20;
/** A byte more of each body, so that it does not stand still altogether. */
const DRIP_MS = 1_000;

/**
 * Connections that are silent or slow, held for as long as the attack goes on; the bodies of ten are 80 MiB together.
 */
export const slowBodies: Attack = async ({ port }) => {
  return () => {
    const outcomes = new OutcomeCounts();
    const sockets: Socket[] = [];
    const bodies: Socket[] = [];
    let isOver = false;
    const open = async (bytes: Iterable<Uint8Array>, isBody: boolean): Promise<void> => {
      const socket = connect(port, '127.0.0.1');
      sockets.push(socket);
      socket.on('error', () => undefined);
      socket.once('data', (answer: Buffer) => outcomes.add(`answered ${answer.toString('latin1', 9, 12)}`));
      socket.once('close', () => outcomes.add(isOver ? 'held to the end' : 'closed'));
      await once(socket, 'connect').catch(() => undefined);
      for (const piece of bytes) {
        if (!socket.writable) return;
        if (!socket.write(piece)) await drained(socket);
      }
      if (isBody) bodies.push(socket);
    };
    const done = Promise.all([
      ...Array.from({ length: SILENT }, (_, n) => open(begun(n), n % 3 === 2)),
      ...Array.from({ length: LONG }, (_, n) => open(longBody(n), true)),
    ]).then(() => undefined);
    const dripping = setInterval(() => {
      for (const socket of bodies) if (socket.writable && !socket.writableNeedDrain) socket.write(' ');
    }, DRIP_MS);
    return {
      done,
      async end() {
        await done;
        isOver = true;
        clearInterval(dripping);
        const left = sockets.filter((socket) => !socket.closed);
        const closed = left.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
        for (const socket of left) socket.destroy();
        await Promise.all(closed);
        return outcomes.tally;
      },
    };
  };
};

/** Resolves as well where the connection is closed before that. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once('drain', resolve).once('close', resolve));
}

function begun(n: number): readonly Uint8Array[] {
  const head = `POST /v1/bundles/verify HTTP/1.1\r\nHost: x\r\n${forwarded(n)}Content-Type: application/json\r\n`;
  if (n % 3 === 0) return [];
  return [Buffer.from(n % 3 === 1 ? head : `${head}Content-Length: 1000\r\n\r\n{"format":`)];
}

function* longBody(n: number): Generator<Uint8Array> {
  const head = `POST /v1/bundles/verify HTTP/1.1\r\nHost: x\r\n${forwarded(SILENT + n)}Content-Type: application/json\r\n`;
  yield Buffer.from(`${head}Content-Length: ${LONG_BYTES}\r\n\r\n`);
  const piece = Buffer.alloc(64 << 10, ' ');
  for (let sent = 0; sent < SENT_BYTES; sent += piece.length) yield piece;
}

function forwarded(n: number): string {
  return `X-Forwarded-For: ${strangersHeader(n)['x-forwarded-for']}\r\n`;
}
