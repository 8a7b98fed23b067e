import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Compile } from 'typebox/compile';
import { ListStatesShape } from '../../node/operator/list-forms.ts';
import { operatorRequest } from '../../node/operator/operator-client.ts';
import type { Plan } from '../plan.ts';
import { STARTING_ANSWER_MS } from './starting-node.ts';

const SAMPLES = join(import.meta.dirname, '../samples/lists');
/** Age from which a sample is taken again: it would be stale after two days. In milliseconds. */
const RENEW_AFTER_MS = 24 * 3_600_000;
/** Pause between two looks. In milliseconds. */
const LOOK_MS = 3_600_000;

const compiled = Compile(ListStatesShape);

export interface SampleListsOptions {
  /** Folder of the cluster. */
  readonly home: string;
  readonly plan: Pick<Plan, 'nodes'>;
  readonly say: (line: string) => void;
}

/**
 * Gives every node the sample lists until it has real ones, and takes them from their folder again each day: that is
 * when they were retrieved, and a cluster that runs for weeks still has lists. Never touches a real list.
 */
export class SampleLists implements AsyncDisposable {
  readonly #options: SampleListsOptions;
  readonly #ending = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: SampleListsOptions) {
    this.#options = options;
  }

  /** Resolves once every node has every list. */
  async start(): Promise<void> {
    const { home, plan } = this.#options;
    await Promise.all(plan.nodes.map(({ id }) => giveSamples(join(home, id, 'operator.sock'), Date.now())));
    this.#loop = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    const { home, plan, say } = this.#options;
    while (!signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
      for (const { id } of signal.aborted ? [] : plan.nodes) {
        await giveSamples(join(home, id, 'operator.sock'), Date.now()).catch((error: unknown) => {
          // A node that is being started again is asked the next time.
          say(`${id} did not take the sample lists: ${String(error)}`);
        });
      }
    }
  }
}

/** Imports the samples that a node lacks, or has had for long. `now` in epoch milliseconds. */
export async function giveSamples(socket: string, now: number): Promise<void> {
  const states: unknown = JSON.parse(await operatorRequest(socket, 'GET', '/lists', undefined, STARTING_ANSWER_MS));
  if (!compiled.Check(states)) throw new Error('the node is of another version');
  for (const { listId, edition } of states.lists) {
    const isDue = edition === null || (edition.sample && now - Date.parse(edition.retrievedAt) >= RENEW_AFTER_MS);
    const path = `/lists/${listId}/import`;
    if (isDue) await operatorRequest(socket, 'POST', path, { directory: SAMPLES }, STARTING_ANSWER_MS);
  }
}
