import type { AttestationRecord } from '../../protocol/chain/record.ts';
import type { SourceName } from '../../protocol/chain/sources.ts';
import { type NodeId, nodeId, recordId } from '../../protocol/ids.ts';
import { linkingIds } from '../records/link-tables.ts';
import { placedHoldTable } from '../records/placed-hold-table.ts';
import { readRecord } from '../records/record-reader.ts';
import { sourceKey } from '../records/sources/sources.ts';
import type { Reads } from '../store/store.ts';
import type { AccountSpeakers } from './account-records.ts';
import { releasesOf } from './lock-tables.ts';

/** Holds of one node over one source, released ones too, that are looked at. */
const MAX_LOOKED_AT = 256;
/** Holds whose nodes are asked for together: no more than versions of a statement that one look takes. */
const TOGETHER = 16;

/** Legal holds that other nodes of an account have over one of its sources, as far as their records are here. */
export interface HoldsOfOthers {
  /** Those that nobody released, in order of their nodes, then the oldest first. */
  readonly holds: readonly AttestationRecord[];
  /** False where a node that speaks for the account made more than are looked at: any of the others may hold. */
  readonly isWhole: boolean;
}

/** Finds the legal holds of other nodes. One counts where its node speaks for the account, until that node releases it. */
export class HoldsElsewhere {
  readonly #store: Reads;
  readonly #self: NodeId;
  readonly #speakers: Pick<AccountSpeakers, 'speaking'>;

  constructor(store: Reads, self: NodeId, speakers: Pick<AccountSpeakers, 'speaking'>) {
    this.#store = store;
    this.#self = self;
    this.#speakers = speakers;
  }

  async over(source: SourceName): Promise<HoldsOfOthers> {
    const holds: AttestationRecord[] = [];
    let isWhole = true;
    let node = await this.#nodeFrom(source, '');
    while (node !== undefined) {
      if (node !== this.#self) {
        const found = await this.#ofNode(source, node);
        holds.push(...found.holds);
        isWhole &&= found.isWhole;
      }
      // After every row of this node: `0` follows the `/` that ends it.
      node = await this.#nodeFrom(source, `${node}0`);
    }
    return { holds, isWhole };
  }

  async #nodeFrom(source: SourceName, from: string): Promise<NodeId | undefined> {
    const rows = placedHoldTable.under(this.#store, partsOf(source), { from, limit: 1 });
    for await (const [[node = '']] of rows) return nodeId(node);
    return undefined;
  }

  async #ofNode(source: SourceName, node: NodeId): Promise<HoldsOfOthers> {
    const parts = [...partsOf(source), node];
    const placed: AttestationRecord[] = [];
    let looked = 0;
    for await (const [, id] of placedHoldTable.under(this.#store, parts, { limit: MAX_LOOKED_AT + 1 })) {
      if (++looked > MAX_LOOKED_AT) break;
      const [release] = await linkingIds(this.#store, releasesOf(recordId(id)), 1, node);
      if (release === undefined) placed.push(...(await this.#read(id)));
    }
    const holds: AttestationRecord[] = [];
    for (let at = 0; at < placed.length; at += TOGETHER) {
      holds.push(...(await this.#speakers.speaking(source.account, placed.slice(at, at + TOGETHER))));
    }
    const isWhole = looked <= MAX_LOOKED_AT || !(holds.length > 0 || (await this.#spokeLast(source.account, parts)));
    return { holds, isWhole };
  }

  /** Whether the node spoke for the account when it made the last hold. */
  async #spokeLast(account: string, parts: readonly string[]): Promise<boolean> {
    const [, id = ''] = (await placedHoldTable.last(this.#store, parts)) ?? [];
    return (await this.#speakers.speaking(account, await this.#read(id))).length > 0;
  }

  async #read(id: string): Promise<readonly AttestationRecord[]> {
    const found = await readRecord(this.#store, recordId(id));
    return found === undefined ? [] : [found.record];
  }
}

function partsOf({ account, sourceId }: SourceName): readonly [account: string, source: string] {
  return [account, sourceKey(sourceId)];
}
