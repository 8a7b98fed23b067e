import type { ServedBatch } from '../../protocol/api/public-record.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import {
  type Authorities,
  judgedOrNull,
  judgeEnvelopes,
  openEnvelope,
} from '../../protocol/proof/judge.ts';
import { ProofError } from '../../protocol/proof/proof.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { ChainWatch, Proven } from './chain-watch.ts';
import type { Faces, Shown } from './faces.ts';
import type { PublicFace } from './public-face.ts';

export interface ChainReadingOptions {
  readonly faces: Faces;
  readonly authorities: Authorities;
  readonly now: () => number;
  /** Told of every proof; the same one may come again. */
  readonly onProven: (proven: Proven) => Promise<void>;
}

/** Pages of one chain in one round at most. */
const PAGES_A_ROUND = 16;
/** Batches whose every node is asked in one round. */
const INQUIRIES_A_ROUND = 8;
/** Batches before the head that a node is asked for again, to see whether it shows what the others do. */
const SPOT_BATCHES = 4;

/** Brings the watched chains forward by what nodes show, and asks all of them where two tell different stories. */
export class ChainReading {
  readonly #options: ChainReadingOptions;
  #inquiries = 0;
  #turn = 0;
  /** Chains of which nodes have more, and that are being read on. */
  readonly #underWay = new Set<NodeId>();
  /** Hashes of envelopes shown for a batch that was inquired into in this round, by node and batch. */
  readonly #inquired = new Map<string, ReadonlySet<Sha256Hash>>();

  constructor(options: ChainReadingOptions) {
    this.#options = options;
  }

  begin(): void {
    this.#inquiries = 0;
    this.#inquired.clear();
  }

  /** Whether there is more to read of a chain, and reading goes on. */
  isUnderWay(node: NodeId): boolean {
    return this.#underWay.has(node);
  }

  /** Reads on from the nodes that say they have more, until none has. */
  async forward(chain: ChainWatch): Promise<void> {
    const { faces } = this.#options;
    const began = chain.head;
    for (const shown of faces.shown) {
      for (let page = 0; page < PAGES_A_ROUND && !chain.tainted && !chain.isFull; page++) {
        if ((headOf(shown, chain.node)?.batch ?? Number.POSITIVE_INFINITY) <= chain.head) break;
        const before = chain.head;
        await this.#take(shown.face, chain, before + 1);
        if (chain.head === before) break;
      }
    }
    const hasMore = faces.shown.some((shown) => (headOf(shown, chain.node)?.batch ?? 0) > chain.head);
    if (hasMore && !chain.tainted && (chain.head > began || faces.paced)) this.#underWay.add(chain.node);
    else this.#underWay.delete(chain.node);
  }

  /** Asks every node for the end of one chain, another one each round: what it says of heads may differ from what it shows. */
  async spotCheck(chains: readonly ChainWatch[]): Promise<void> {
    this.#turn++;
    const { all, shown } = this.#options.faces;
    for (const [index, face] of all.entries()) {
      const chain = chains[(this.#turn + index) % chains.length];
      const answered = shown.some((one) => one.face === face);
      if (chain === undefined || !answered || chain.tainted || chain.head === 0) continue;
      await this.#take(face, chain, Math.max(1, chain.head - SPOT_BATCHES + 1));
    }
  }

  /**
   * Asks every node for a batch and compares all that they show. Hashes of the envelopes that hold; null where enough was
   * asked in this round.
   */
  async inquire(node: NodeId, batch: number): Promise<ReadonlySet<Sha256Hash> | null> {
    const key = `${node}/${batch}`;
    const known = this.#inquired.get(key);
    if (known !== undefined) return known;
    if (this.#inquiries++ >= INQUIRIES_A_ROUND) return null;
    const { faces } = this.#options;
    const served: ServedBatch[] = [];
    for (const { face } of faces.shown) served.push(...((await this.#askFor(face, node, batch)) ?? []));
    await this.#compare(served);
    const hashes = new Set(served.map(({ envelope }) => hashText(nativeSuite, envelope.statement)));
    this.#inquired.set(key, hashes);
    return hashes;
  }

  /** Hashes of the envelopes that one node shows for a batch: one or none; undefined where it did not answer. */
  async shownBy(face: PublicFace, node: NodeId, batch: number): Promise<ReadonlySet<Sha256Hash> | undefined> {
    const served = await this.#askFor(face, node, batch);
    return served && new Set(served.map(({ envelope }) => hashText(nativeSuite, envelope.statement)));
  }

  /** The batch as one node shows it, where its envelope holds. */
  #askFor(face: PublicFace, node: NodeId, batch: number): Promise<ServedBatch[] | undefined> {
    const { faces, authorities } = this.#options;
    return faces.ask(face, async () => {
      const [first] = (await face.chain(node, batch)).batches;
      if (first?.batch !== batch) return [];
      const envelope = openEnvelope(authorities, first.envelope);
      if (envelope.node === node && envelope.batch === batch) return [first];
      throw new ProofError(`batch ${envelope.node}/${envelope.batch} in the place of ${node}/${batch}`);
    });
  }

  async #take(face: PublicFace, chain: ChainWatch, from: number): Promise<void> {
    const { faces, authorities, now, onProven } = this.#options;
    await faces.ask(face, async () => {
      const { batches } = await face.chain(chain.node, from);
      for (const [index, served] of batches.entries()) {
        if (served.batch !== from + index) return faces.lies(face, `${chain.node}/${served.batch} is out of order`);
        const proven = chain.take(authorities, served, now());
        if (proven === null) continue;
        await onProven(proven);
        return undefined;
      }
      return undefined;
    });
  }

  /** Every contradiction between what was shown of one batch. */
  async #compare(served: readonly ServedBatch[]): Promise<void> {
    const { authorities, onProven } = this.#options;
    const envelopes = unique(served.map(({ envelope }) => envelope));
    for (const [index, first] of envelopes.entries()) {
      for (const second of envelopes.slice(index + 1)) {
        const finding = judgedOrNull(() => judgeEnvelopes(authorities, first, second));
        if (finding !== null) await onProven({ finding, statements: [first, second] });
      }
    }
  }
}

/** Where a node says that it stands with a member's chain; undefined of one that is no member any more. */
export function headOf({ federation }: Shown, node: NodeId) {
  return federation.members.find((member) => member.node === node)?.head;
}

/** Statements of one text count once: signatures are hedged. */
function unique(statements: readonly SignedStatement[]): SignedStatement[] {
  return [...new Map(statements.map((signed) => [signed.statement, signed])).values()];
}
