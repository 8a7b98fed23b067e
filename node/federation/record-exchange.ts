import { parseBundle } from '../../protocol/bundle/bundle.ts';
import { decodeBase64url, decodeUtf8, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { type NodeId, nodeOfRecord, type RecordId } from '../../protocol/ids.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { recordText } from '../../protocol/statement/record.ts';
import type { OpenedPayload } from '../payload/payload-vault.ts';
import type { Evidence } from '../verification/evidence.ts';
import { payloadAnswer, recordRequest } from './page-forms.ts';
import { PeerStatementError } from './statement-check.ts';
import type { Transport } from './transport/contract.ts';

/** Time that an origin has to answer a question about one record. In milliseconds. */
const ANSWER_MS = 3_000;
/** Depth of a bundle whose payload may itself be as deep as a request. */
const BUNDLE_DEPTH = 64;

export interface RecordExchangeOptions {
  readonly self: NodeId;
  readonly transport: Pick<Transport, 'request' | 'serve'>;
  /** Evidence of an own record. */
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  /** Salt and payload of an own record; `withheld` where the residency policy keeps payloads in the region. */
  readonly payload: (id: RecordId) => Promise<OpenedPayload | 'erased' | 'withheld' | 'unknown'>;
}

/**
 * Questions about single records, put to the node that made them: the evidence of a record too young to have been sent
 * round, and a payload, which crosses the border in memory only, for one check.
 */
export class RecordExchange {
  readonly #options: RecordExchangeOptions;

  constructor(options: RecordExchangeOptions) {
    this.#options = options;
    options.transport.serve('record', (request) => this.#serveRecord(request));
    options.transport.serve('payload', (request) => this.#servePayload(request));
  }

  /** Evidence of another node's record, from that node; undefined where it is not reached or does not know it. */
  async askEvidence(id: RecordId): Promise<Evidence | undefined> {
    const frame = await this.#ask(id, 'record');
    if (frame === undefined || frame.length === 0) return undefined;
    const bundle = parseBundle(parseJson(decodeUtf8(frame), { maxDepth: BUNDLE_DEPTH }));
    const record = recordText.parse(bundle.record);
    return record.id === id ? { record, batch: undefined, bundle } : undefined;
  }

  /** Salt and payload of another node's record, or why they cannot be had. */
  async askPayload(id: RecordId): Promise<OpenedPayload | 'erased' | 'withheld' | 'unreachable'> {
    const frame = await this.#ask(id, 'payload');
    if (frame === undefined) return 'unreachable';
    const answer = payloadAnswer.decode(frame);
    if (answer.state === 'available') return { salt: decodeBase64url(answer.salt), text: answer.text };
    return answer.state === 'unknown' ? 'unreachable' : answer.state;
  }

  async #ask(id: RecordId, protocol: 'record' | 'payload'): Promise<Uint8Array | undefined> {
    const origin = nodeOfRecord(id);
    if (origin === this.#options.self) return undefined;
    try {
      const options = { signal: AbortSignal.timeout(ANSWER_MS) };
      const frames = await Array.fromAsync(
        this.#options.transport.request(origin, protocol, recordRequest.encode({ id }), options),
      );
      return frames[0];
    } catch (error) {
      if (error instanceof PeerStatementError) throw error;
      return undefined;
    }
  }

  async *#serveRecord(request: Uint8Array): AsyncGenerator<Uint8Array> {
    const { id } = recordRequest.decode(request);
    const evidence = nodeOfRecord(id) === this.#options.self ? await this.#options.evidence(id) : undefined;
    // The shape of a bundle wants rosters; the asker judges by its own and ignores these.
    yield evidence === undefined ? new Uint8Array(0) : utf8(JSON.stringify(evidence.bundle));
  }

  async *#servePayload(request: Uint8Array): AsyncGenerator<Uint8Array> {
    const { id } = recordRequest.decode(request);
    const payload = nodeOfRecord(id) === this.#options.self ? await this.#options.payload(id) : 'unknown';
    yield typeof payload === 'string'
      ? payloadAnswer.encode({ state: payload })
      : payloadAnswer.encode({ state: 'available', salt: encodeBase64url(payload.salt), text: payload.text });
  }
}
