import { setTimeout as sleep } from 'node:timers/promises';
import type { Faults } from '../../cluster/ledger/faults.ts';
import { mirrorUrl } from '../../cluster/supervisor/node-variables.ts';
import { FaultProxy } from '../../cluster/network-faults/fault-proxy.ts';
import { NetworkConditions } from '../../cluster/network-faults/network-conditions.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../protocol/json/value.ts';
import { attest, verify } from '../fixtures/load.ts';
import { ClusterProcesses } from '../fixtures/processes.ts';
import { LyingMirror } from './lying-mirror.ts';

export const NODES = ['us', 'eu', 'ca', 'sg', 'jp'] as const;
export type Place = (typeof NODES)[number];

/** From where peers think that a node listens to where it does. */
const BEHIND = 20;
/** Fifteen times the usual pace: batches are sealed and announced all the time. In seconds. */
const BATCH_INTERVAL = '1';
const WRITE_EVERY_MS = 150;
const POLL_MS = 50;
/** What a test waits for where a time is measured and judged by itself. */
const PATIENCE_MS = 90_000;
/**
 * And for anchors: what a node signed for the ledger while its clock was ahead is valid only once the ledger's time has
 * got there, and until then nothing else may be sent in its place.
 */
const ANCHOR_PATIENCE_MS = 240_000;
const ASK_TIMEOUT_MS = 5_000;

/**
 * Five node processes and the ledger, whose peers meet through the weather only. Every node is written to all the time.
 */
export class FaultFederation implements AsyncDisposable {
  readonly cluster: ClusterProcesses;
  readonly links: NetworkConditions;
  readonly mirror: LyingMirror;
  /** By node: what it acknowledged. */
  readonly acknowledged = new Map<Place, string[]>(NODES.map((node) => [node, []]));
  /** By node: records that were there before any was written, the statements of accounts. */
  readonly #before = new Map<Place, number>();
  readonly #running: AsyncDisposableStack;
  #writing: { readonly stop: AbortController; readonly done: Promise<unknown> } | undefined;

  private constructor(
    cluster: ClusterProcesses,
    links: NetworkConditions,
    mirror: LyingMirror,
    running: AsyncDisposableStack,
  ) {
    this.cluster = cluster;
    this.links = links;
    this.mirror = mirror;
    this.#running = running;
  }

  static async start(): Promise<FaultFederation> {
    await using starting = new AsyncDisposableStack();
    const cluster = starting.use(await ClusterProcesses.create());
    const mirror = starting.use(await LyingMirror.start(mirrorUrl(cluster.plan)));
    const links = new NetworkConditions();
    const gates = cluster.plan.nodes.map(({ id, peerAddress }) => {
      const port = Number(peerAddress.split('/').at(-1));
      return { place: id, port, behind: port + BEHIND };
    });
    const processes = () => new Map(NODES.flatMap((id) => (cluster.runs(id) ? [[id, cluster.pid(id)]] : [])));
    starting.use(await FaultProxy.start({ gates, links, processes, random: Math.random }));
    const federation = new FaultFederation(cluster, links, mirror, starting.move());
    await Promise.all(NODES.map((node) => federation.startNode(node)));
    await cluster.grantKeys(NODES);
    for (const node of NODES) {
      federation.#before.set(node, (await federation.view(node)).members.get(node)?.records ?? 0);
    }
    return federation;
  }

  async startNode(node: Place, variables: Readonly<Record<string, string>> = {}): Promise<void> {
    const { peerAddress } = this.cluster.node(node);
    await this.cluster.startNode(node, {
      PEER_LISTEN: peerAddress.replace(/\d+$/, (port) => String(Number(port) + BEHIND)),
      BATCH_INTERVAL,
      LEDGER_MIRRORS: `${this.mirror.url},${mirrorUrl(this.cluster.plan)}`,
      ...variables,
    });
  }

  /** Writes to every node, at a modest pace, until `stopWriting`. */
  startWriting(): void {
    const stop = new AbortController();
    this.#writing = { stop, done: Promise.all(NODES.map((node) => this.#write(node, stop.signal))) };
  }

  /** Throws where a node refused a record. */
  async stopWriting(): Promise<void> {
    this.#writing?.stop.abort();
    await this.#writing?.done;
    this.#writing = undefined;
  }

