import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { LogState, TopicState } from '../../protocol/api/log-state.ts';
import type { Removal } from '../log/removal.ts';

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

/** Read when metrics are scraped. */
interface LogMetricSources {
  readonly log: () => LogState;
  readonly topic: () => TopicState;
  /** Whether most members contradict this node's own tree. */
  readonly contradicted: () => boolean;
  /** Where this node stands, if it was removed. */
  readonly removal: () => Removal | null;
}

/** Gauges of the ledger's topic and of the federation's log. */
export function watchLog(registry: Registry, { log, topic, contradicted, removal }: LogMetricSources): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    const made: Gauge = new Gauge({ name, help, registers: [registry], collect: () => made.set(read()) });
  };
  const labelled = (
    name: string,
    help: string,
    label: string,
    read: () => Iterable<readonly [string, number]>,
  ): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [registry],
      collect() {
        made.reset();
        for (const [value, number] of read()) made.set({ [label]: value }, number);
      },
    });
  };
  gauge('meridian_log_decisions', "Decisions in the federation's log.", () => log().size);
  gauge('meridian_log_needs_roster', '1 while the log waits for the text of a roster.', () => {
    return log().needsRoster === null ? 0 : 1;
  });
  gauge('meridian_topic_processed_sequence', 'Last message of the topic that was processed.', () => topic().processed);
  gauge('meridian_topic_final_sequence', 'Last message of the topic that is final here.', () => topic().final.sequence);
  gauge('meridian_topic_agreed_sequence', 'Last message of the topic that two own sources agree on.', () => {
    return topic().agreed.sequence;
  });
  labelled('meridian_topic_mirror_sequence', 'How far each mirror was read.', 'mirror', () =>
    topic().mirrors.map(({ host, position }) => [host, position] as const),
  );
  labelled('meridian_topic_contradiction', 'Message at which a source contradicts the others.', 'source', () =>
    topic().contradictions.map(({ who, sequence }) => [who, sequence] as const),
  );
  labelled(
    'meridian_checkpoint_decisions',
    'Decisions that the newest checkpoint of each member covers.',
    'member',
    () => log().checkpoints.map(({ node, size }) => [node, size] as const),
  );
  gauge('meridian_closed_chains', 'Nodes whose chain cannot go on.', () => log().closed.length);
  gauge('meridian_contradicted', '1 while most members have another log than this node, which signs nothing.', () => {
    return contradicted() ? 1 : 0;
  });
  gauge(
    'meridian_removed',
    '1 while this node is removed and has still to be decided or vouched for, 2 once it may be stopped.',
    () => {
      const removed = removal();
      if (removed === null) return 0;
      return removed.isReleased ? 2 : 1;
    },
  );
  gauge('meridian_false_checkpoints', "Members whose checkpoint this node's own tree contradicts.", () => {
    return new Set(log().falseCheckpoints.map(({ node }) => node)).size;
  });
}
