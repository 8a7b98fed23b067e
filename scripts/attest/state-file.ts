import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync, realpathSync } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { UsageError } from '../../node/config/command-line.ts';
import { isDigest } from './digest.ts';
import { holdFile } from './held-file.ts';

/** After the run's name: each sending stands in the file before it is made, with its digest and time. */
const WITH_SENDINGS = 'sendings';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ATTESTATION = /^att_[a-z0-9]+_[0-9A-Z]{26}$/;
/** In the place of the attestation of a line that is known to be recorded, but not as what. */
const UNKNOWN = 'recorded';

/** Lines that were sent together: the last of them, the digest of their body, and when they were first sent. */
export interface Sending {
  readonly last: number;
  readonly digest: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** What one run leaves for the next: which lines of which file were accepted, and as which attestations. */
export interface State extends AsyncDisposable {
  /**
   * Names this sending of the file: with the lines that are sent, it makes the idempotency keys that survive any
   * interruption.
   */
  readonly run: string;
  /** Null where only the caller's word tells that a line is recorded. */
  readonly accepted: ReadonlyMap<number, string | null>;
  /** Of each accepted line, the digest of its text. */
  readonly digests: ReadonlyMap<number, string>;
  /** By its first line each sending, the first of those that begin there; and each whose answer is not noted. */
  readonly sendings: ReadonlyMap<number, Sending>;
  readonly unanswered: ReadonlyMap<number, Sending>;
  accept(line: number, attestationId: string | null, digest: string): Promise<void>;
  /** To be called before something is sent: it is unanswered from then on, and of the time when it was first sent. */
  begin(first: number, sending: Pick<Sending, 'digest' | 'last'>): Promise<Sending>;
  /** To be called once all of the answer is noted; a single line that was accepted is answered. */
  end(first: number): Promise<void>;
}

/** Whose sending of which file to which node. */
export interface SendingName {
  readonly file: string;
  /** Its id in the local cluster, or its URL as it was given. */
  readonly node: string;
  readonly nodeUrl: string;
  readonly apiKey: string;
}

/**
 * Where the state of a sending is kept unless the caller says otherwise: one for a file and a node whatever path leads to
 * the file and however the node's URL is spelled, and another for another key, as it may be of another account. Throws
 * `UsageError` where an earlier release left a state of this file.
 */
export function defaultStateFile(home: string, { file, node, nodeUrl, apiKey }: SendingName): string {
  const folder = join(home, 'attest');
  const place = realpathSync(file);
  const former = [file, place].flatMap((path) => formerNames(path, node, apiKey)).map((name) => join(folder, name));
  const left = former.find((path) => existsSync(path));
  if (left !== undefined) throw withoutSendings(left);
  const digests = [place, new URL(nodeUrl).href.replace(/\/+$/, ''), apiKey].map(shortDigest);
  return join(folder, `${basename(place)}-${digests.join('-')}.state`);
}

/** The names that earlier releases gave to the state of a file. */
function formerNames(file: string, node: string, apiKey: string): readonly string[] {
  const base = `${basename(file)}-${shortDigest(file)}-${node}`;
  return [`${base}.state`, `${base}-${shortDigest(apiKey)}.state`];
}

/**
 * Opens or begins a state file, and holds it until it is disposed. A last line that was cut short counts as not written.
 * Throws `UsageError` where another run holds it, and where it tells of what was sent in the way of an earlier
 * release.
 */
export async function openState(path: string): Promise<State> {
  await mkdir(dirname(path), { recursive: true });
  await using opening = new AsyncDisposableStack();
  const file = opening.use(await open(path, 'a+', 0o600));
  // Read only once it is held: another run may write to it until then.
  if (opening.use(await holdFile(file)) === null) throw new UsageError(`another run is sending by ${path}`);
  const { run, isComparable, accepted, digests, sendings, unanswered, cut } = await readState(path);
  if (!isComparable) throw withoutSendings(path);
  const name = run?.name ?? randomUUID();
  if (cut) await file.appendFile('\n');
  if (run?.withSendings !== true) await writeSynced(file, `run ${name} ${WITH_SENDINGS}\n`);
  const held = opening.move();
  return {
    run: name,
    accepted,
    digests,
    sendings,
    unanswered,
    async accept(line, attestationId, digest) {
      noteAccepted(line, attestationId, digest, { accepted, digests, unanswered });
      await file.appendFile(`${line} ${attestationId ?? UNKNOWN} ${digest}\n`);
    },
    async begin(first, { last, digest }) {
      const before = unanswered.get(first);
      if (before !== undefined) return before;
      const sending = { last, digest, at: Date.now() };
      noteSent(first, sending, { sendings, unanswered });
      await writeSynced(file, `sent ${first} ${last} ${sending.at} ${digest}\n`);
      return sending;
    },
    async end(first) {
      unanswered.delete(first);
      await writeSynced(file, `${first} answered\n`);
    },
    async [Symbol.asyncDispose]() {
      await file.sync();
      await held.disposeAsync();
    },
  };
}

/** `isComparable`: every line of it that tells of something sent was written by this release, or was cut short. */
async function readState(path: string) {
  let run: { readonly name: string; readonly withSendings: boolean } | undefined;
  let isComparable = true;
  let last = '';
  const accepted = new Map<number, string | null>();
  const digests = new Map<number, string>();
  const sendings = new Map<number, Sending>();
  const unanswered = new Map<number, Sending>();
  const input = createReadStream(path);
  input.on('data', (chunk) => (last = chunk.slice(-1).toString()));
  for await (const text of createInterface({ input })) {
    // The last word of each form is known to be whole: a line that was cut short is of none.
    const [first = '', second = '', third = '', fourth = '', fifth = ''] = text.split(' ');
    if (first === 'run') {
      if (UUID.test(second)) run = { name: second, withSendings: third === WITH_SENDINGS };
    } else if (run?.withSendings !== true) isComparable &&= text.trim() === '';
    else if (first === 'sent' && [second, third, fourth].every(isNumber) && isDigest(fifth)) {
      noteSent(Number(second), { last: Number(third), at: Number(fourth), digest: fifth }, { sendings, unanswered });
    } else if (isNumber(first) && second === 'answered') unanswered.delete(Number(first));
    else if (isNumber(first) && (second === UNKNOWN || ATTESTATION.test(second)) && isDigest(third)) {
      noteAccepted(Number(first), second === UNKNOWN ? null : second, third, { accepted, digests, unanswered });
    }
  }
  return { run, isComparable, accepted, digests, sendings, unanswered, cut: last !== '' && last !== '\n' };
}

interface Notes {
  readonly accepted: Map<number, string | null>;
  readonly digests: Map<number, string>;
  readonly sendings: Map<number, Sending>;
  readonly unanswered: Map<number, Sending>;
}

function noteSent(
  first: number,
  sending: Sending,
  { sendings, unanswered }: Pick<Notes, 'sendings' | 'unanswered'>,
): void {
  if (!sendings.has(first)) sendings.set(first, sending);
  unanswered.set(first, sending);
}

function noteAccepted(
  line: number,
  attestationId: string | null,
  digest: string,
  { accepted, digests, unanswered }: Omit<Notes, 'sendings'>,
): void {
  accepted.set(line, attestationId);
  digests.set(line, digest);
  if (unanswered.get(line)?.last === line) unanswered.delete(line);
}

function withoutSendings(path: string): UsageError {
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
