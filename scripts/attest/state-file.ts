import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

/** What one run leaves for the next: which lines of which file were accepted, and as which attestations. */
export interface State extends AsyncDisposable {
  /**
   * Names this sending of the file: with the lines that are sent, it makes the idempotency keys that survive any
   * interruption.
   */
  readonly run: string;
  readonly accepted: ReadonlyMap<number, string>;
  /** The last line of each batch that was sent, by its first; and the first lines of those whose answers are noted. */
  readonly batches: ReadonlyMap<number, number>;
  readonly answered: ReadonlySet<number>;
  accept(line: number, attestationId: string): Promise<void>;
  /** To be called before a batch is sent, and again once all of its answer was noted. */
  begin(first: number, last: number): Promise<void>;
  end(first: number): Promise<void>;
}

/** Where the state of sending `file` to a node is kept unless the caller says otherwise. */
export function defaultStateFile(home: string, file: string, node: string): string {
  const digest = createHash('sha256').update(file).digest('hex').slice(0, 12);
  return join(home, 'attest', `${basename(file)}-${digest}-${node}.state`);
}

/** Opens or begins a state file. A last line that was cut short counts as not written. */
export async function openState(path: string): Promise<State> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(path, 'a+', 0o600);
  const { run, accepted, batches, answered, cut } = await readState(path);
  const name = run ?? randomUUID();
  if (cut) await file.appendFile('\n');
  if (run === undefined) await writeSynced(file, `run ${name}\n`);
  return {
    run: name,
    accepted,
    batches,
    answered,
    async accept(line, attestationId) {
      accepted.set(line, attestationId);
      await file.appendFile(`${line} ${attestationId}\n`);
    },
    async begin(first, last) {
      if (batches.has(first)) return;
      batches.set(first, last);
      await writeSynced(file, `batch ${first} ${last}\n`);
    },
    async end(first) {
      answered.add(first);
      await writeSynced(file, `answered ${first}\n`);
    },
    async [Symbol.asyncDispose]() {
      await file.sync();
      await file.close();
    },
  };
}

async function readState(path: string) {
  let run: string | undefined;
  let last = '';
  const accepted = new Map<number, string>();
  const batches = new Map<number, number>();
  const answered = new Set<number>();
  const input = createReadStream(path);
  input.on('data', (chunk) => (last = chunk.slice(-1).toString()));
  for await (const text of createInterface({ input })) {
    const [first = '', second = '', third = ''] = text.split(' ');
    if (first === 'run') run = second;
    else if (first === 'batch' && isNumber(second) && isNumber(third)) batches.set(Number(second), Number(third));
    else if (first === 'answered' && isNumber(second)) answered.add(Number(second));
    else if (isNumber(first) && /^att_[a-z0-9]+_[0-9A-Z]{26}$/.test(second)) accepted.set(Number(first), second);
  }
  return { run, accepted, batches, answered, cut: last !== '' && last !== '\n' };
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

async function writeSynced(file: FileHandle, text: string): Promise<void> {
  await file.appendFile(text);
  await file.sync();
}
