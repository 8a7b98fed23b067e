import { readHead } from '../../protocol/chain/record.ts';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { knownNode } from '../../protocol/log/decision-state.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import type { Chains } from '../log/chains.ts';
import type { FederationLog } from '../log/federation-log.ts';
import { readBatch } from '../records/batch-tables.ts';
import { openedBodyTable } from '../records/opened-bodies.ts';
import { readTexts } from '../records/record-reader.ts';
import { groupTable } from '../records/record-tables.ts';
import { readTimeSteps } from '../records/time-steps.ts';
import type { Reads } from '../store/store.ts';
import type { AnchoringView } from '../verification/attestation/anchoring-view.ts';
import type { Evidence } from '../verification/evidence.ts';
import type { PackRow } from './pack-tables.ts';

export interface PackReachOptions {
  readonly self: NodeId;
  readonly store: Reads;
  readonly chains: Pick<Chains, 'head'>;
  readonly federationLog: Pick<FederationLog, 'state'>;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly view: Pick<AnchoringView, 'of'>;
}

/** How far what this node holds of each node's records reaches. */
export class PackReach {
  readonly #options: PackReachOptions;

  constructor(options: PackReachOptions) {
    this.#options = options;
  }

  /** The last record that each of these nodes made up to a moment; nodes without one are left out. */
  async upTo(nodes: readonly NodeId[], asOf: Timestamp): Promise<PackRow['reach']> {
    const reach: PackRow['reach'] = [];
    for (const node of nodes.toSorted()) {
      const seq = await this.#lastUpTo(node, asOf);
      if (seq > 0) reach.push({ node, seq });
    }
    return reach;
  }

  /**
   * The evidence about the last record of each node that is confirmed; null while a later one may still be. Nodes without
   * one are left out.
   */
  async confirmed(reach: PackRow['reach']): Promise<readonly Evidence[] | null> {
    const found: Evidence[] = [];
    for (const { node, seq } of reach) {
      const one = await this.#lastConfirmed(node, seq);
      if (one === null) return null;
      if (one !== undefined) found.push(one);
    }
    return found;
  }

  /** Up to a record. One that is denied shows nothing of its batch, and keeps no pack from being made. */
  async #lastConfirmed(node: NodeId, seq: number): Promise<Evidence | null | undefined> {
    const { store, evidence, view } = this.#options;
    const slices = new TimeSlices();
    for (let at = seq; at > 0;) {
      if (slices.isOver) await slices.rest();
      const texts = await readTexts(store, node, at);
      const one = texts && (await evidence(readHead(texts.head).id));
      if (one === undefined) return null;
      const { status, isDenied } = await view.of(one);
      if (status === 'confirmed') return one;
      // What is not decided is signed again where its key was revoked.
      if (!isDenied || one.batch === undefined || one.decision === null) return null;
      at = one.batch.envelope.first - 1;
    }
    return undefined;
  }

  /** 0 where there is none. */
  async #lastUpTo(node: NodeId, asOf: Timestamp): Promise<number> {
    let last = await this.#last(node);
    if (last > 0 && (await this.#isUpTo(node, last, asOf))) return last;
    if (node !== this.#options.self) return this.#lastGroupUpTo(node, last, asOf);
    const steps = await readTimeSteps(this.#options.store, node);
    for (const { seq, after } of steps.toReversed()) {
      if (after <= asOf) return this.#searched(node, [seq, last], asOf);
      last = seq - 1;
    }
    return this.#searched(node, [0, last], asOf);
  }

  /** Of another node, where nothing notes that times go back: by its groups, the newest first. */
  async #lastGroupUpTo(node: NodeId, last: number, asOf: Timestamp): Promise<number> {
    const slices = new TimeSlices();
    for await (const [, { statement }] of groupTable.under(this.#options.store, [node], { reverse: true })) {
      if (slices.isOver) await slices.rest();
      const { first, size, signedAt } = groupStatement.parse(statement);
      if (first <= last && signedAt <= asOf) return Math.min(last, first + size - 1);
    }
    return 0;
  }

  /** The last of some records that stand in order of time. The first of them is made up to the moment, or is none. */
  async #searched(node: NodeId, [first, last]: readonly [number, number], asOf: Timestamp): Promise<number> {
    let [low, high] = [first, last + 1];
    while (high - low > 1) {
      const middle = low + Math.floor((high - low) / 2);
      if (await this.#isUpTo(node, middle, asOf)) low = middle;
      else high = middle;
    }
    return low;
  }

  async #isUpTo(node: NodeId, seq: number, asOf: Timestamp): Promise<boolean> {
    const texts = await readTexts(this.#options.store, node, seq);
    return texts !== undefined && readHead(texts.head).submittedAt <= asOf;
  }

  /** Of this node the last that it made; of another the last of its last decided batch that is here. */
  async #last(node: NodeId): Promise<number> {
    const { self, store, chains, federationLog } = this.#options;
    if (node === self) {
      const row = await openedBodyTable.last(store, [node]);
      return row === undefined ? 0 : Number(row[0]) + row[1].length - 1;
    }
    const decided = knownNode(federationLog.state, node)?.last?.batch ?? 0;
    const batch = await readBatch(store, node, Math.min(decided, chains.head(node).batch));
    return batch === undefined ? 0 : batch.envelope.first + batch.envelope.size - 1;
  }
}
