import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import type { Lanes } from '../lanes.ts';
import type { Cosignatures } from './cosignatures.ts';
import type { FederationKeys } from './federation-keys.ts';
import { decodeItem, PAGE_RANGES, pageRequest, type Status } from './page-forms.ts';
import type { PeerFaults } from './peer-faults.ts';
import type { Transport } from './transport/contract.ts';

/** What is missing before a cosignature may be under way: gossip keeps no order. In milliseconds. */
const OVERTAKEN_MS = 200;
/** How long a gap that a peer could not fill is left to the rounds of head exchanges. In milliseconds. */
const REST_MS = 5_000;

type Held = Status['cosigned'][number];

export interface CosignaturePullOptions {
  readonly keys: Pick<FederationKeys, 'rosters'>;
  readonly cosignatures: Cosignatures;
  readonly faults: PeerFaults;
  readonly transport: Pick<Transport, 'request'>;
  readonly lanes: Lanes<NodeId>;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Pulls cosignatures that peers hold and this node lacks, whoever made them: many witnesses' at once, page by page. A
 * witness that catches up makes hundreds at a time and tells of the last one alone, so a gap before one is pulled too.
 */
export class CosignaturePull implements AsyncDisposable {
  readonly #options: CosignaturePullOptions;
  /** By peer: what it told of that others before it are missing, by chain and witness. */
  readonly #gaps = new Map<NodeId, Map<string, Held>>();
  /** Until when a gap is left alone, in epoch milliseconds, by chain and witness. */
  readonly #restUntil = new Map<string, number>();
  readonly #timers = new Map<NodeId, NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: CosignaturePullOptions) {
    this.#options = options;
  }

  /** Pulls what a peer holds up to these batches. Rejects where it cannot be asked. */
  async pull(peer: NodeId, held: readonly Held[]): Promise<void> {
    for (;;) {
      const lacking = held.filter((one) => this.#lacks(one)).slice(0, PAGE_RANGES);
      if (lacking.length === 0 || !(await this.#pullPage(peer, lacking))) return;
    }
  }

  /** A peer told of a cosignature that others before it are missing. */
  noteGap(peer: NodeId, { node, witness, batch }: Held): void {
    const key = `${node}/${witness}`;
    if (this.#closing.signal.aborted || (this.#restUntil.get(key) ?? 0) > this.#options.now()) return;
    const gaps = this.#gaps.get(peer) ?? new Map<string, Held>();
    this.#gaps.set(peer, gaps.set(key, { node, witness, batch }));
    if (this.#timers.has(peer)) return;
    const timer = setTimeout(() => this.#start(peer), OVERTAKEN_MS);
    this.#timers.set(peer, timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled(this.#running);
  }

  #start(peer: NodeId): void {
    const run = this.#fill(peer, [...(this.#gaps.get(peer)?.values() ?? [])]).finally(() => {
      this.#running.delete(run);
      this.#timers.delete(peer);
      // What was told meanwhile.
      for (const gap of this.#gaps.get(peer)?.values() ?? []) this.noteGap(peer, gap);
    });
    this.#gaps.delete(peer);
    this.#running.add(run);
  }

  async #fill(peer: NodeId, gaps: readonly Held[]): Promise<void> {
    const { faults, log, now } = this.#options;
    try {
      await this.pull(peer, gaps);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      faults.noteError(peer, error);
      log.debug({ err: error, peer }, 'cosignatures did not arrive');
    }
    for (const gap of gaps) if (this.#lacks(gap)) this.#restUntil.set(`${gap.node}/${gap.witness}`, now() + REST_MS);
  }

  #lacks({ node, witness, batch }: Held): boolean {
    const { cosignatures, keys } = this.#options;
    if (keys.rosters.member(node) === undefined || keys.rosters.member(witness) === undefined) return false;
    return cosignatures.watermark(node, witness) < batch;
  }

  /** Whether the page brought anything that was not known. */
  async #pullPage(peer: NodeId, lacking: readonly Held[]): Promise<boolean> {
    const { cosignatures, transport, lanes, faults, log } = this.#options;
    const signed: SignedStatement[] = [];
    await lanes.exclusive(peer, async () => {
      // As of now: others may have brought some while the lane was taken.
      const of = lacking
        .filter((one) => this.#lacks(one))
        .map(({ node, witness }) => ({ node, witness, from: cosignatures.watermark(node, witness) + 1 }));
      if (of.length === 0) return;
      const request = pageRequest.encode({ want: 'cosignatures', of });
      for await (const frame of transport.request(peer, 'batches', request, { signal: this.#closing.signal })) {
        const item = decodeItem(frame);
        if (item.kind === 'cosignature') signed.push(item.signed);
      }
    });
    const before = lacking.filter((one) => this.#lacks(one)).length;
    const isAnyNew = await cosignatures.learnAll(signed, (error) => {
      // One statement that does not hold, or not yet, must not hide the others.
      faults.noteError(peer, error);
      log.warn({ err: error, peer }, 'a peer holds a cosignature that is refused here');
    });
    return isAnyNew || before < lacking.length;
  }
}
