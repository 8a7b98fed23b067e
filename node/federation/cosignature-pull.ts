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
/** Pause before a peer is asked about gaps again that could not fill one. In milliseconds. */
const REST_MS = 5_000;

type Held = Status['cosigned'][number];

export interface CosignaturePullOptions {
  readonly keys: Pick<FederationKeys, 'rosters'>;
  readonly cosignatures: Cosignatures;
  readonly faults: PeerFaults;
  readonly transport: Pick<Transport, 'request'>;
  readonly lanes: Lanes<NodeId>;
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
  /** Set while a peer is about to be asked, or is asked. */
  readonly #timers = new Map<NodeId, NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: CosignaturePullOptions) {
    this.#options = options;
  }

  /** Pulls what a peer holds up to these batches. Rejects where it cannot be asked. */
  async pull(peer: NodeId, held: readonly Held[]): Promise<void> {
    let left = held;
    for (;;) {
      left = left.filter((one) => this.#lacks(one));
      if (left.length === 0) return;
      const asked = left.slice(0, PAGE_RANGES);
      if (!(await this.#pullPage(peer, asked))) left = left.slice(asked.length);
    }
  }

  /** A peer told of a cosignature that others before it are missing. */
  noteGap(peer: NodeId, { node, witness, batch }: Held): void {
    const gaps = this.#gaps.get(peer) ?? new Map<string, Held>();
    this.#gaps.set(peer, gaps.set(`${node}/${witness}`, { node, witness, batch }));
    this.#schedule(peer, OVERTAKEN_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.allSettled(this.#running);
  }

  #schedule(peer: NodeId, delay: number): void {
    if (this.#closing.signal.aborted || this.#timers.has(peer)) return;
    const timer = setTimeout(() => this.#start(peer), delay);
    this.#timers.set(peer, timer);
  }

  #start(peer: NodeId): void {
    const gaps = [...(this.#gaps.get(peer)?.values() ?? [])];
    this.#gaps.delete(peer);
    const run = this.#fill(peer, gaps).finally(() => {
      this.#running.delete(run);
      this.#timers.delete(peer);
      // What was told meanwhile.
      const isOpen = gaps.some((gap) => this.#lacks(gap));
      if (this.#gaps.has(peer)) this.#schedule(peer, isOpen ? REST_MS : OVERTAKEN_MS);
    });
    this.#running.add(run);
  }

  /** What a peer does not fill is left to the rounds of head exchanges, with all peers. */
  async #fill(peer: NodeId, gaps: readonly Held[]): Promise<void> {
    const { faults, log } = this.#options;
    try {
      await this.pull(peer, gaps);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      faults.noteError(peer, error);
      log.debug({ err: error, peer }, 'cosignatures did not arrive');
    }
  }

  #lacks({ node, witness, batch }: Held): boolean {
    const { cosignatures, keys } = this.#options;
    if (keys.rosters.member(node) === undefined || keys.rosters.member(witness) === undefined) return false;
    return cosignatures.watermark(node, witness) < batch;
  }

  /** Whether any of these moved meanwhile, by this page or by another: then there may be more to ask for. */
  async #pullPage(peer: NodeId, lacking: readonly Held[]): Promise<boolean> {
    const { cosignatures, transport, lanes, faults, log } = this.#options;
    const marks = () => lacking.map(({ node, witness }) => cosignatures.watermark(node, witness));
    const before = marks();
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
    await cosignatures.learnAll(signed, (error) => {
      // One statement that does not hold, or not yet, must not hide the others.
      faults.noteError(peer, error);
      log.warn({ err: error, peer }, 'a peer holds a cosignature that is refused here');
    });
    return marks().some((mark, i) => mark !== before[i]);
  }
}
