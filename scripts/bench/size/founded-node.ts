import { join } from 'node:path';
import { readClusterEnvironment } from '../../../cluster/environment.ts';
import { Child } from '../../../cluster/supervisor/child.ts';
import { ensureLedgerAccounts } from '../../../cluster/supervisor/ledger-accounts.ts';
import { nodeVariables } from '../../../cluster/supervisor/node-variables.ts';
import { ALLOCATOR_VARIABLES, HEAP_FLAGS, ledgerPart } from '../../../cluster/supervisor/parts.ts';
import { Forked } from '../forked.ts';
import { LocalCluster } from '../local-cluster.ts';
import { type FillAnswer, type FillQuestion, parseFillAnswer } from './fill-forms.ts';

const MAIN = join(import.meta.dirname, '../../../node/main.ts');
const FILLING = join(import.meta.dirname, 'filling-process.ts');

/** The one member of a federation, in a home of its own, and the local ledger that decides its batches. */
export class FoundedNode implements AsyncDisposable {
  readonly baseUrl: string;
  /** Of an account without limits. */
  readonly apiKey: string;
  /** The node's folder. */
  readonly home: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #inherited: Readonly<Record<string, string>>;
  readonly #ledger: Child;

  private constructor(
    place: Pick<FoundedNode, 'baseUrl' | 'apiKey' | 'home'>,
    variables: Readonly<Record<string, string>>,
    inherited: Readonly<Record<string, string>>,
    ledger: Child,
  ) {
    this.baseUrl = place.baseUrl;
    this.apiKey = place.apiKey;
    this.home = place.home;
    this.#variables = variables;
    this.#inherited = inherited;
    this.#ledger = ledger;
  }

  /** Founds the federation in an empty folder and leaves its ledger running, the node not. */
  static async found(home: string): Promise<FoundedNode> {
    const { plan, apiKey, rosterFile } = await foundCluster(home);
    const [node] = plan.nodes;
    if (node === undefined) throw new RangeError('a federation has a member');
    const { inherited } = readClusterEnvironment();
    const { operators, accountsFile } = await ensureLedgerAccounts(home, [node.operatorId]);
    const ledger = new Child(ledgerPart({ home, plan, inherited }, accountsFile));
    await ledger.start();
    const nodeHome = join(home, node.id);
    const {
      MODEL_PATH: _,
      MODEL_LABEL: __,
      ...variables
    } = nodeVariables(node, plan, nodeHome, rosterFile, operators[node.operatorId] ?? '');
    return new FoundedNode({ baseUrl: node.baseUrl, apiKey, home: nodeHome }, variables, inherited, ledger);
  }

  /** The node as a process like any operator's; resolves once it accepts records. */
  async start(): Promise<Child> {
    const env = { ...this.#inherited, ...ALLOCATOR_VARIABLES, ...this.#variables };
    const child = new Child({
      name: 'node',
      flags: HEAP_FLAGS,
      script: MAIN,
      env,
      logFile: join(this.home, 'node.log'),
    });
    try {
      await child.start();
      return child;
    } catch (error) {
      await child[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The node as a process that fills its own store. */
  async startFilling(): Promise<FillingNode> {
    await using starting = new AsyncDisposableStack();
    const forked = starting.use(new Forked(FILLING));
    const filling = new FillingNode(forked);
    await filling.ask({ ask: 'start', variables: { ...this.#variables }, apiKey: this.apiKey });
    starting.move();
    return filling;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ledger[Symbol.asyncDispose]();
  }
}

/** A node process whose intake can be asked for records. It ends with the object. */
export class FillingNode implements AsyncDisposable {
  readonly #forked: Forked;

  constructor(forked: Forked) {
    this.#forked = forked;
  }

  get pid(): number | undefined {
    return this.#forked.pid;
  }

  async ask(question: FillQuestion): Promise<FillAnswer> {
    return parseFillAnswer(await this.#forked.ask(question));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#forked[Symbol.asyncDispose]();
  }
}

/** Keys, roster, ledger and accounts, by a first run of all of it. */
async function foundCluster(home: string): Promise<Pick<LocalCluster, 'plan' | 'apiKey' | 'rosterFile'>> {
  await using cluster = await LocalCluster.start(home, 1);
  const { plan, apiKey, rosterFile } = cluster;
  return { plan, apiKey, rosterFile };
}
