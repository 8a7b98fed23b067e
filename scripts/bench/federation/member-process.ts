// A member's node, as `node/main.ts` starts it, that makes records when it is told, or says how long it took to catch
// up.
import pino from 'pino';
import { startApp } from '../../../node/app.ts';
import { configOf } from '../../../node/config/config.ts';
import { type NodeContext, openContext } from '../../../node/context.ts';
import { boundHeapGrowth } from '../../../node/metrics/heap-growth.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { decisionDrafts, roundRobin } from '../drafts.ts';
import { until } from '../until.ts';
import { type MemberAnswer, type MemberQuestion, parseMemberQuestion } from './member-forms.ts';

/** Records of a sealed batch, and how many of them intake is given at a time; its largest groups have fewer. */
const BATCH_RECORDS = 4_000;
const IN_FLIGHT = 400;
const DRAFTS = 200;
const PATIENCE_MS = 240_000;

const running = new AsyncDisposableStack();
const stop = new AbortController();
let member: Member | undefined;

process.on('message', (message) => {
  answer(parseMemberQuestion(message)).then(
    (value) => process.send?.(value),
    (error: unknown) => {
      if (!stop.signal.aborted) console.error(error);
      void end(1);
    },
  );
});
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(signal, () => void end(0));

async function answer(question: MemberQuestion): Promise<MemberAnswer> {
  if (question.ask === 'start') member = await Member.start(question.variables);
  if (member === undefined) throw new Error('the node was not started');
  if (question.ask === 'fill') await member.fill(question.records);
  const took = question.ask === 'pull' ? await member.pull(question.from, question.batch) : 0;
  return { took, ...member.spent(), ...(await member.made()) };
}

/** In order: what waits is written, and the store is closed. */
async function end(code: number): Promise<void> {
  stop.abort();
  await running.disposeAsync();
  process.exit(code);
}

/** What a process has taken of the processor, in microseconds. */
type ProcessorTimes = Pick<MemberAnswer, 'main' | 'all'>;

/** A moment, in milliseconds, and what was taken until then. */
interface Moment {
  readonly at: number;
  readonly taken: ProcessorTimes;
}

class Member {
  readonly #context: NodeContext;
  /** First connections, by node. */
  readonly #connected: ReadonlyMap<string, Moment>;
  #before = takenNow();

  private constructor(context: NodeContext, connected: ReadonlyMap<string, Moment>) {
    this.#context = context;
    this.#connected = connected;
  }

  static async start(variables: Readonly<Record<string, string>>): Promise<Member> {
    const log = pino({ level: 'silent' });
    const context = running.use(await openContext(configOf(variables), log, { sealsAhead: true, startsUnread: true }));
    const connected = new Map<string, Moment>();
    context.transport.onConnect((peer) => {
      if (!connected.has(peer)) connected.set(peer, { at: performance.now(), taken: takenNow() });
    });
    boundHeapGrowth();
    running.use(await startApp(context, stop.signal));
    return new Member(context, connected);
  }

  async fill(records: number): Promise<void> {
    const { intake, sealer } = this.#context;
    const nextDraft = roundRobin(decisionDrafts(DRAFTS));
    for (let made = 0; made < records; made += IN_FLIGHT) {
      stop.signal.throwIfAborted();
      await Promise.all(Array.from({ length: IN_FLIGHT }, () => intake.submit(nextDraft())));
      if ((made + IN_FLIGHT) % BATCH_RECORDS === 0) await sealer.seal();
    }
    await sealer.seal();
  }

  /** Milliseconds from the first connection until the batch is on the disk. */
  async pull(from: NodeId, batch: number): Promise<number> {
    let finished = 0;
    await until('catching up', PATIENCE_MS, stop.signal, () => {
      if (this.#context.chains.head(from).batch < batch) return false;
      finished = performance.now();
      return true;
    });
    const connected = this.#connected.get(from);
    if (connected === undefined) throw new Error(`${from} was never connected`);
    this.#before = connected.taken;
    return finished - connected.at;
  }

  /** Since it was asked last, or began to pull. */
  spent(): ProcessorTimes {
    const [before, now] = [this.#before, takenNow()];
    this.#before = now;
    return { main: now.main - before.main, all: now.all - before.all };
  }

  async made(): Promise<Pick<MemberAnswer, 'batch' | 'groups'>> {
    const { config, chains, metrics } = this.#context;
    const { text } = await metrics.expose();
    const groups = Number(/^meridian_groups_total(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1] ?? 0);
    return { batch: chains.head(config.id).batch, groups };
  }
}

function takenNow(): ProcessorTimes {
  const [main, all] = [process.threadCpuUsage(), process.cpuUsage()];
  return { main: main.user + main.system, all: all.user + all.system };
}
