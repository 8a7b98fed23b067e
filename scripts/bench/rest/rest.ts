import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Forked } from '../forked.ts';
import { type ResidentBytes, residentBytes } from '../attacks/resident-memory.ts';
import { isLoadAnswer, type LoadAnswer } from '../http/load-forms.ts';
import { LocalCluster } from '../local-cluster.ts';
import type { Part, Result } from '../part.ts';
import { median } from '../statistics.ts';
import { count } from '../table.ts';
import { type Restart, restart } from './restarts.ts';

const ROUTE = '/v1/tiered-attest';
const CONNECTIONS = 100;
const MEBIBYTE = 1 << 20;
/** Starts, how long the node is left alone after the last at two looks, loaded, and left alone again. In seconds. */
const FULL = { starts: 5, idle: 10, longer: 30, load: 20, after: 60 };
const QUICK = { starts: 1, idle: 2, longer: 4, load: 2, after: 5 };

/** What one node process keeps in memory while nothing is asked of it, and how soon it listens. */
export const rest: Part = {
  name: 'rest',
  title: 'One node process at rest: memory, and time to listen',
  async run({ home, quick, signal, say }): Promise<Result> {
    const { starts, idle, longer, load, after } = quick ? QUICK : FULL;
    // The first start leaves the sources compiled for the others.
    await using cluster = await LocalCluster.start(home, 1, { NODE_COMPILE_CACHE: join(home, 'compiled') });
    const restarts: Restart[] = [];
    for (let round = 0; round < starts; round++) {
      const made = await restart(cluster, signal);
      say(`listens after ${count(made.listensMs)} ms, ${count(made.processorMs)} ms of processor`);
      restarts.push(made);
    }
    const pid = restarts.at(-1)?.pid ?? 0;
    const look = async (seconds: number): Promise<ResidentBytes> => {
      await sleep(seconds * 1_000, undefined, { signal });
      return residentBytes(pid);
    };
    const idled = await look(idle);
    const settled = await look(longer - idle);
    const answer = await loadOf(cluster, load);
    say(`${count(answer.records)} records at ${count(answer.perSecond)}/s`);
    const loaded = await look(0);
    const rested = await look(after);
    return {
      table: [
        ['MiB resident', 'together', 'own', 'of files'],
        rowOf('at its first answer', medianOf(restarts.map(({ memory }) => memory))),
        rowOf(`${idle} s later, the ledger SDK loaded`, idled),
        rowOf(`${longer} s later`, settled),
        rowOf(`after ${load} s of load`, loaded),
        rowOf(`${after} s after that`, rested),
      ],
      notes: [
        `From the start of the process to its first answer ${count(median(restarts.map(({ listensMs }) => listensMs)))} ms,`,
        `${count(median(restarts.map(({ processorMs }) => processorMs)))} ms of processor: medians of ${starts} starts, the sources compiled before.`,
        `The node sells by the call. Load: ${CONNECTIONS} connections that record, ${count(answer.records)} records at`,
        `${count(answer.perSecond)}/s. Of files: programs and tables of the store, which the system takes back when it is short.`,
      ],
    };
  },
};

async function loadOf(cluster: LocalCluster, seconds: number): Promise<LoadAnswer> {
  await using load = new Forked(join(import.meta.dirname, '../http/load.ts'));
  const { apiKey } = cluster;
  const answer = await load.ask({ url: cluster.node(0).baseUrl + ROUTE, apiKey, connections: CONNECTIONS, seconds });
  if (!isLoadAnswer(answer)) throw new Error('the load process answered something else');
  return answer;
}

function medianOf(figures: readonly ResidentBytes[]): ResidentBytes {
  return { own: median(figures.map(({ own }) => own)), files: median(figures.map(({ files }) => files)) };
}

function rowOf(when: string, { own, files }: ResidentBytes): string[] {
  return [when, ...[own + files, own, files].map((bytes) => count(bytes / MEBIBYTE))];
}
