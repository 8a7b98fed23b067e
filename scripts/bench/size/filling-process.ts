// A node, as `node/main.ts` starts it, whose intake is given records in this process instead of over HTTP.
import pino from 'pino';
import { startApp } from '../../../node/app.ts';
import { configOf } from '../../../node/config/config.ts';
import { openContext } from '../../../node/context.ts';
import type { Draft } from '../../../node/intake/draft.ts';
import type { BuiltRecord } from '../../../node/intake/groups.ts';
import type { Intake } from '../../../node/intake/intake.ts';
import { decisionDrafts, roundRobin } from '../drafts.ts';
import { type FillAnswer, type FillQuestion, parseFillQuestion, type Sample } from './fill-forms.ts';

/** Records of one signed group. */
const GROUP_RECORDS = 1_000;
/** Groups given to intake at a time: one is written while the next is signed and one more is prepared. */
const GROUPS_IN_FLIGHT = 3;
const DRAFTS = 1_000;

const running = new AsyncDisposableStack();
const stop = new AbortController();
let filler: Filler | undefined;

process.on('message', (message) => {
  answer(parseFillQuestion(message)).then(
    (value) => process.send?.(value),
    (error: unknown) => {
      if (!stop.signal.aborted) console.error(error);
      void end(1);
    },
  );
});
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(signal, () => void end(0));

async function answer(question: FillQuestion): Promise<FillAnswer> {
  if (question.ask === 'start') filler = await start(question.variables, question.apiKey);
  if (filler === undefined) throw new Error('the node was not started');
  const samples = question.ask === 'fill' ? await filler.fill(question.records, question.samples) : [];
  return { recorded: filler.intake.recorded, samples };
}

async function start(variables: Readonly<Record<string, string>>, apiKey: string): Promise<Filler> {
  const context = running.use(await openContext(configOf(variables), pino({ level: 'silent' })));
  running.use(await startApp(context, stop.signal));
  const found = await context.accounts.authenticate(apiKey);
  if (typeof found === 'string') throw new Error(`the key is ${found}`);
  return new Filler(context.intake, found.caller.account.id);
}

/** In order: no group is begun any more, what waits is written, and the store is closed. */
async function end(code: number): Promise<void> {
  stop.abort();
  await running.disposeAsync();
  process.exit(code);
}

/** Gives a node's intake records of one account, group after group. */
class Filler {
  readonly intake: Intake;
  readonly #nextDraft: () => Draft;

  constructor(intake: Intake, account: string) {
    this.intake = intake;
    this.#nextDraft = roundRobin(decisionDrafts(DRAFTS, account));
  }

  /** Resolves once all are on the disk, to `wanted` of them or a few more. */
  async fill(records: number, wanted: number): Promise<Sample[]> {
    const samples: Sample[] = [];
    const every = Math.max(1, Math.floor(records / Math.max(1, wanted)));
    let begun = 0;
    const fillGroups = async (): Promise<void> => {
      while (begun < records) {
        stop.signal.throwIfAborted();
        const size = Math.min(GROUP_RECORDS, records - begun);
        const first = begun;
        begun += size;
        const built = await this.intake.submitAll(Array.from({ length: size }, this.#nextDraft));
        samples.push(...built.filter((_, i) => (first + i + 1) % every === 0).map(sampleOf));
      }
    };
    await Promise.all(Array.from({ length: GROUPS_IN_FLIGHT }, fillGroups));
    return samples;
  }
}

function sampleOf({ record: { id, sourceId, submittedAt } }: BuiltRecord): Sample {
  return { id, sourceId, submittedAt };
}
