import type { Logger } from 'pino';
import { type Bundle, type BundleAnchor, parseBundleText } from '../../protocol/bundle/bundle.ts';
import { decodeBase64url, decodeUtf8, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { type NodeId, nodeOfRecord, type RecordId } from '../../protocol/ids.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { SALT_BYTES } from '../../protocol/payload/commitment.ts';
import { openRecord } from '../../protocol/chain/record.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { OpenedPayload } from '../payload/payload-vault.ts';
import { completeBundle } from '../verification/bundles.ts';
import { bareBundle, type Evidence } from '../verification/evidence.ts';
import type { Chains } from './chains.ts';
import { openEnvelope } from './equivocations.ts';
import type { FederationKeys } from './federation-keys.ts';
import { payloadAnswer, recordRequest } from './page-forms.ts';
import type { Transport } from './transport/contract.ts';

/** Time that an origin has to answer a question about one record. In milliseconds. */
const ANSWER_MS = 3_000;

export interface RecordExchangeOptions {
  readonly self: NodeId;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly transport: Pick<Transport, 'request' | 'serve'>;
  /** Evidence of an own record. */
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  /** Salt and payload of an own record; `withheld` where the residency policy keeps payloads in the region. */
  readonly payload: (id: RecordId) => Promise<OpenedPayload | 'erased' | 'withheld' | 'unknown'>;
  /** Anchor of a batch by this node's own reading of the ledger. */
  readonly anchorOf: (node: NodeId, batch: number, envelope: Sha256Hash) => Promise<BundleAnchor | undefined>;
  readonly log: Logger;
}

/**
 * Questions about single records, put to the node that made them: the evidence of a record too young to have been sent
 * round, and a payload, which crosses the border in memory only, for one check. Answers that do not hold count as none.
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
    try {
      return await this.#openEvidence(id, parseBundleText(decodeUtf8(frame)));
    } catch (error) {
      this.#options.log.warn({ err: error, id }, 'a node answered with evidence that does not hold');
      return undefined;
    }
  }

  /** Salt and payload of another node's record, or why they cannot be had. */
  async askPayload(id: RecordId): Promise<OpenedPayload | 'erased' | 'withheld' | 'unreachable'> {
    const frame = await this.#ask(id, 'payload');
    if (frame === undefined) return 'unreachable';
    try {
      const answer = payloadAnswer.decode(frame);
      if (answer.state !== 'available') return answer.state === 'unknown' ? 'unreachable' : answer.state;
      const salt = decodeBase64url(answer.salt);
      if (salt.length !== SALT_BYTES) throw new RangeError('a salt of another length');
      return { salt, text: canonicalize(parseJson(answer.text)) };
    } catch (error) {
      this.#options.log.warn({ err: error, id }, 'a node answered with a payload that cannot be read');
      return 'unreachable';
    }
  }

  /**
   * What is left of an answer once nobody's word is in it: no anchor but the one that this node read on the ledger, and
   * no batch that the origin's own chain, as it is held here, has nothing of the record in.
   */
  async #openEvidence(id: RecordId, bundle: Bundle): Promise<Evidence | undefined> {
    const { keys, chains, anchorOf } = this.#options;
    const record = openRecord(nativeSuite, bundle.record);
    if (record.id !== id) throw new RangeError('evidence of another record');
    for (const certificate of bundle.keys) await keys.learnCertificate(certificate);
    const bare = bareBundle(bundle);
    if (bundle.batch === null) {
      return { record, batch: undefined, bundle: { ...bare, anchor: null, cosignatures: [] } };
    }
    const { envelope: statement, signature } = bundle.batch;
    const signed = { statement, signature };
    const envelope = openEnvelope(keys, signed);
    if (envelope.batch <= chains.head(record.node).batch) throw new RangeError('the batch is held, and without it');
    const anchor = await anchorOf(record.node, envelope.batch, hashText(nativeSuite, statement));
    return { record, batch: { envelope, signed }, bundle: { ...bare, anchor: anchor ?? null } };
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
    } catch {
      return undefined;
    }
  }

  async *#serveRecord(request: Uint8Array): AsyncGenerator<Uint8Array> {
    const { self, keys, evidence } = this.#options;
    const { id } = recordRequest.decode(request);
    const found = nodeOfRecord(id) === self ? await evidence(id) : undefined;
    yield found === undefined ? new Uint8Array(0) : utf8(JSON.stringify(completeBundle(found, keys)));
  }

  async *#servePayload(request: Uint8Array): AsyncGenerator<Uint8Array> {
    const { id } = recordRequest.decode(request);
    const payload = nodeOfRecord(id) === this.#options.self ? await this.#options.payload(id) : 'unknown';
    yield typeof payload === 'string'
      ? payloadAnswer.encode({ state: payload })
      : payloadAnswer.encode({ state: 'available', salt: encodeBase64url(payload.salt), text: payload.text });
  }
}
