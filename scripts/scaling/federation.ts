import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureKeys, ensureRoster } from '../../cluster/supervisor/genesis.ts';
import { ensureLedgerAccounts } from '../../cluster/supervisor/ledger-accounts.ts';
import { createTopic } from '../../cluster/supervisor/ledger-topic.ts';
import { ledgerNodes, nodeVariables } from '../../cluster/supervisor/node-variables.ts';
import type { Plan } from '../../cluster/plan.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { Forked } from '../bench/forked.ts';
import { freePlan } from '../bench/free-plan.ts';
import { parseState, parseTables, type Question, type State, type Tables } from './questions.ts';

const LEDGER = join(import.meta.dirname, '../../cluster/ledger/main.ts');
const MEMBERS = join(import.meta.dirname, 'members-process.ts');
/** Members of one process: they share its event loop, as these processes share the machine. */
const MEMBERS_A_PROCESS = 5;
/** Batches are sealed when they are asked for. In seconds. */
const NEVER = '3600';
/** As in production, so that an idle member costs what it costs there. In seconds. */
const LEDGER_READ_SECONDS = '5';
/** How long a machine of two cores may take for anything that is waited for. In milliseconds. */
const PATIENCE_MS = 300_000;
/**
 * Between two looks: each costs every member a count of what it holds, which is not to be measured. In milliseconds.
 */
const LOOK_MS = 100;

/** Whole members in several processes, and a local ledger in one of its own. */
export class ScalingFederation implements AsyncDisposable {
  readonly members: readonly NodeId[];
  readonly #processes: ReadonlyMap<NodeId, Forked>;
  readonly #signal: AbortSignal;
  readonly #running: AsyncDisposableStack;
  #sealed = 0;

  private constructor(
    members: readonly NodeId[],
    processes: ReadonlyMap<NodeId, Forked>,
    signal: AbortSignal,
    running: AsyncDisposableStack,
  ) {
    this.members = members;
    this.#processes = processes;
    this.#signal = signal;
    this.#running = running;
  }

  /** Resolves once every member is connected with every other. */
  static async start(home: string, size: number, signal: AbortSignal): Promise<ScalingFederation> {
    await using starting = new AsyncDisposableStack();
    const plan = await freePlan(size);
    const variables = await found(home, plan, starting);
    const processes = new Map<NodeId, Forked>();
    const peerPorts = plan.nodes.map(({ peerAddress }) => Number(peerAddress.split('/').at(-1)));
    const begun: Promise<unknown>[] = [];
    for (let first = 0; first < size; first += MEMBERS_A_PROCESS) {
      const forked = starting.use(new Forked(MEMBERS));
      const here = plan.nodes.slice(first, first + MEMBERS_A_PROCESS);
      for (const { id } of here) processes.set(id, forked);
      const members = variables.slice(first, first + MEMBERS_A_PROCESS);
      begun.push(forked.ask({ ask: 'start', members, peerPorts } satisfies Question));
    }
    await Promise.all(begun);
    const members = plan.nodes.map(({ id }) => id);
    const federation = new ScalingFederation(members, processes, signal, starting.move());
    await federation.#until('every member is connected', ({ connections }) => connections === size * (size - 1));
    return federation;
  }

  /** One member seals a batch; resolves once all hold it, vouch for it, and its own has confirmed it. */
  async seal(node: NodeId, records: number): Promise<void> {
    await this.#ask(node, { ask: 'seal', node, records });
    this.#sealed++;
    await this.settle();
  }

  /** Resolves once every member holds every batch and vouches for it. */
  async settle(): Promise<void> {
    const size = this.members.length;
    const batches = this.#sealed * size;
    await this.#until('every member holds everything', (state) => {
      return state.batches === batches && state.vouched === batches && state.unconfirmed === 0;
    });
  }

  /** Sums over all members. */
  async state(): Promise<State> {
    const states = await Promise.all([...new Set(this.#processes.values())].map(askState));
    return states.reduce((a, b) => ({
      connections: a.connections + b.connections,
      batches: a.batches + b.batches,
      vouched: a.vouched + b.vouched,
      unconfirmed: a.unconfirmed + b.unconfirmed,
      received: a.received + b.received,
      sent: a.sent + b.sent,
      cpu: a.cpu + b.cpu,
      memory: a.memory + b.memory,
    }));
  }

  async tables(node: NodeId): Promise<Tables> {
    return parseTables(await this.#ask(node, { ask: 'tables', node }));
  }

  /** A member loses its store and starts again; resolves once it has everything back. */
  async empty(node: NodeId): Promise<void> {
    await this.#ask(node, { ask: 'empty', node });
    await this.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.disposeAsync();
  }

  async #until(what: string, holds: (state: State) => boolean): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!holds(await this.state())) {
      if (performance.now() > deadline) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
      await sleep(LOOK_MS, undefined, { signal: this.#signal });
    }
  }

  #ask(node: NodeId, question: Question): Promise<unknown> {
    const forked = this.#processes.get(node);
    if (forked === undefined) throw new RangeError(`${node} is not a member`);
    return forked.ask(question);
  }
}

async function askState(forked: Forked): Promise<State> {
  return parseState(await forked.ask({ ask: 'state' } satisfies Question));
}

/** Keys, roster and ledger of a new federation; the variables of its members. */
async function found(home: string, plan: Plan, running: AsyncDisposableStack): Promise<Record<string, string>[]> {
  await ensureKeys(home, plan);
  const { operators, accountsFile } = await ensureLedgerAccounts(
    home,
    plan.nodes.map(({ operatorId }) => operatorId),
  );
  const ledger = running.use(new Forked(LEDGER, ledgerArguments(home, plan, accountsFile)));
  await ledger.ask();
  const keyOf = (operatorId: string) => operators[operatorId] ?? '';
  const operatorId = plan.nodes[0]?.operatorId ?? '';
  const topic = () => createTopic({ nodes: ledgerNodes(plan), operatorId, operatorKey: keyOf(operatorId) });
  const roster = await ensureRoster(home, plan, topic);
  return plan.nodes.map((node) => {
    const {
      MODEL_PATH: _,
      MODEL_LABEL: __,
      ...variables
    } = nodeVariables(node, plan, join(home, node.id), roster, keyOf(node.operatorId));
    return { ...variables, BATCH_INTERVAL: NEVER, LEDGER_READ_INTERVAL: LEDGER_READ_SECONDS, LOG_LEVEL: 'silent' };
  });
}

function ledgerArguments(home: string, plan: Plan, accountsFile: string): string[] {
  const options = {
    home: join(home, 'ledger'),
    accounts: accountsFile,
    nodes: plan.ledgerPorts.join(','),
    'mirror-grpc': String(plan.mirrorGrpcPort),
    mirror: String(plan.mirrorPort),
  };
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
}
