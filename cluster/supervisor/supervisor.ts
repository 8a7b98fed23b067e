import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LEDGER_NAME } from '../ledger/network-name.ts';
import type { Plan, PlannedNode } from '../plan.ts';
import { Child } from './child.ts';
import { CLUSTER_FILE, type ClusterFile, writeClusterFile } from './cluster-file.ts';
import { ensureDemoKeys, grantDemoKeys } from './demo-keys.ts';
import type { DemoKeys } from './demo-keys-shape.ts';
import { ensureKeys, ensureRoster, rosterTopic } from './genesis.ts';
import { lockHome } from './home-lock.ts';
import { ensureLedgerAccounts, type Operators } from './ledger-accounts.ts';
import { createTopic } from './ledger-topic.ts';
import { ledgerNodes, mirrorUrl, nodeVariables } from './node-variables.ts';

export interface SupervisorOptions {
  readonly home: string;
  readonly plan: Plan;
  /** Forgets everything that an earlier run left. */
  readonly fresh: boolean;
  /** Variables for every child. */
  readonly inherited: Readonly<Record<string, string>>;
  readonly say: (line: string) => void;
}

const NODE_SCRIPT = join(import.meta.dirname, '../../node/main.ts');
const LEDGER_SCRIPT = join(import.meta.dirname, '../ledger/main.ts');
const MAIL_SCRIPT = join(import.meta.dirname, '../mail/main.ts');
/** Everything of the cluster in its home; nothing else there is ever touched. */
const OWN_FILES = ['ledger', 'mail', 'roster.json', 'demo-keys.json', CLUSTER_FILE];

/** Five nodes, a local ledger and a mail sink as processes of one machine. What one run leaves, the next resumes. */
export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  readonly #nodes = new Map<string, Child>();
  #ledger: Child | undefined;
  #mail: Child | undefined;
  #lock: AsyncDisposable | undefined;
  #topicId = '';
  #demoKeys: DemoKeys | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Resolves once every part is ready and `cluster.json` is written. */
  async start(): Promise<void> {
    const { home, plan, fresh } = this.#options;
    await mkdir(home, { recursive: true, mode: 0o700 });
    this.#lock = await lockHome(home);
    if (fresh) await this.#forget();
    await ensureKeys(home, plan);
    const { operators, accountsFile } = await ensureLedgerAccounts(home, plan);
    await this.#startMail();
    await this.#startLedger(accountsFile);
    const rosterFile = await ensureRoster(home, plan, () => this.#createTopic(operators));
    this.#topicId = await rosterTopic(rosterFile);
    await Promise.all(plan.nodes.map((node) => this.#startNode(node, rosterFile, operators)));
    this.#demoKeys = await ensureDemoKeys(home);
    await grantDemoKeys(home, plan, this.#demoKeys);
    await this.#writeFile();
  }

  /** What runs where. */
  get file(): ClusterFile {
    const { plan } = this.#options;
    if (this.#demoKeys === undefined) throw new Error('the cluster is not ready');
    return {
      nodes: plan.nodes.map(({ id, region, baseUrl }) => ({
        id,
        region,
        baseUrl,
        nodeUrl: `${baseUrl}/verify`,
        pid: this.#nodes.get(id)?.pid ?? null,
      })),
      ledger: {
        network: LEDGER_NAME,
        topicId: this.#topicId,
        mirrorUrl: mirrorUrl(plan),
        pid: this.#ledger?.pid ?? null,
      },
      mail: { smtpPort: plan.smtpPort, directory: this.#mailDirectory, pid: this.#mail?.pid ?? null },
      demo: { apiKeys: this.#demoKeys },
    };
  }

  /** Nodes first, so that they can still reach the other parts while they end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#nodes.values()].map((child) => child[Symbol.asyncDispose]()));
    await Promise.all([this.#ledger?.[Symbol.asyncDispose](), this.#mail?.[Symbol.asyncDispose]()]);
    await this.#lock?.[Symbol.asyncDispose]();
  }

  async #forget(): Promise<void> {
    const { home, plan } = this.#options;
    for (const name of [...OWN_FILES, ...plan.nodes.map((node) => node.id)]) {
      await rm(join(home, name), { recursive: true, force: true });
    }
  }

  async #startLedger(accountsFile: string): Promise<void> {
    const { home, plan, inherited } = this.#options;
    const directory = join(home, 'ledger');
    this.#ledger = new Child(
      {
        name: 'ledger',
        script: LEDGER_SCRIPT,
        args: [
          '--home',
          directory,
          '--accounts',
          accountsFile,
          '--nodes',
          plan.ledgerPorts.join(','),
          '--mirror-grpc',
          String(plan.mirrorGrpcPort),
          '--mirror',
          String(plan.mirrorPort),
        ],
        env: inherited,
        logFile: join(directory, 'ledger.log'),
      },
      (child) => void this.#onRestart(child),
    );
    await this.#ledger.start();
  }

  async #startMail(): Promise<void> {
    const { plan, inherited } = this.#options;
    const directory = this.#mailDirectory;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    this.#mail = new Child(
      {
        name: 'mail',
        script: MAIL_SCRIPT,
        args: ['--directory', directory, '--port', String(plan.smtpPort)],
        env: inherited,
        logFile: join(directory, 'mail.log'),
      },
      (child) => void this.#onRestart(child),
    );
    await this.#mail.start();
  }

  async #startNode(node: PlannedNode, rosterFile: string, operators: Operators): Promise<void> {
    const { home, plan, inherited } = this.#options;
    const nodeHome = join(home, node.id);
    const child = new Child(
      {
        name: node.id,
        script: NODE_SCRIPT,
        env: { ...inherited, ...nodeVariables(node, plan, nodeHome, rosterFile, operators[node.operatorId] ?? '') },
        logFile: join(nodeHome, 'node.log'),
      },
      (restarted) => void this.#onRestart(restarted),
    );
    this.#nodes.set(node.id, child);
    await child.start();
  }

  async #createTopic(operators: Operators): Promise<string> {
    const [operator] = Object.entries(operators);
    if (operator === undefined) throw new Error('no ledger operator');
    return createTopic({ nodes: ledgerNodes(this.#options.plan), operatorId: operator[0], operatorKey: operator[1] });
  }

  get #mailDirectory(): string {
    return join(this.#options.home, 'mail');
  }

  async #onRestart(child: Child): Promise<void> {
    this.#options.say(`${child.name} is back as process ${child.pid}`);
    if (this.#demoKeys !== undefined) await this.#writeFile();
  }

  #writeFile(): Promise<void> {
    return writeClusterFile(this.#options.home, this.file);
  }
}
