import type { ApiDocument } from '../fixtures/api-document.ts';
import { SchemaJudge } from '../fixtures/schema-judge.ts';
import { brokenBody, largeBody, slowBody, spoiltBody } from './body-attacks.ts';
import { brokenHead, oddHeader, smuggled } from './head-attacks.ts';
import type { FuzzedRequest, Sound } from './fuzzed-request.ts';
import { outcomeFault, recordsMade } from './judge-outcome.ts';
import { Random } from './random.ts';
import { type Outcome, RawConnection } from './raw-connection.ts';
import { oddPath, oddQuery } from './target-attacks.ts';

export interface RequestFuzzerOptions {
  readonly port: number;
  readonly document: ApiDocument;
  readonly sounds: readonly Sound[];
  readonly seed: number;
  readonly apiKey: string;
}

type Tools = Parameters<typeof spoiltBody>[1] & Parameters<typeof oddQuery>[1];
type Attack = (sound: Sound, tools: Tools) => FuzzedRequest;

const WORKERS = 8;
const MAX_FAULTS = 40;

/** Out of a hundred. */
const WEIGHTS: readonly (readonly [weight: number, attack: Attack])[] = [
  [30, spoiltBody],
  [15, brokenBody],
  [0.5, largeBody],
  [1.5, slowBody],
  [10, brokenHead],
  [15, oddHeader],
  [2, smuggled],
  [10, oddPath],
  [16, oddQuery],
];
const OF_BODIES = new Set<Attack>([spoiltBody, brokenBody, largeBody, slowBody]);

/** Hostile requests over a few connections, generated as they are sent, each outcome judged. */
export class RequestFuzzer {
  /** Answers by status and code; `closed` and `silent` where there was none. */
  readonly outcomes = new Map<string, number>();
  /** What went wrong, each with the request; the first of them. */
  readonly faults: string[] = [];
  /** Ids of the records that requests made which happened to be right. */
  readonly recorded = new Set<string>();
  readonly #options: RequestFuzzerOptions;
  readonly #tools: Tools;
  #sent = 0;

  constructor(options: RequestFuzzerOptions) {
    this.#options = options;
    const judge = new SchemaJudge(options.document.root);
    this.#tools = {
      random: new Random(options.seed),
      apiKey: options.apiKey,
      document: options.document,
      judge: ({ operation }) => judge.of(operation.request?.schema ?? {}),
      judgeParameter: ({ schema }) => judge.of(schema),
    };
  }

  /** Goes on until so many requests were sent in all. */
  async run(requests: number): Promise<void> {
    const worker = async (): Promise<void> => {
      const connection = new RawConnection(this.#options.port);
      while (this.#sent < requests) {
        this.#sent++;
        await this.#send(connection, this.#generate());
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: WORKERS }, worker));
  }

  #generate(): FuzzedRequest {
    const { random } = this.#tools;
    const sound = random.pick(this.#options.sounds);
    let at = random.next() * 100;
    for (const [weight, attack] of WEIGHTS) {
      at -= weight;
      const isPossible = sound.body !== undefined || !OF_BODIES.has(attack);
      if (at < 0 && isPossible) return attack(sound, this.#tools);
    }
    return oddQuery(sound, this.#tools);
  }

  async #send(connection: RawConnection, request: FuzzedRequest): Promise<void> {
    const { pieces, after, noBody } = request;
    if (after === 'cut') {
      await connection.cut(pieces);
      return;
    }
    const outcome = await connection.exchange(pieces, { noBody, half: after === 'half-close' });
    if (after !== 'stay') connection.close();
    this.#note(request, outcome);
  }

  #note(request: FuzzedRequest, outcome: Outcome): void {
    const name = nameOf(outcome);
    this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
    for (const id of recordsMade(request, outcome)) this.recorded.add(id);
    const fault = outcomeFault(this.#options.document, request, outcome);
    if (fault !== null && this.faults.length < MAX_FAULTS) this.faults.push(describe(request, fault));
  }
}

function nameOf(outcome: Outcome): string {
  if (typeof outcome === 'string') return outcome;
  const code = outcome.status < 400 ? '' : /"code":"([a-z-]+)"/.exec(outcome.body)?.[1];
  return `${outcome.status} ${code ?? ''}`.trim();
}

function describe({ operation, what, pieces }: FuzzedRequest, fault: string): string {
  const sent = Buffer.concat(pieces).toString('latin1').slice(0, 300);
  return `${operation.method} ${operation.template}, ${what}: ${fault.slice(0, 500)} <- ${JSON.stringify(sent)}`;
}
