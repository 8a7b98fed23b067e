import { headOf, readBlock } from './block-reader.ts';
import type { ChainArchive } from './chain-archive.ts';
import type { ChainClient } from './chain-client.ts';
import { dumpState } from './dump-state.ts';
import type { BlockSeconds } from './mining.ts';

/** Blocks that are read at once, and written in one go. */
const BLOCKS_AT_ONCE = 32;
/** Blocks that a start may have to mine again: two seconds' work. */
export const DEFAULT_JOURNAL_BLOCKS = 500;
/** Looked at even where no notice of a block came. In milliseconds. */
const LOOK_MS = 1_000;

export interface FollowerOptions {
  readonly client: ChainClient;
  readonly rpcUrl: string;
  readonly archive: ChainArchive;
  /** Last block that the archive holds. */
  readonly from: number;
  readonly journalBlocks: number;
  readonly blockSeconds: BlockSeconds;
}

/**
 * Archives each block as it is mined: a moment later it survives whatever happens to the chain's process. Anvil itself
 * would write its state when it ends in order, and not before.
 */
export class BlockFollower implements AsyncDisposable {
  readonly #options: FollowerOptions;
  readonly #notices: WebSocket;
  readonly #timer: NodeJS.Timeout;
  readonly #failure = Promise.withResolvers<never>();
  #archived: number;
  #round: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #isStopping = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#archived = options.from;
    this.#failure.promise.catch(() => {});
    this.#notices = subscribe(options.rpcUrl, () => this.#look());
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  /** Rejects once blocks can no longer be archived. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** Archives what is there, then lets go. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#look();
    this.#isStopping = true;
    await this.#round;
    this.#notices.close();
  }

  /** One round at a time; notices that come during one are answered by one more. */
  #look(): void {
    if (this.#isStopping || this.#isWaiting) return;
    this.#isWaiting = true;
    this.#round = this.#round
      .then(() => {
        this.#isWaiting = false;
        return this.#archive();
      })
      .catch((error: unknown) => {
        this.#isStopping = true;
        this.#failure.reject(error);
      });
  }

  async #archive(): Promise<void> {
    const { client, archive, journalBlocks, blockSeconds } = this.#options;
    const head = await headOf(client);
    while (this.#archived < head) {
      const count = Math.min(BLOCKS_AT_ONCE, head - this.#archived);
      const numbers = Array.from({ length: count }, (_, i) => this.#archived + 1 + i);
      await archive.append(await Promise.all(numbers.map((number) => readBlock(client, number))));
      this.#archived += count;
    }
    if (archive.length >= journalBlocks) await archive.keepSnapshot(await dumpState(client, blockSeconds));
  }
}

function subscribe(rpcUrl: string, onBlock: () => void): WebSocket {
  const socket = new WebSocket(rpcUrl.replace(/^http/, 'ws'));
  const subscription = { jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] };
  socket.addEventListener('open', () => socket.send(JSON.stringify(subscription)));
  socket.addEventListener('message', onBlock);
  // Without notices the timer goes on.
  socket.addEventListener('error', () => {});
  return socket;
}
