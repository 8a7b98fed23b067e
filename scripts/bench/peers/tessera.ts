import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { endChild } from '../end-child.ts';
import { portOf } from '../http/round.ts';

/** Go module of the server: Tessera as published, behind one route. */
const MODULE = join(import.meta.dirname, 'tessera');
/** Its dependencies may be fetched first, and all of them compiled. In milliseconds. */
const BUILD_MS = 300_000;
/** The toolchain that is at hand, modules of exactly these hashes, and no C compiler. */
const BUILD_VARIABLES = { GOTOOLCHAIN: 'local', GOFLAGS: '-mod=readonly -buildvcs=false', CGO_ENABLED: '0' };

const run = promisify(execFile);

/** The server as a program in a folder, or why it could not be built here. */
export type TesseraBuild = { readonly program: string } | { readonly skipped: string };

/** Builds the server into a folder. `environment`: where Go is found, and how it fetches modules. */
export async function buildTessera(
  directory: string,
  signal: AbortSignal,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<TesseraBuild> {
  const program = join(directory, 'tessera');
  const options = { cwd: MODULE, env: { ...environment, ...BUILD_VARIABLES }, signal, timeout: BUILD_MS };
  try {
    await run('go', ['build', '-o', program, '.'], options);
    return { program };
  } catch (error) {
    signal.throwIfAborted();
    return { skipped: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && error.code === 'ENOENT') return 'there is no go on the PATH';
  const said = 'stderr' in error && typeof error.stderr === 'string' ? error.stderr.trim() : '';
  return `go build failed: ${said.split('\n').at(-1) || error.message}`;
}

/** A process that takes records over HTTP into a Tessera log of its own. It ends, by its pid, with the object. */
export class TesseraLog implements AsyncDisposable {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  /** Resolves once it listens. `batchMs`: the longest that a record waits for others. */
  static async start(program: string, directory: string, batchMs: number): Promise<TesseraLog> {
    const child = spawn(program, ['--storage', directory, '--batch-age', `${batchMs}ms`], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit').then(([code, signal]: unknown[]) => {
      throw new Error(`${program} ended with ${String(code ?? signal)}`);
    });
    ended.catch(() => {});
    const [line]: unknown[] = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended]);
    return new TesseraLog(child, portOf(JSON.parse(String(line))));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endChild(this.#child);
  }
}