  async setLedger(faults: Partial<Faults>): Promise<void> {
    const response = await fetch(`${mirrorUrl(this.cluster.plan)}/local/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(faults),
    });
    if (!response.ok) throw new Error(`the ledger answered ${response.status}`);
  }

  signal(node: Place, signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.cluster.pid(node), signal);
  }

  /**
   * Waits until every node holds every chain as its origin does. Call when nobody writes. Returns the seconds.
   */
  async converge(): Promise<number> {
    const began = performance.now();
    for (;;) {
      const missing = await this.#missing();
      const passed = performance.now() - began;
      if (missing.length === 0) return passed / 1_000;
      if (passed > PATIENCE_MS) throw new Error(`not whole: ${missing.join(', ')}`);
      await sleep(POLL_MS);
    }
  }

  /** What is not as it must be once all is whole. */
  async damage(): Promise<Damage> {
    const found: string[] = [];
    let lost = 0;
    for (const node of NODES) {
      const view = await this.view(node);
      if (view.equivocations !== '[]') found.push(`${node} shows equivocations ${view.equivocations}`);
      for (const origin of NODES) {
        const [held, made] = [view.members.get(origin)?.records ?? 0, this.#madeAt(origin)];
        lost += Math.max(made - held, 0);
        if (held < made) found.push(`${node} lost ${made - held} records of ${origin}`);
        if (held > made) found.push(`${node} holds ${held - made} records of ${origin} that nobody was told of`);
      }
    }
    const ids = [...this.acknowledged.values()].flat();
    if (new Set(ids).size < ids.length) found.push('an id was given twice');
    return { lost, found };
  }

  /** Waits until the last record of every node is verified, anchor included, at every node. Returns the seconds. */
  async anchored(): Promise<number> {
    const began = performance.now();
    for (const ids of this.acknowledged.values()) {
      const id = ids.at(-1) ?? '';
      for (const node of NODES) {
        while ((await verify(this.cluster.node(node).baseUrl, id, this.cluster.demoKeys.bench))?.verified !== true) {
          if (performance.now() - began > ANCHOR_PATIENCE_MS) throw new Error(`${node} does not verify ${id}`);
          await sleep(POLL_MS);
        }
      }
    }
    return (performance.now() - began) / 1_000;
  }

  /** Members that a node is connected to, itself among them. */
  async connected(node: Place): Promise<readonly string[]> {
    const { members } = await this.view(node);
    return [...members].flatMap(([name, { isConnected }]) => (isConnected ? [name] : []));
  }

  async view(node: Place): Promise<View> {
    const response = await fetch(`${this.cluster.node(node).baseUrl}/v1/federation`, {
      headers: { 'x-api-key': this.cluster.demoKeys.bench },
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    });
    return viewOf(parseJson(await response.text(), { maxDepth: 16 }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#writing?.stop.abort();
    await this.#running.disposeAsync();
  }

  #madeAt(origin: Place): number {
    return (this.#before.get(origin) ?? 0) + (this.acknowledged.get(origin)?.length ?? 0);
  }

  async #missing(): Promise<string[]> {
    const views = new Map<Place, View>();
    for (const node of NODES) views.set(node, await this.view(node));
    const missing: string[] = [];
    for (const origin of NODES) {
      const own = views.get(origin)?.members.get(origin);
      const whole = own?.records === this.#madeAt(origin);
      if (own === undefined || !whole) missing.push(`${origin} has not sealed`);
      for (const [node, { members }] of views) {
        const seen = members.get(origin);
        if (seen?.envelope !== own?.envelope) missing.push(`${node} lacks ${origin}`);
      }
    }
    return missing;
  }

  async #write(node: Place, signal: AbortSignal): Promise<void> {
    const target = { nodeUrl: `${this.cluster.node(node).baseUrl}/verify`, apiKey: this.cluster.demoKeys.bench };
    for (let number = 0; !signal.aborted; number++) {
      const outcome = await attest(target, { sourceId: `${node}/loans`, data: { input: { number }, output: 'yes' } });
      const id = /"attestationId":"([^"]+)"/.exec(outcome?.text ?? '')?.[1];
      if (id === undefined) throw new Error(`${node} answered ${outcome?.status}: ${outcome?.text}`);
      this.acknowledged.get(node)?.push(id);
      await sleep(WRITE_EVERY_MS);
    }
  }
}

export interface Damage {
  /** Acknowledged records that a node lacks, over all nodes. */
  readonly lost: number;
  /** Records lost or doubled, two stories told: a line for each. */
  readonly found: readonly string[];
}

interface MemberView {
  readonly batch: number;
  readonly envelope: string;
  readonly records: number;
  readonly isConnected: boolean;
}

export interface View {
  readonly members: ReadonlyMap<string, MemberView>;
  readonly equivocations: string;
  /** `peer/fault` → how often. */
  readonly faults: ReadonlyMap<string, number>;
}

function viewOf(body: JsonValue): View {
  if (!isJsonObject(body)) throw new Error('no view of the federation');
  const members = listOf(body.members).map((member): [string, MemberView] => {
    const head = isJsonObject(member.head) ? member.head : {};
    return [
      String(member.node),
      {
        batch: Number(head.batch),
        envelope: String(head.envelope),
        records: Number(head.records),
        isConnected: member.connected === true,
      },
    ];
  });
  const faults = listOf(body.faults).map(({ peer, fault, count }): [string, number] => [
    `${String(peer)}/${String(fault)}`,
    Number(count),
  ]);
  return { members: new Map(members), equivocations: JSON.stringify(body.equivocations), faults: new Map(faults) };
}

function listOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
