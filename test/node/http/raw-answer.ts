import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { TestNode } from '../../fixtures/test-node.ts';

/** How long an answer on a raw connection may take. In milliseconds. */
const PATIENCE_MS = 5_000;

/** A raw connection to the node: for what no well-behaved client sends. */
export async function dial(node: TestNode): Promise<Socket> {
  const socket = connect(node.config.http.port, '127.0.0.1');
  socket.setEncoding('utf8').setTimeout(PATIENCE_MS, () => socket.destroy(new Error('the node does not answer')));
  await once(socket, 'connect');
  return socket;
}

/** Sends text as it stands; resolves to all that comes back until the head and body of one answer are there. */
export async function rawAnswer(node: TestNode, text: string): Promise<string> {
  const socket = await dial(node);
  socket.write(text);
  let received = '';
  for await (const chunk of socket) {
    received += String(chunk);
    if (isWhole(received)) break;
  }
  socket.destroy();
  return received;
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  return end >= 0 && length !== undefined && Buffer.byteLength(text.slice(end + 4)) >= Number(length);
}
