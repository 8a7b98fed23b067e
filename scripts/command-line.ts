import type { ParseArgsOptionsConfig } from 'node:util';
import { endWithUsageError, type readCommandLine, UsageError } from '../node/config/command-line.ts';

/** The values of flags that were given, and of those with a default. */
export type FlagsOf<Options extends ParseArgsOptionsConfig> = ReturnType<typeof readCommandLine<Options>>['values'];

/** What a command takes. Any other flag is an error. */
export interface CommandForm<Flag extends string = string> {
  /** Words after the command's name; without it any number. */
  readonly words?: number;
  readonly flags: readonly Flag[];
}

/**
 * The command that the first word names, and the words after it. No flag may have a default: it would count as given.
 * Throws `UsageError` where there is no such command, or it takes other flags or another number of words.
 */
export function readCommand<Name extends string>(
  [name = '', ...words]: readonly string[],
  flags: object,
  forms: Readonly<Record<Name, CommandForm>>,
): { readonly name: Name; readonly words: readonly string[] } {
  if (!isNameOf(forms, name)) throw new UsageError(name === '' ? 'which command?' : `there is no command ${name}`);
  const form = forms[name];
  const stray = Object.keys(flags).find((flag) => !form.flags.includes(flag));
  if (stray !== undefined) throw new UsageError(`${name} takes no --${stray}`);
  const { words: wanted = words.length } = form;
  if (words.length !== wanted) throw new UsageError(`${name} takes ${wanted} words, not ${words.length}`);
  return { name, words };
}

/** The whole number of a text; null where it is none within the bounds, both of them allowed. */
export function wholeNumberOf(text: string, least: number, most = Number.MAX_SAFE_INTEGER): number | null {
  const value = Number(text);
  return /^\d+$/.test(text) && value >= least && value <= most ? value : null;
}

/** The whole number, at least so large, of a flag of this process's command line. Ends the process where it is none. */
export function requireWhole<Name extends string>(
  flags: Readonly<Record<Name, string>>,
  name: Name,
  least = 0,
): number {
  const value = wholeNumberOf(flags[name], least);
  return (
    value ?? endWithUsageError(new UsageError(`--${name} is a whole number${least > 0 ? `, at least ${least}` : ''}`))
  );
}

/** Throws `UsageError` where both flags are given. */
export function excludeEachOther<Flag extends string>(
  flags: { readonly [name in Flag]?: unknown },
  one: Flag,
  other: Flag,
): void {
  if (flags[one] === undefined || flags[other] === undefined) return;
  throw new UsageError(`--${one} and --${other} exclude each other`);
}

/** Throws `UsageError` unless exactly one of `--node` and `--home` is given. */
export function requireNodeOrHome({ node, home }: { readonly node?: unknown; readonly home?: unknown }): void {
  if ((node === undefined) === (home === undefined)) throw new UsageError('one of --node and --home names the node');
}

/** Works with a file or folder that the command line names. Throws `UsageError` where the system refuses it. */
export async function workOnPath<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new UsageError(`${path}: ${error.message}`);
  }
}

function isNameOf<Name extends string>(forms: Readonly<Record<Name, unknown>>, name: string): name is Name {
  return Object.hasOwn(forms, name);
}
