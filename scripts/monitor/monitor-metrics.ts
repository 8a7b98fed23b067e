import { createServer, type Server } from 'node:http';
import { Gauge, Histogram, Registry } from 'prom-client';
import { startListening } from '../../node/http/accept-queues.ts';
import { CONDITIONS } from './alerts.ts';
import type { Monitor } from './monitor.ts';

/** Upper bounds of the buckets of the delay from sealing to the ledger, in seconds. */
const DELAY_BUCKETS = [1, 2.5, 5, 10, 20, 30, 60, 90, 180, 600, 3600];
const HOST = '127.0.0.1';

/** What a monitor shows at `/metrics`, for a Prometheus on the same machine. */
export class MonitorMetrics implements AsyncDisposable {
  readonly #registry = new Registry();
  readonly #server: Server;

  constructor(monitor: Monitor) {
    const registers = [this.#registry];
    const delay = new Histogram({
      name: 'meridian_monitor_anchor_delay_seconds',
      help: 'From sealing a batch to its consensus time.',
      buckets: DELAY_BUCKETS,
      registers,
    });
    monitor.onAnchored = (seconds) => delay.observe(Math.max(0, seconds));
    this.#gauge('topic_sequence', 'Last ledger message read.', () => monitor.topicSequence);
    this.#gauge('log_size', 'Decisions in the log that was built.', () => monitor.tree.size);
    this.#gauge('proofs', 'Proofs of misbehaviour (alert over 0).', () => monitor.proofs.length);
    this.#gauge('last_poll_timestamp_seconds', 'When all was last looked at.', () => monitor.lastPollAt / 1000);
    this.#gauge('alerts_dropped', 'Conditions over the bound of alerts.', () => monitor.alertsDropped);
    const alerts = gauge('alerts', 'Conditions that hold at present.', ['code'], registers, () => {
      for (const code of CONDITIONS) {
        alerts.set({ code }, monitor.alerts.filter((alert) => alert.code === code).length);
      }
    });
    const heads = gauge('chain_head_batch', 'Last decided batch of each member.', ['member'], registers, () => {
      for (const { node, batch } of monitor.heads) heads.set({ member: node }, batch);
    });
    const open = gauge(
      'open_batches',
      'Batches not decided, or without a quorum that vouches for them.',
      ['member'],
      registers,
      () => {
        for (const { node, open: waiting } of monitor.heads) open.set({ member: node }, waiting);
      },
    );
    const behind = gauge('checkpoint_behind', 'Decisions that a checkpoint lacks.', ['member'], registers, () => {
      behind.reset();
      for (const { node, decisions } of monitor.behind) behind.set({ member: node }, decisions);
    });
    this.#server = createServer((request, response) => {
      if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end();
      return void this.#registry.metrics().then((text) => {
        response.writeHead(200, { 'Content-Type': this.#registry.contentType }).end(text);
      });
    });
  }

  /** Listens on loopback alone; 0 takes a free port. Resolves with the port. */
  async listen(port: number): Promise<number> {
    await startListening(this.#server, { port, host: HOST });
    const address = this.#server.address();
    return address !== null && typeof address === 'object' ? address.port : port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #gauge(name: string, help: string, read: () => number): void {
    const made = gauge(name, help, [], [this.#registry], () => made.set(read()));
  }
}

function gauge<Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  registers: Registry[],
  collect: () => void,
): Gauge<Label> {
  return new Gauge({ name: `meridian_monitor_${name}`, help, labelNames: [...labelNames], registers, collect });
}
