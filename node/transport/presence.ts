import { reasonOf } from './errors.ts';
import type { Connection, PeerId } from '@libp2p/interface';
import type { Logger } from 'pino';
import type { MeridianNode } from './libp2p-node.ts';
import type { TransportLimits } from './limits.ts';
import type { Members } from './members.ts';

type Listener = (node: string) => void;

/**
 * Who came and went, told by node id: once when the first connection to a member opens, once when the last closes.
 *
 * A member that dials while a connection from it is open here has given that one up, for it dials only when it has
 * none: what was cut may seem open on this side for long. So it has gone, and comes again; the old connection is ended,
 * with its gossip streams, which would otherwise keep those of the new one from being opened. Where both dialled at
 * once, both keep the connection of the one who dials first.
 */
export class Presence {
  readonly #members: Members;
  readonly #limits: Readonly<TransportLimits>;
  readonly #log: Logger;
  readonly #onConnect = new Set<Listener>();
  readonly #onDisconnect = new Set<Listener>();
  /** Node ids of connected peers as they were named on arrival: a removed member's leaving is told too. */
  readonly #present = new Map<string, string>();
  readonly #since = new Map<string, number>();

  constructor(members: Members, limits: Readonly<TransportLimits>, log: Logger) {
    this.#members = members;
    this.#limits = limits;
    this.#log = log;
  }

  watch(node: MeridianNode) {
    node.addEventListener('peer:connect', ({ detail }) => this.#came(detail));
    node.addEventListener('peer:disconnect', ({ detail }) => this.#went(detail));
    node.addEventListener('connection:open', ({ detail }) => this.#succeed(node, detail));
  }

  onConnect(listener: Listener): () => void {
    this.#onConnect.add(listener);
    return () => this.#onConnect.delete(listener);
  }

  onDisconnect(listener: Listener): () => void {
    this.#onDisconnect.add(listener);
    return () => this.#onDisconnect.delete(listener);
  }

  /** Milliseconds since the epoch of the last coming or going; null when there was none. */
  since(node: string): number | null {
    return this.#since.get(node) ?? null;
  }

  #succeed(node: MeridianNode, connection: Connection) {
    const { id, direction, remotePeer } = connection;
    const older = node.getConnections(remotePeer).filter((other) => other.id !== id && other.status === 'open');
    if (older.some((other) => this.#hasCrossed(other, connection))) {
      connection.abort(new Error('both have dialled'));
      return;
    }
    if (direction !== 'inbound' || older.length === 0) return;
    for (const given of older) given.abort(new Error('the peer has dialled anew'));
    this.#went(remotePeer);
    this.#came(remotePeer);
  }

  /**
   * Whether the older connection was dialled while the newer one was, by the side that dials first. It has a dial's
   * whole time on either side to be the older one in: `open` is when its socket was.
   */
  #hasCrossed({ direction, remotePeer, timeline }: Connection, newer: Connection): boolean {
    const { dialTimeout, handshakeTimeout } = this.#limits;
    if (direction === newer.direction || Date.now() - timeline.open > dialTimeout + handshakeTimeout) return false;
    const member = this.#members.other(this.#members.nodeOf(remotePeer) ?? '');
    return member !== null && this.#members.weDialFirst(member) === (direction === 'outbound');
  }

  #came(peer: PeerId) {
    const node = this.#members.nodeOf(peer);
    if (node === null) return;
    this.#present.set(peer.toString(), node);
    this.#tell(this.#onConnect, node, 'peer connected');
  }

  #went(peer: PeerId) {
    const node = this.#present.get(peer.toString());
    if (node === undefined) return;
    this.#present.delete(peer.toString());
    this.#tell(this.#onDisconnect, node, 'peer disconnected');
  }

  #tell(listeners: Set<Listener>, node: string, event: string) {
    this.#since.set(node, Date.now());
    this.#log.info({ peer: node }, event);
    for (const listener of listeners) {
      try {
        listener(node);
      } catch (error) {
        this.#log.error({ peer: node, reason: reasonOf(error) }, `listener failed on ${event}`);
      }
    }
  }
}
