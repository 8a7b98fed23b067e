import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { UsageError } from '../../node/config/command-line.ts';
import { isDigest } from './digest.ts';
import { holdFile } from './held-file.ts';

/** After the run's name: digests of what is sent stand in the file. */
const WITH_DIGESTS = 'digests';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A batch that was sent: its last line, and the digest of its body. */
export interface SentBatch {
  readonly last: number;
  readonly digest: string;
}

/** What one run leaves for the next: which lines of which file were accepted, and as which attestations. */
export interface State extends AsyncDisposable {
  /**
   * Names this sending of the file: with the lines that are sent, it makes the idempotency keys that survive any
   * interruption.
   */
  readonly run: string;
  readonly accepted: ReadonlyMap<number, string>;
  /** Of each accepted line, the digest of its text. */
  readonly digests: ReadonlyMap<number, string>;
  /** Each batch that was sent, by its first line; and the first lines of those whose answers are noted. */
  readonly batches: ReadonlyMap<number, SentBatch>;
  readonly answered: ReadonlySet<number>;
  accept(line: number, attestationId: string, digest: string): Promise<void>;
  /** To be called before a batch is sent, and again once all of its answer was noted. */
  begin(first: number, batch: SentBatch): Promise<void>;
  end(first: number): Promise<void>;
}

/** Whose sending of which file to which node. */
export interface SendingName {
  readonly file: string;
  /** Its URL, or its id in the local cluster. */
  readonly node: string;
  readonly apiKey: string;
}

/**
 * Where the state of a sending is kept unless the caller says otherwise: another key has another state, as it may be of
 * another account. Throws `UsageError` where an earlier release, which knew no digests, left a state of this file.
 */
export function defaultStateFile(home: string, { file, node, apiKey }: SendingName): string {
  const base = join(home, 'attest', `${basename(file)}-${shortDigest(file)}-${node}`);
  const former = `${base}.state`;
  if (existsSync(former)) throw withoutDigests(former);
  return `${base}-${shortDigest(apiKey)}.state`;
}

/**
 * Opens or begins a state file, and holds it until it is disposed. A last line that was cut short counts as not written.
 * Throws `UsageError` where another run holds it, and where it tells of lines without digests, as that of an earlier
 * release does.
 */
export async function openState(path: string): Promise<State> {
  await mkdir(dirname(path), { recursive: true });
  await using opening = new AsyncDisposableStack();
  const file = opening.use(await open(path, 'a+', 0o600));
  // Read only once it is held: another run may write to it until then.
  if (opening.use(await holdFile(file)) === null) throw new UsageError(`another run is sending by ${path}`);
  const { run, isComparable, accepted, digests, batches, answered, cut } = await readState(path);
  if (!isComparable) throw withoutDigests(path);
  const name = run?.name ?? randomUUID();
  if (cut) await file.appendFile('\n');
  if (run?.withDigests !== true) await writeSynced(file, `run ${name} ${WITH_DIGESTS}\n`);
  const held = opening.move();
  return {
    run: name,
    accepted,
    digests,
    batches,
    answered,
    async accept(line, attestationId, digest) {
      accepted.set(line, attestationId);
      digests.set(line, digest);
      await file.appendFile(`${line} ${attestationId} ${digest}\n`);
    },
    async begin(first, batch) {
      if (batches.has(first)) return;
      batches.set(first, batch);
      await writeSynced(file, `batch ${first} ${batch.last} ${batch.digest}\n`);
    },
    async end(first) {
      answered.add(first);
      await writeSynced(file, `answered ${first}\n`);
    },
    async [Symbol.asyncDispose]() {
      await file.sync();
      await held.disposeAsync();
    },
  };
}

/** `isComparable`: every line of it that tells of something sent has a digest, or was cut short. */
async function readState(path: string) {
  let run: { readonly name: string; readonly withDigests: boolean } | undefined;
  let isComparable = true;
  let last = '';
  const accepted = new Map<number, string>();
  const digests = new Map<number, string>();
  const batches = new Map<number, SentBatch>();
  const answered = new Set<number>();
  const state = () => ({ run, isComparable, accepted, digests, batches, answered, cut: last !== '' && last !== '\n' });
  if (!existsSync(path)) return state();
  const input = createReadStream(path);
  input.on('data', (chunk) => (last = chunk.slice(-1).toString()));
  for await (const text of createInterface({ input })) {
    const [first = '', second = '', third = '', fourth = ''] = text.split(' ');
    if (first === 'run') {
      if (UUID.test(second)) run = { name: second, withDigests: third === WITH_DIGESTS };
    } else if (run?.withDigests !== true) isComparable &&= text.trim() === '';
    else if (first === 'batch' && isNumber(second) && isNumber(third) && isDigest(fourth)) {
      batches.set(Number(second), { last: Number(third), digest: fourth });
    } else if (first === 'answered' && isNumber(second)) answered.add(Number(second));
    else if (isNumber(first) && /^att_[a-z0-9]+_[0-9A-Z]{26}$/.test(second) && isDigest(third)) {
      accepted.set(Number(first), second);
      digests.set(Number(first), third);
    }
  }
  return state();
}

function withoutDigests(path: string): UsageError {
  return new UsageError(
    `${path} is of an earlier release and does not tell what was sent, so that no line can be compared with it: ` +
      'name another --state, or remove it, and all lines are sent as new ones',
  );
}

function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

async function writeSynced(file: FileHandle, text: string): Promise<void> {
  await file.appendFile(text);
  await file.sync();
}
