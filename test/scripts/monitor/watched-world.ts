import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeSigner } from '../../../node/keys/native-suite.ts';
import { Monitor } from '../../../scripts/monitor/monitor.ts';
import type { MonitorEvent, MonitorOptions } from '../../../scripts/monitor/monitor-options.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { hashBytes } from '../../../protocol/hash.ts';
import type { Checkpoint } from '../../../protocol/log/checkpoint.ts';
import type { LedgerMessage } from '../../../protocol/log/message.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameStatement, type NamedStatement } from '../../../protocol/log/naming.ts';
import { INITIAL_HEAD } from '../../../node/anchoring/topic/topic-links.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import type { PlacedMessage } from '../../fixtures/federation-topic.ts';
import { HonestLog } from './honest-log.ts';

export const NODES = ['eu', 'us', 'jp'];
const PAGE = 64;

/** What an honest node or mirror answers; a test may return something else, or answer by itself and return null. */
export type Change = (path: string, body: object | Uint8Array, response: ServerResponse) => object | string | null;
const HONEST: Change = (_path, body) => body;

/**
 * What is outside of a monitor: a federation whose signatures are real, the public endpoints of its nodes and two
 * mirrors of its topic, served on loopback. Its clock stands still but for what the federation does and the test adds.
 */
export class WatchedWorld implements AsyncDisposable {
  readonly federation: TestFederation;
  readonly directory: string;
  /** What the topic holds, in order; each mirror may hold less or other. */
  readonly messages: PlacedMessage[] = [];
  /** By node or mirror: what it answers instead. */
  readonly changes = new Map<string, Change>();
  /** By member: how its checkpoints differ from honest ones. They are signed as they are. */
  readonly lies = new Map<string, (checkpoint: Checkpoint) => Partial<Checkpoint>>();
  /** Members that sign no checkpoint any more, and the size of the log when they stopped. */
  readonly silent = new Map<string, number>();
  /** Requests so far, as `eu /v1/federation`. */
  readonly asked: string[] = [];
  readonly log: HonestLog;
  readonly #server: Server;
  readonly #url: string;
  /** Milliseconds that the monitor's clock is ahead of the federation's. */
  ahead = 0;

  private constructor(federation: TestFederation, directory: string, server: Server, url: string, log: HonestLog) {
    this.federation = federation;
    this.directory = directory;
    this.#server = server;
    this.#url = url;
    this.log = log;
  }

