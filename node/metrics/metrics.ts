import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type LogMetricSources, watchLog } from './log-metrics.ts';

/** Upper bounds of the answer-time buckets, in seconds. */
const SECONDS_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Read when metrics are scraped. */
export interface MetricSources extends LogMetricSources {
  readonly records: () => number;
  readonly queueDepth: () => number;
  readonly unsealed: () => number;
  readonly peersConnected: () => number;
  readonly heads: () => Iterable<readonly [node: string, batch: number]>;
  readonly equivocations: () => number;
  readonly peerFaults: () => Iterable<{ readonly peer: string; readonly fault: string; readonly count: number }>;
  readonly storage: () => { readonly usedBytes: number; readonly freeBytes: number };
  /** Entries of the key-use log that are not on the disk yet. */
  readonly auditWaiting: () => number;
  /** Accounts whose statements are held back. */
  readonly statementsHeld: () => number;
  readonly anchoring: () => Promise<{
    readonly lagSeconds: number;
    readonly backlog: number;
  }>;
}

/** What a node shows at `/metrics`, in Prometheus base units. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #answers: Histogram<'method' | 'route' | 'status'>;
  readonly #groups: Counter;
  readonly #batches: Counter;
  readonly #refused: Counter<'class' | 'holder' | 'reason'>;

  constructor(node: string) {
    const registers = [this.#registry];
    this.#registry.setDefaultLabels({ node });
    collectDefaultMetrics({ register: this.#registry });
    this.#answers = new Histogram({
      name: 'meridian_http_answer_seconds',
      help: 'Time to answer HTTP requests.',
      labelNames: ['method', 'route', 'status'],
      buckets: SECONDS_BUCKETS,
      registers,
    });
    this.#groups = new Counter({ name: 'meridian_groups_total', help: 'Groups signed and stored.', registers });
    this.#batches = new Counter({ name: 'meridian_batches_sealed_total', help: 'Own batches sealed.', registers });
    this.#refused = new Counter({
      name: 'meridian_refused_total',
      help: 'Work that was refused, by its class, the kind of who asked, and why.',
      labelNames: ['class', 'holder', 'reason'],
      registers,
    });
  }

  /** Counts work that was refused. Each of the three has a few values; nobody is named. */
  countRefused(of: string, holder: string, reason: string): void {
    this.#refused.inc({ class: of, holder, reason });
  }

  observeAnswer(method: string, route: string, status: number, seconds: number): void {
    this.#answers.observe({ method, route, status }, seconds);
  }

  countGroup(): void {
    this.#groups.inc();
  }

  countBatch(): void {
    this.#batches.inc();
  }

  /** Connects the gauges that are read at each scrape. */
  watch(sources: MetricSources): void {
    this.#gauge('meridian_records', 'Records of this node.', sources.records);
    this.#gauge('meridian_intake_queue_records', 'Records waiting for their group.', sources.queueDepth);
    this.#gauge('meridian_unsealed_records', 'Records waiting for their batch.', sources.unsealed);
    this.#gauge('meridian_peers_connected', 'Members connected.', sources.peersConnected);
    this.#gauge('meridian_equivocations', 'Equivocations proven.', sources.equivocations);
    this.#gauge('meridian_store_bytes', 'Size of the store.', () => sources.storage().usedBytes);
    this.#gauge('meridian_disk_free_bytes', 'Room left on the disk.', () => sources.storage().freeBytes);
    this.#gauge('meridian_audit_log_waiting_entries', 'Key uses not yet written.', sources.auditWaiting);
    this.#gauge(
      'meridian_account_statements_held',
      'Accounts whose keys are those of an older copy, so that no statement of them is made.',
      sources.statementsHeld,
    );
    this.#gauge('meridian_anchor_lag_seconds', 'Age of the oldest unconfirmed batch.', async () => {
      return (await sources.anchoring()).lagSeconds;
    });
    this.#gauge('meridian_anchor_backlog_batches', 'Batches not yet confirmed.', async () => {
      return (await sources.anchoring()).backlog;
    });
    watchLog(this.#registry, sources);
    const faults = new Counter({
      name: 'meridian_peer_faults_total',
      help: 'Faults that peers were caught at.',
      labelNames: ['peer', 'fault'],
      registers: [this.#registry],
      collect() {
        faults.reset();
        for (const { peer, fault, count } of sources.peerFaults()) faults.inc({ peer, fault }, count);
      },
    });
    const heads = new Gauge({
      name: 'meridian_chain_head_batch',
      help: 'Last batch held of each member.',
      labelNames: ['member'],
      registers: [this.#registry],
      collect() {
        for (const [member, batch] of sources.heads()) heads.set({ member }, batch);
      },
    });
  }

  /** Prometheus text exposition format. */
  async expose(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #gauge(name: string, help: string, read: () => number | Promise<number>): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [this.#registry],
      async collect() {
        gauge.set(await read());
      },
    });
  }
}
