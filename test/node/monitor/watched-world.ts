import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MirrorClient } from '../../../node/anchoring/mirror-client.ts';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { Monitor } from '../../../node/monitor/monitor.ts';
import type { MonitorEvent, MonitorOptions } from '../../../node/monitor/monitor-options.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import type { Anchor } from '../../../node/anchoring/anchors.ts';
import { hashBytes } from '../../../protocol/hash.ts';
import { LOG_STATE_EXAMPLE, TOPIC_STATE_EXAMPLE } from '../../../protocol/api/log-state.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { TestFederation } from '../../fixtures/federation.ts';

export const NODES = ['eu', 'us', 'jp'];
const PAGE = 64;

/** What an honest node or mirror answers; a test may return something else, or answer by itself and return null. */
export type Change = (path: string, body: object, response: ServerResponse) => object | string | null;
const HONEST: Change = (_path, body) => body;

/**
 * What is outside of a monitor: a federation whose signatures are real, the public endpoints of its nodes and two mirrors
 * of its topic, served on loopback. Its clock stands still but for what the federation does and the test adds.
 */
export class WatchedWorld implements AsyncDisposable {
  readonly federation: TestFederation;
  readonly directory: string;
  /** What the topic holds, in order; each mirror may hold less or other. */
  readonly messages: Anchor[] = [];
  /** Rosters that nodes show beside those in force. */
  /** By node or mirror: what it answers instead. */
  readonly changes = new Map<string, Change>();
  /** Requests so far, as `eu /v1/federation`. */
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #url: string;
  /** Milliseconds that the monitor's clock is ahead of the federation's. */
  ahead = 0;

  private constructor(federation: TestFederation, directory: string, server: Server, url: string) {
    this.federation = federation;
    this.directory = directory;
    this.#server = server;
    this.#url = url;
  }

  static async create(): Promise<WatchedWorld> {
    const federation = await TestFederation.create({ nodes: NODES, quorum: 2, signerOf: nativeSigner });
    const directory = await mkdtemp(join(tmpdir(), 'meridian-watched-'));
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const world = new WatchedWorld(federation, directory, server, `http://127.0.0.1:${address.port}`);
    server.on('request', (request, response) => world.#answer(request.url ?? '', response));
    return world;
  }

  get now(): number {
    return this.federation.now + this.ahead;
  }

  url(name: string): string {
    return `${this.#url}/${name}`;
  }

  /** Seals a batch of one record, and anchors it. */
  async seal(node: string, options: Parameters<TestFederation['sealBatch']>[2] = {}): Promise<TestBatch> {
    const batch = await this.federation.sealBatch(node, [{}], options);
    this.messages.push(batch.anchor);
    return batch;
  }

  /** Puts a message on the ledger. */
  submit(message: string): void {
    this.federation.tick();
    this.messages.push(this.federation.topic.submit(message, this.federation.now));
  }

  async watch(options: Partial<MonitorOptions> = {}): Promise<{ monitor: Monitor; events: MonitorEvent[] }> {
    const events: MonitorEvent[] = [];
    const monitor = await Monitor.open({
      rosters: [this.federation.genesis],
      nodes: NODES.map((node) => this.url(node)),
      mirror: new MirrorClient([this.url('mirror-1'), this.url('mirror-2')]),
      stateFile: null,
      proofDirectory: join(this.directory, 'proofs'),
      now: () => this.now,
      failingRounds: 1,
      onEvent: (event) => void events.push(event),
      ...options,
    });
    return { monitor, events };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    await rm(this.directory, { recursive: true, force: true });
  }

  #answer(url: string, response: ServerResponse): void {
    const [, name = '', path = ''] = /^\/([^/]+)(.*)$/.exec(url) ?? [];
    this.asked.push(`${name} ${path}`);
    const { pathname, searchParams } = new URL(path, 'http://any');
    const honest = name.startsWith('mirror')
      ? mirrorPage(this.messages, searchParams)
      : this.#nodeAnswer(name, pathname, searchParams);
    const answer = (this.changes.get(name) ?? HONEST)(path, honest, response);
    if (answer === null) return;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }

  #nodeAnswer(node: string, path: string, query: URLSearchParams): object {
    const { federation } = this;
    const from = Number(query.get('from') ?? '1');
    const [, chain] = /^\/v1\/chains\/(.*)$/.exec(path) ?? [];
    if (chain !== undefined) return this.#chain(chain, from);
    if (path === '/v1/federation') return this.#status(node);
    if (path === '/v1/signing-keys') {
      const { certificates, revocations } = federation;
      return { success: true, certificates, revocations, nextCursor: null };
    }
    if (path === '/v1/rosters') {
      const { signatures } = federation.genesis;
      return { success: true, signatures, rosters: federation.rosters.slice(from - 1), named: [], nextFrom: null };
    }
    return { success: true, equivocations: [], falseCheckpoints: [], nextCursor: null };
  }

  #chain(node: string, from: number): object {
    const batches = this.federation.batches(node);
    const served = batches.slice(from - 1, from - 1 + PAGE).map(({ envelope, signed }) => ({
      batch: envelope.batch,
      envelope: signed,
    }));
    const nextFrom = from + served.length <= batches.length ? from + served.length : null;
    return { success: true, node, head: batches.length, batches: served, nextFrom };
  }

  #status(node: string): object {
    const { chain, members } = this.federation;
    return {
      node,
      federation: chain.digest,
      fingerprint: chain.genesis,
      name: 'test',
      roster: { version: chain.current.version, hash: chain.hash, quorum: chain.current.quorum },
      rosterContradiction: null,
      ledger: chain.current.ledger,
      members: members.map(({ node: id, member }) => {
        const last = this.federation.batches(id).at(-1);
        return {
          node: id,
          region: member.region,
          baseUrl: member.baseUrl,
          connected: true,
          since: null,
          rttMilliseconds: null,
          head: { batch: last?.envelope.batch ?? 0, envelope: last?.hash ?? null, records: 0 },
          trusted: true,
        };
      }),
      catchingUp: [],
      equivocations: [],
      faults: [],
      topic: TOPIC_STATE_EXAMPLE,
      log: LOG_STATE_EXAMPLE,
    };
  }
}

/** Codes of what was told, each once, as `alert node-lies`. */
export function codes(events: readonly MonitorEvent[]): string[] {
  return [...new Set(events.map(({ kind, code }) => `${kind} ${code}`))];
}

/** A page of a mirror, of the messages that it holds. */
export function mirrorPage(messages: readonly Anchor[], query: URLSearchParams): { messages: object[] } {
  const bounds = query.getAll('sequencenumber').map((bound) => bound.split(':'));
  const holds = (sequence: number) =>
    bounds.every(([relation, bound]) => {
      const number = Number(bound);
      if (relation === 'gt') return sequence > number;
      return relation === 'gte' ? sequence >= number : sequence <= number;
    });
  const rows = messages
    .filter(({ sequence }) => holds(Number(sequence)))
    .slice(0, Number(query.get('limit')))
    .map((anchor) => ({
      chunk_info: null,
      consensus_timestamp: anchor.consensusTimestamp,
      message: Buffer.from(utf8(anchor.message)).toString('base64'),
      payer_account_id: anchor.payer,
      running_hash: Buffer.from(hashBytes(anchor.runningHash)).toString('base64'),
      running_hash_version: 3,
      sequence_number: Number(anchor.sequence),
      topic_id: anchor.topicId,
    }));
  return { messages: rows };
}