  static async create(nodes: readonly string[] = NODES): Promise<WatchedWorld> {
    const federation = await TestFederation.create({ nodes, quorum: 2, signerOf: nativeSigner });
    const directory = await mkdtemp(join(tmpdir(), 'meridian-watched-'));
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const url = `http://127.0.0.1:${address.port}`;
    const world = new WatchedWorld(federation, directory, server, url, await HonestLog.open(federation));
    server.on('request', (request, response) => void world.#answer(request.url ?? '', response));
    return world;
  }

  get now(): number {
    return this.federation.now + this.ahead;
  }

  url(name: string): string {
    return `${this.#url}/${name}`;
  }

  /** Seals a batch of one record, and names it on the ledger. */
  async seal(node: string, options: Parameters<TestFederation['sealBatch']>[2] = {}): Promise<TestBatch> {
    const batch = await this.federation.sealBatch(node, [{}], options);
    this.messages.push(batch.anchor);
    return batch;
  }

  /** Puts a message on the ledger, paid by a member or, without one, by a stranger. */
  submit(message: string, by?: string): void {
    this.federation.tick();
    const payer = by === undefined ? undefined : this.federation.member(by).member.accounts[0];
    this.messages.push(this.federation.topic.submit(message, this.federation.now, payer));
  }

  /** These members name a batch, roster or revocation. */
  name(named: LedgerMessage | NamedStatement, by: readonly string[]): void {
    const { genesis } = this.federation.chain;
    const message = 'text' in named ? nameStatement(nobleSuite, genesis, named) : named;
    for (const node of by) this.submit(writeLedgerMessage(message), node);
  }

  async watch(options: Partial<MonitorOptions> = {}): Promise<Watched> {
    const events: MonitorEvent[] = [];
    const monitor = await Monitor.open({
      rosters: { genesis: this.federation.genesis, later: [] },
      nodes: this.federation.members.map(({ node }) => this.url(node)),
      mirrors: [this.url('mirror-1'), this.url('mirror-2')],
      stateDirectory: null,
      proofDirectory: join(this.directory, 'proofs'),
      now: () => this.now,
      random: () => 0,
      failingPolls: 1,
      onEvent: (event) => void events.push(event),
      ...options,
    });
    return { monitor, events, [Symbol.asyncDispose]: () => monitor[Symbol.asyncDispose]() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    await rm(this.directory, { recursive: true, force: true });
  }

  async #answer(url: string, response: ServerResponse): Promise<void> {
    const [, name = '', path = ''] = /^\/([^/]+)(.*)$/.exec(url) ?? [];
    this.asked.push(`${name} ${path}`);
    const { pathname, searchParams } = new URL(path, 'http://any');
    const honest = name.startsWith('mirror')
      ? mirrorPage(this.messages, searchParams)
      : await this.#nodeAnswer(name, pathname, searchParams);
    const answer = (this.changes.get(name) ?? HONEST)(path, honest ?? {}, response);
    if (answer === null) return;
    if (honest === undefined) response.writeHead(404);
    else response.writeHead(200, { 'content-type': 'application/json' });
    if (typeof answer === 'string' || answer instanceof Uint8Array) response.end(answer);
    else response.end(JSON.stringify(answer));
  }

  async #nodeAnswer(node: string, path: string, query: URLSearchParams): Promise<object | Uint8Array | undefined> {
    const { federation, log } = this;
    await log.follow(this.messages);
    const from = Number(query.get('from') ?? '1');
    const [, chain] = /^\/v1\/chains\/(.*)$/.exec(path) ?? [];
    if (chain !== undefined) return this.#chain(chain, from);
    const [, tile] = /^\/v1\/log\/(tile\/.*)$/.exec(path) ?? [];
    if (tile !== undefined) return log.tile(tile);
    if (path === '/v1/federation') return this.#status(node);
    if (path === '/v1/log/checkpoints') return this.#checkpoints();
    if (path === '/v1/signing-keys') {
      const { certificates, revocations } = federation;
      return { success: true, certificates, revocations, nextCursor: null };
    }
    if (path === '/v1/rosters') {
      const { signatures } = federation.genesis;
      return { success: true, signatures, rosters: federation.rosters.slice(from - 1), named: [], nextFrom: null };
    }
    return { success: true, equivocations: [], falseCheckpoints: [], receiptsNotKept: [], nextCursor: null };
  }

  async #checkpoints(): Promise<object> {
    const { federation, log } = this;
    if (log.size === 0) return { success: true, checkpoints: [] };
    const checkpoints = await Promise.all(
      federation.members.map(({ node }) => {
        const size = Math.min(log.size, this.silent.get(node) ?? log.size);
        return size === 0 ? [] : [log.checkpoint(node, size, this.lies.get(node))];
      }),
    );
    return { success: true, checkpoints: await Promise.all(checkpoints.flat()) };
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
    const last = this.messages.at(-1);
    const [sequence, runningHash] =
      last === undefined ? [0, INITIAL_HEAD.runningHash] : [Number(last.sequence), last.runningHash];
    return {
      node,
      fingerprint: this.federation.chain.genesis,
      roster: { version: this.log.rosters.length, hash: this.log.rosters.at(-1) },
      topic: { agreed: { sequence, runningHash }, added: 'by a later release' },
      log: { underived: [], added: 'by a later release' },
      members: this.federation.members.map(({ node: id }) => {
        return { node: id, head: { batch: this.federation.batches(id).at(-1)?.envelope.batch ?? 0, envelope: null } };
      }),
      added: ['by a later release'],
    };
  }
}

export interface Watched extends AsyncDisposable {
  readonly monitor: Monitor;
  readonly events: MonitorEvent[];
}

/** Codes of what was told, each once, as `alert node-lies`. */
export function codes(events: readonly MonitorEvent[]): string[] {
  return [...new Set(events.map(({ kind, code }) => `${kind} ${code}`))];
}

/** The alerts that stand, as `quorum-missing us/1`. */
export function standing({ alerts }: Pick<Monitor, 'alerts'>): string[] {
  return alerts.map(({ code, subject }) => `${code} ${subject}`).toSorted();
}

/** Messages that were asked of mirrors, by the answers to these requests: sequence numbers after which was asked. */
export function askedAfter(asked: readonly string[]): number[] {
  return asked.flatMap((path) => {
    const [, after] = /^mirror.*sequencenumber=gt:(\d+)/.exec(path) ?? [];
    return after === undefined ? [] : [Number(after)];
  });
}

/** A page of a mirror, of the messages that it holds. */
export function mirrorPage(messages: readonly PlacedMessage[], query: URLSearchParams): { messages: object[] } {
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
