import type { Logger } from 'pino';
import { decodeBase64url, decodeUtf8, encodeBase64url, utf8 } from '../../protocol/bytes.ts';
import { type NodeId, nodeId, nodeOfRecord, type RecordId } from '../../protocol/ids.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { SALT_BYTES } from '../../protocol/payload/commitment.ts';
import { openRecord } from '../../protocol/chain/record.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import { parseBundleText } from '../../protocol/verdict/parse.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { OpenedPayload } from '../records/payload/payload-cipher.ts';
import { youngBundle } from './bundles.ts';
import { decisionNaming, type Evidence, type EvidenceSources } from './evidence.ts';
import type { Chains } from '../log/chains.ts';
import { openEnvelope } from '../federation/equivocations.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { payloadAnswer, recordRequest } from '../federation/page-forms.ts';
import type { Transport } from '../transport/contract.ts';

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
  /**
   * What a member may have of the payload of an `account` record, whatever the residency policy; `unnamed` where the
   * record does not name it. Undefined of any other record.
   */
  readonly statement: (
    id: RecordId,
    member: NodeId,
  ) => Promise<OpenedPayload | 'erased' | 'unknown' | 'unnamed' | undefined>;
  /** A member asked for the payload of an account's statement that does not name it. Must not throw. */
  readonly onUnnamed: (member: NodeId) => void;
  /** The decision of a batch in this node's own log. */
  readonly decisionOf: EvidenceSources['decisionOf'];
  readonly log: Logger;
}

/**
 * Questions about single records, put to the node that made them: the evidence of a record too young to have been sent
 * round, and a payload, which crosses the border in memory only, for one check. The statement of an account is given to
 * the members that it names, by each that has it. Answers that do not hold count as none; who is no member any more
 * gets none.
 */
export class RecordExchange {
  readonly #options: RecordExchangeOptions;

  constructor(options: RecordExchangeOptions) {
    this.#options = options;
    options.transport.serve('record', (request, from) => this.#serveRecord(request, nodeId(from)));
    options.transport.serve('payload', (request, from) => this.#servePayload(request, nodeId(from)));
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
    return this.#openPayload(id, await this.#ask(id, 'payload'));
  }

  /** The same of an account's statement, from any member that may hold it; undefined where it gives none. */
  async askStatement(id: RecordId, member: NodeId): Promise<OpenedPayload | undefined> {
    const answer = await this.#openPayload(id, await this.#askOf(member, id, 'payload'));
    return typeof answer === 'string' ? undefined : answer;
  }

  async #openPayload(
    id: RecordId,
    frame: Uint8Array | undefined,
  ): Promise<OpenedPayload | 'erased' | 'withheld' | 'unreachable'> {
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
   * What is left of an answer once nobody's word is in it: no decision but that of this node's own log, and no batch
   * that the origin's own chain, as it is held here, has nothing of the record in.
   */
  async #openEvidence(id: RecordId, bundle: Bundle): Promise<Evidence | undefined> {
    const { keys, chains, decisionOf } = this.#options;
    const { head, body } = bundle.record;
    if (body === null) throw new RangeError('evidence without the body of its record');
    const record = openRecord(nativeSuite, { head, body });
    if (record.id !== id) throw new RangeError('evidence of another record');
    for (const certificate of bundle.keys) await keys.learnCertificate(certificate);
    const { receipt, batch: sealed } = bundle;
    const proof = { record: { head, body }, receipt, batch: sealed };
    if (sealed === null) return { record, batch: undefined, proof, decision: null, isHeld: false };
    const signed = { statement: sealed.envelope, signature: sealed.signature };
    const envelope = openEnvelope(keys, signed);
    if (envelope.batch <= chains.head(record.node).batch) throw new RangeError('the batch is held, and without it');
    const batch = { envelope, signed };
    return { record, batch, proof, decision: await decisionNaming(decisionOf, batch), isHeld: false };
  }

  async #ask(id: RecordId, protocol: 'record' | 'payload'): Promise<Uint8Array | undefined> {
    const origin = nodeOfRecord(id);
    return origin === this.#options.self ? undefined : this.#askOf(origin, id, protocol);
  }

  async #askOf(member: NodeId, id: RecordId, protocol: 'record' | 'payload'): Promise<Uint8Array | undefined> {
    try {
      const options = { signal: AbortSignal.timeout(ANSWER_MS) };
      const request = this.#options.transport.request(member, protocol, recordRequest.encode({ id }), options);
      return (await Array.fromAsync(request))[0];
    } catch {
      return undefined;
    }
  }

  async *#serveRecord(request: Uint8Array, from: NodeId): AsyncGenerator<Uint8Array> {
    const { self, keys, evidence } = this.#options;
    const { id } = recordRequest.decode(request);
    const found = nodeOfRecord(id) === self && keys.isMember(from) ? await evidence(id) : undefined;
    yield found === undefined ? new Uint8Array(0) : utf8(JSON.stringify(youngBundle({ keys }, found)));
  }

  async *#servePayload(request: Uint8Array, from: NodeId): AsyncGenerator<Uint8Array> {
    const { id } = recordRequest.decode(request);
    const payload = this.#options.keys.isMember(from) ? await this.#payloadFor(id, from) : 'unknown';
    yield typeof payload === 'string'
      ? payloadAnswer.encode({ state: payload })
      : payloadAnswer.encode({ state: 'available', salt: encodeBase64url(payload.salt), text: payload.text });
  }

  async #payloadFor(id: RecordId, member: NodeId): Promise<OpenedPayload | 'erased' | 'withheld' | 'unknown'> {
    const { self, payload, statement, onUnnamed } = this.#options;
    const stated = await statement(id, member);
    if (stated === undefined) return nodeOfRecord(id) === self ? payload(id) : 'unknown';
    if (stated !== 'unnamed') return stated;
    onUnnamed(member);
    return 'withheld';
  }
}
