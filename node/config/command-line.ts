import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/** The command line says something that this command does not know. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What else a command line may have, and how its errors begin. */
interface CommandLineForm {
  /** Before a usage error. */
  readonly name?: string;
  /** Whether it takes words beside its flags. Default: no. */
  readonly allowPositionals?: boolean;
}

/**
 * Flags and words of a command line. Throws `UsageError` where a flag is unknown, or lacks its value, and at a word where
 * none is taken.
 */
export function readCommandLine<const Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  allowPositionals = true,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals });
  } catch (error) {
    // Node adds a sentence or two on what may have been meant, on the same line or on others.
    throw new UsageError(String(error instanceof Error ? error.message : error).replace(/\.\s.*$/s, ''));
  }
}

/**
 * Flags and words of this process's command line, for a command that is one. `--help` prints the usage and ends the
 * process with 0; a usage error is one line, and ends it with 2.
 */
export function requireCommandLine<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
  { name, allowPositionals = false }: CommandLineForm = {},
) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(`${usage}\n`);
    process.exit(0);
  }
  try {
    return readCommandLine(args, options, allowPositionals);
  } catch (error) {
    return endWithUsageError(error, name);
  }
}

/** Prints a usage error as one line and ends the process with 2. Throws what is none. */
export function endWithUsageError(error: unknown, name?: string): never {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${usageLine(error, name)}\n`);
  process.exit(2);
}

/** A usage error as a command tells it. `name`: of the command. */
export function usageLine({ message }: Error, name?: string): string {
  return `${name === undefined ? '' : `${name}: `}${message}; --help says more`;
}
