import type { NodeId } from '../../protocol/ids.ts';
import { MEMBER_ALLOWANCE } from '../accounts/limits/allowances.ts';
import { KeyedLock } from '../concurrency/keyed-lock.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import type { Transport } from '../transport/contract.ts';
import { openedBytes, type PageRequest, pageRequest } from './page-forms.ts';

/** What the frames of a page open to at most: as much as an answer of texts may hold. In bytes. */
const MOST_OPENED_BYTES = MEMBER_ALLOWANCE.answerBytes;

/**
 * Asks other members for pages, one request at a time to a member. A page is read with back-pressure: the member sends no
 * faster than the caller takes its frames.
 */
export class PageClient {
  readonly #transport: Pick<Transport, 'request'>;
  readonly #locks = new KeyedLock<NodeId>();

  constructor(transport: Pick<Transport, 'request'>) {
    this.#transport = transport;
  }

  /**
   * Asks for a page once nothing else is asked of the peer, and resolves to what `read` makes of its frames. The next request
   * to the peer waits until `read` has ended. Rejects as `read` and the transport do.
   */
  read<Result>(
    peer: NodeId,
    request: PageRequest,
    read: (frames: AsyncIterable<Uint8Array>) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return this.#locks.exclusive(peer, () => read(this.readAtOnce(peer, request, signal)));
  }

  /** All frames of a page, asked for as `read` does. */
  frames(peer: NodeId, request: PageRequest, signal: AbortSignal): Promise<Uint8Array[]> {
    return this.read(peer, request, Array.fromAsync<Uint8Array>, signal);
  }

  /** All frames of a peer's answer on its status, or on the start of this node. Waits for pages of that peer too. */
  answer(peer: NodeId, protocol: 'start' | 'status', request: Uint8Array, signal: AbortSignal): Promise<Uint8Array[]> {
    return this.#locks.exclusive(peer, () =>
      Array.fromAsync(this.#transport.request(peer, protocol, request, { signal })),
    );
  }

  /**
   * The frames of a page that is asked for at once, whatever else is asked of the peer: a short one that work waits for.
   * Throws `PeerStatementError` `malformed` at the frame by which the page opens to more than any may, and what the
   * transport throws.
   */
  async *readAtOnce(peer: NodeId, request: PageRequest, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const frame of this.#transport.request(peer, 'batches', pageRequest.encode(request), { signal })) {
      bytes += openedBytes(frame);
      if (bytes > MOST_OPENED_BYTES) {
        throw new PeerStatementError('malformed', `a page that opens to more than ${MOST_OPENED_BYTES} bytes`);
      }
      yield frame;
    }
  }
}
