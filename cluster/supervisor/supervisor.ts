import { mkdir } from 'node:fs/promises';
import { compiledNode } from '../../node/compiled/compiled-node.ts';
import { PAYMENT_CHAIN_ID } from '../../node/payments/facilitator/chain-id.ts';
import { USDC } from '../../protocol/payments/usdc.ts';
import { anvilPath } from '../chain/anvil.ts';
import { type ChainWallets, addressOfKey, ensureChainWallets } from '../chain/chain-wallets.ts';
import { LEDGER_NAME } from '../ledger/network-name.ts';
import { Child, type ChildSpec } from './child.ts';
import { type ClusterFile, writeClusterFile } from './cluster-file.ts';
import { ensureDemoKeys, grantDemoKeys } from './demo-keys.ts';
import type { DemoKeys } from './demo-keys-shape.ts';
import { keepHome, openHome, requirePlanned } from './first-start.ts';
import { ensureKeys, ensureRoster, readRoster } from './genesis.ts';
import { type HomeLock, lockHome } from './home-lock.ts';
import { ensureLedgerAccounts, type Operators } from './ledger-accounts.ts';
import { createTopic } from './ledger-topic.ts';
import { chainUrl, ledgerNodes, mirrorUrl } from './node-variables.ts';
import { chainDirectory, chainPart, ledgerPart, mailDirectory, mailPart, nodePart, type PartSetting } from './parts.ts';
import { requireFree, wantedPorts } from './port-check.ts';
import { giveSampleItems } from './sample-items.ts';
import { SampleLists } from './sample-lists.ts';
import { StartError } from './start-error.ts';

export interface SupervisorOptions extends PartSetting {
  /** Forgets everything that an earlier run left. */
  readonly fresh: boolean;
  readonly say: (line: string) => void;
}

const NO_CHAIN =
  'no chain: npm has no anvil for this machine and none is on the PATH, so paid calls answer 503; ' +
  'https://getfoundry.sh installs one, and the next start takes it';

/**
 * Five nodes, a local ledger, a local chain and a mail sink as processes of one machine. What one run leaves, the next
 * resumes.
 */
export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  readonly #parts = new Map<string, Child>();
  #lock: HomeLock | undefined;
  #ended = false;
  #topicId = '';
  #wallets: ChainWallets | undefined;
  #demoKeys: DemoKeys | undefined;
  #samples: SampleLists | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /**
   * Resolves once every part is ready and `cluster.json` is written. Throws `StartError`; what runs by then ends when
   * this is disposed.
   */
  async start(): Promise<void> {
    const { home, plan, fresh, say } = this.#options;
    await makeHome(home);
    this.#lock = await lockHome(home, say);
    await requireFree(wantedPorts(plan));
    await openHome(home, plan, fresh);
    await ensureKeys(home, plan);
    const { operators, accountsFile } = await ensureLedgerAccounts(home, plan.ledgerAccounts);
    const wallets = await ensureChainWallets(
      chainDirectory(home),
      plan.nodes.map((node) => node.id),
    );
    this.#wallets = wallets;
    await mkdir(mailDirectory(home), { recursive: true, mode: 0o700 });
    const options = this.#options;
    const others = [mailPart(options), ledgerPart(options, accountsFile)];
    if (anvilPath() === null) say(NO_CHAIN);
    else others.push(chainPart(options));
    // Here once, and not by each node at its start.
    await Promise.all([...others.map((part) => this.#start(part)), compiledNode()]);
    const rosterFile = await ensureRoster(home, plan, () => this.#createTopic(operators));
    const roster = await readRoster(rosterFile);
    requirePlanned(home, plan, roster);
    await keepHome(home);
    this.#topicId = roster.ledger.topicId;
    const means = { rosterFile, operators, wallets };
    await Promise.all(plan.nodes.map((node) => this.#start(nodePart(options, node, means))));
    this.#demoKeys = await ensureDemoKeys(home);
    await grantDemoKeys(home, plan, this.#demoKeys);
    await giveSampleItems(home, plan);
    this.#samples = new SampleLists(options);
    await this.#samples.start();
    await this.#writeFile();
  }

  /** What runs where. */
  get file(): ClusterFile {
    const { home, plan } = this.#options;
    const wallets = this.#wallets;
    if (this.#demoKeys === undefined || wallets === undefined) throw new Error('the cluster is not ready');
    return {
      nodes: plan.nodes.map(({ id, region, baseUrl }) => ({
        id,
        region,
        baseUrl,
        nodeUrl: `${baseUrl}/verify`,
        pid: this.#pid(id),
      })),
      ledger: {
        network: LEDGER_NAME,
        topicId: this.#topicId,
        mirrorUrl: mirrorUrl(plan),
        pid: this.#pid('ledger'),
      },
      chain: this.#chain(wallets),
      mail: { smtpPort: plan.smtpPort, directory: mailDirectory(home), pid: this.#pid('mail') },
      demo: {
        apiKeys: this.#demoKeys,
        wallet: { address: addressOfKey(wallets.demo), privateKey: wallets.demo },
      },
    };
  }

  /** Nodes first, so that they can still reach the other parts while they end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true;
    await this.#samples?.[Symbol.asyncDispose]();
    const { nodes } = this.#options.plan;
    const parts = [...this.#parts.values()];
    const isNode = ({ name }: Child): boolean => nodes.some(({ id }) => id === name);
    await endAll(parts.filter(isNode));
    await endAll(parts.filter((part) => !isNode(part)));
    await this.#lock?.[Symbol.asyncDispose]();
  }

  async #start(part: ChildSpec): Promise<void> {
    const { name } = part;
    if (this.#ended) throw new StartError(`${name} is not started: the cluster was told to stop`);
    const child = new Child(part, {
      onProcess: (pid) => this.#lock?.note(pid),
      onRestart: (restarted) => void this.#onRestart(restarted),
    });
    this.#parts.set(name, child);
    try {
      await child.start();
    } catch (error) {
      if (!this.#ended) await requireFree(wantedPorts(this.#options.plan).filter(({ part: wants }) => wants === name));
      throw error;
    }
  }

  #chain({ payTo }: ChainWallets): ClusterFile['chain'] {
    if (!this.#parts.has('chain')) return null;
    return {
      rpcUrl: chainUrl(this.#options.plan),
      chainId: PAYMENT_CHAIN_ID,
      usdc: USDC.asset,
      payTo: addressOfKey(payTo),
      pid: this.#pid('chain'),
    };
  }

  async #createTopic(operators: Operators): Promise<string> {
    const [operator] = Object.entries(operators);
    if (operator === undefined) throw new Error('no ledger operator');
    return createTopic({ nodes: ledgerNodes(this.#options.plan), operatorId: operator[0], operatorKey: operator[1] });
  }

  #pid(part: string): number | null {
    return this.#parts.get(part)?.pid ?? null;
  }

  async #onRestart(child: Child): Promise<void> {
    this.#options.say(`${child.name} is back as process ${child.pid}`);
    if (this.#demoKeys !== undefined) await this.#writeFile();
  }

  #writeFile(): Promise<void> {
    return writeClusterFile(this.#options.home, this.file);
  }
}

/** Throws `StartError` where the home can be no folder. */
async function makeHome(home: string): Promise<void> {
  try {
    await mkdir(home, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new StartError(`MERIDIAN_HOME: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function endAll(parts: readonly Child[]): Promise<void> {
  await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()));
}
