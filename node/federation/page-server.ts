import type { WholeTexts } from '../../protocol/chain/record.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { type Group, groupStatement } from '../../protocol/statement/group.ts';
import { splitTexts } from '../records/record-lines.ts';
import { readGroup } from '../records/record-reader.ts';
import { BODY_ROW_RECORDS, bodyTable, groupTable, storedBodyTable } from '../records/record-tables.ts';
import { rosterTextTable } from '../log/log-tables.ts';
import { readBatch } from '../records/batch-tables.ts';
import { openedLengthOf } from '../store/compressed-text.ts';
import type { Store } from '../store/store.ts';
import type { Equivocations } from './equivocations.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import { TransportError } from '../transport/errors.ts';
import {
  encodeItem,
  encodeRow,
  openedBytes,
  PAGE_BYTES,
  PAGE_ENVELOPES,
  type PageRequest,
  pageRequest,
  STORED_ROWS_VERSION,
} from './page-forms.ts';

/**
 * Characters of records, or of a roster's text, after which a frame is full: far below what a frame may hold, whatever
 * their alphabet.
 */
const FRAME_CHARACTERS = 128 << 10;
/** A longer row is sent as its records. */
const FRAME_ROW_BYTES = 512 << 10;

type ChainRequest = Extract<PageRequest, { readonly want: 'chain' }>;

/** Body rows of a node as they are stored, in order. */
type StoredRows = AsyncGenerator<[parts: string[], row: Uint8Array]>;

export interface PageSources {
  readonly store: Store;
  readonly equivocations: Equivocations;
  readonly keys: FederationKeys;
}

/** Answers pages of what this node holds, of any node's chain: peers catch up from anyone who is alive. */
export class PageServer {
  readonly #store: Store;
  readonly #equivocations: Equivocations;
  readonly #keys: FederationKeys;

  constructor({ store, equivocations, keys }: PageSources) {
    this.#store = store;
    this.#equivocations = equivocations;
    this.#keys = keys;
  }

  /**
   * The page that a peer asks for. Throws `PeerStatementError` if the request is malformed, and `TransportError` `refused` if
   * the peer may not have the page: one that is not a member is served its own chain and all keys.
   */
  requestOf(body: Uint8Array, peer: NodeId, faults: PeerFaults): PageRequest {
    try {
      const request = pageRequest.decode(body);
      const isOfAnother = 'node' in request && request.node !== peer && request.want !== 'keys';
      if (!isOfAnother || this.#keys.isMember(peer)) return request;
    } catch (error) {
      faults.noteError(peer, error);
      throw error;
    }
    throw new TransportError('refused', `${peer} is no member: it is served its own chain alone`);
  }

  /**
   * Frames of one page. A page of a chain may end after any group; the asker goes on from there. It begins with the
   * group that the record asked for is in, also where others are held of the records before it. `version`: of the
   * protocol that they are sent by.
   */
  async *serve(request: PageRequest, version: number): AsyncGenerator<Uint8Array> {
    switch (request.want) {
      case 'chain':
        yield* this.#chain(request, version >= STORED_ROWS_VERSION);
        return;
      case 'envelope': {
        const stored = await readBatch(this.#store, request.node, request.batch);
        if (stored !== undefined) yield encodeItem({ kind: 'envelope', signed: stored.signed });
        return;
      }
      case 'equivocations':
        for await (const proof of this.#equivocations.proofs()) yield encodeItem({ kind: 'equivocation', proof });
        return;
      case 'keys': {
        const { certificates, revocations } = this.#keys.statements([request.node]);
        for (const signed of certificates) yield encodeItem({ kind: 'certificate', signed });
        for (const signed of revocations) yield encodeItem({ kind: 'revocation', signed });
        return;
      }
      case 'roster': {
        yield* rosterFrames((await rosterTextTable.get(this.#store, request.hash)) ?? '');
      }
    }
  }

  async *#chain(from: ChainRequest, isAsStored: boolean): AsyncGenerator<Uint8Array> {
    const { node } = from;
    let bytes = 0;
    let seq = (await readGroup(this.#store, node, from.seq))?.group.first ?? from.seq;
    for (let { batch } = from; batch < from.batch + PAGE_ENVELOPES; batch++) {
      const stored = await readBatch(this.#store, node, batch);
      if (stored === undefined) return;
      yield encodeItem({ kind: 'envelope', signed: stored.signed });
      const end = stored.envelope.first + stored.envelope.size;
      for await (const { group, frames } of this.#groups(node, seq, end, isAsStored)) {
        // It is being signed again: nobody takes a batch of two keys, and the whole one is there soon.
        if (group.keyId !== stored.envelope.keyId) return;
        for (const frame of frames) {
          bytes += openedBytes(frame);
          yield frame;
        }
        seq = group.first + group.size;
        if (bytes >= PAGE_BYTES) return;
      }
    }
  }

  /** Groups of a node from `seq` up to `end`, each with its frames: the statement, then its records. */
  async *#groups(
    node: NodeId,
    seq: number,
    end: number,
    isAsStored: boolean,
  ): AsyncGenerator<{ group: Group; frames: Uint8Array[] }> {
    // One reading for the rows of all groups: a busy chain's groups are small.
    let rows: StoredRows | undefined;
    try {
      for await (const [, signed] of groupTable.under(this.#store, [node], { from: seq })) {
        const group = groupStatement.parse(signed.statement);
        if (group.first >= end) return;
        rows ??= storedBodyTable.under(this.#store, [node], { from: group.first, before: end });
        yield {
          group,
          frames: [encodeItem({ kind: 'group', signed }), ...(await recordFrames(rows, group, isAsStored))],
        };
      }
    } finally {
      await rows?.return(undefined);
    }
  }
}

/** Frames of a roster's text, cut between characters. */
function* rosterFrames(text: string): Generator<Uint8Array> {
  for (let at = 0; at < text.length;) {
    const end = Math.min(at + FRAME_CHARACTERS, text.length);
    const isTorn = end < text.length && !text.slice(at, end).isWellFormed();
    const part = text.slice(at, isTorn ? end - 1 : end);
    yield encodeItem({ kind: 'roster', part });
    at += part.length;
  }
}

/** Frames of a group's records, which are in the next rows. */
async function recordFrames(rows: StoredRows, { size }: Group, isAsStored: boolean): Promise<Uint8Array[]> {
  const frames: Uint8Array[] = [];
  let records: WholeTexts[] = [];
  let characters = 0;
  const flush = () => {
    if (records.length > 0) frames.push(encodeItem({ kind: 'records', records }));
    records = [];
    characters = 0;
  };
  for (let left = size; left > 0; left -= BODY_ROW_RECORDS) {
    const next = await rows.next();
    if (next.done === true) break;
    const [, row] = next.value;
    if (isAsStored && row.length <= FRAME_ROW_BYTES && openedLengthOf(row) !== undefined) {
      frames.push(encodeRow(row));
      continue;
    }
    for (const texts of splitTexts(bodyTable.decode(row))) {
      const length = texts.head.length + texts.body.length;
      if (characters + length > FRAME_CHARACTERS) flush();
      records.push(texts);
      characters += length;
    }
    flush();
  }
  return frames;
}
