import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Hbar, PrivateKey, TopicCreateTransaction } from '@hashgraph/sdk';
import type { AnchoringConfig } from '../../../../node/anchoring/ledger/config.ts';
import { type EntityId, isEntityId } from '../../../../protocol/ids.ts';

const MAIN = join(import.meta.dirname, '../../../../cluster/ledger/main.ts');
const OPERATOR = entity('0.0.1001');
/** A funded account with another key: whoever else may write to an open topic. */
const STRANGER = entity('0.0.1002');
const POOR = entity('0.0.1003');

interface Ready {
  readonly nodes: readonly { readonly account: string; readonly address: string }[];
  readonly mirrorGrpc: string;
  readonly mirrorUrl: string;
}

/**
 * The local ledger as a process of its own, which can be killed and comes back on the same ports with the same store.
 */
export class LedgerProcess implements AsyncDisposable {
  readonly #home: string;
  readonly #keys: { readonly operator: PrivateKey; readonly stranger: PrivateKey };
  #child: ChildProcess | undefined;
  #ready: Ready | undefined;

  private constructor(home: string) {
    this.#home = home;
    this.#keys = { operator: PrivateKey.generateED25519(), stranger: PrivateKey.generateED25519() };
  }

  static async start(): Promise<LedgerProcess> {
    const ledger = new LedgerProcess(await mkdtemp(join(tmpdir(), 'anchoring-ledger-')));
    const { operator, stranger } = ledger.#keys;
    const accounts = [
      { account: OPERATOR, ed25519: operator.publicKey.toStringRaw(), tinybars: '100000000000000' },
      { account: STRANGER, ed25519: stranger.publicKey.toStringRaw(), tinybars: '100000000000000' },
      { account: POOR, ed25519: operator.publicKey.toStringRaw(), tinybars: '1' },
    ];
    await writeFile(join(ledger.#home, 'accounts.json'), JSON.stringify(accounts));
    await ledger.resume();
    return ledger;
  }

  /** Starts the process, on the ports that it had before. */
  async resume(): Promise<void> {
    const before = this.#ready;
    const args = ['--home', this.#home, '--accounts', join(this.#home, 'accounts.json')];
    args.push('--nodes', before === undefined ? '0,0,0' : before.nodes.map(({ address }) => portOf(address)).join(','));
    args.push('--mirror', before === undefined ? '0' : portOf(before.mirrorUrl));
    args.push('--mirror-grpc', before === undefined ? '0' : portOf(before.mirrorGrpc));
    const child = fork(MAIN, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child = child;
    const [ready]: unknown[] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('the ledger did not start'))),
    ]);
    if (!isReady(ready)) throw new Error('the ledger did not say where it is');
    this.#ready = ready;
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  get mirrorUrl(): string {
    return this.#at().mirrorUrl;
  }

  /** Anchoring on a topic of this ledger, paid by the operator. */
  config(topicId: EntityId, changes: Partial<AnchoringConfig> = {}): AnchoringConfig {
    return {
      network: 'meridian-local',
      nodes: Object.fromEntries(this.#at().nodes.map(({ account, address }) => [address, entity(account)])),
      mirrors: [this.mirrorUrl],
      topicId,
      operatorId: OPERATOR,
      operatorKey: this.#keys.operator.toStringRaw(),
      readIntervalMs: 500,
      ...changes,
    };
  }

  /** The same topic, written to by another account. */
  strangerConfig(topicId: EntityId): AnchoringConfig {
    return this.config(topicId, { operatorId: STRANGER, operatorKey: this.#keys.stranger.toStringRaw() });
  }

  poorConfig(topicId: EntityId): AnchoringConfig {
    return this.config(topicId, { operatorId: POOR });
  }

  /** An open topic, or one that asks for a key. */
  async createTopic(submitKey?: PrivateKey): Promise<EntityId> {
    const nodes = Object.fromEntries(this.#at().nodes.map(({ account, address }) => [address, account]));
    const client = Client.forNetwork(nodes, { scheduleNetworkUpdate: false, grpcDeadline: 2_000 });
    client.setOperator(OPERATOR, this.#keys.operator).setDefaultMaxTransactionFee(new Hbar(50));
    try {
      const creation = new TopicCreateTransaction({ topicMemo: 'anchors' });
      if (submitKey !== undefined) creation.setSubmitKey(submitKey.publicKey);
      const { topicId } = await (await creation.execute(client)).getReceipt(client);
      return entity(String(topicId));
    } finally {
      client.close();
    }
  }

  async setFaults(faults: object): Promise<void> {
    const response = await fetch(`${this.mirrorUrl}/local/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(faults),
    });
    if (!response.ok) throw new Error(`faults refused: ${response.status}`);
  }

  /** How often each message stands on the topic, by the ledger's own mirror. */
  async messageCounts(topicId: EntityId): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (let after = 0, full = true; full; after += 100) {
      const response = await fetch(
        `${this.mirrorUrl}/api/v1/topics/${topicId}/messages?limit=100&sequencenumber=gt:${after}`,
      );
      const page: unknown = await response.json();
      const messages = isPage(page) ? page.messages : [];
      for (const { message } of messages) {
        const text = Buffer.from(message, 'base64').toString('utf8');
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
      full = messages.length === 100;
    }
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await rm(this.#home, { recursive: true, force: true });
  }

  #at(): Ready {
    if (this.#ready === undefined) throw new Error('the ledger was never started');
    return this.#ready;
  }
}

export function entity(text: string): EntityId {
  if (!isEntityId(text)) throw new TypeError(`not an entity: ${text}`);
  return text;
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1);
}

function isReady(value: unknown): value is Ready {
  return typeof value === 'object' && value !== null && 'nodes' in value && 'mirrorUrl' in value;
}

function isPage(value: unknown): value is { readonly messages: readonly { readonly message: string }[] } {
  return typeof value === 'object' && value !== null && 'messages' in value && Array.isArray(value.messages);
}
