import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { Compile } from 'typebox/compile';
import { UsageError } from '../../node/config/command-line.ts';
import { type RepeatQuestion, RepeatScreeningShape } from '../../node/operator/backup-forms.ts';

const compiled = Compile(RepeatScreeningShape);

/**
 * What was asked of an old screening, from a file or, for `-`, stdin: a name has no place in a command line. Throws
 * `UsageError`.
 */
export async function readQuestion(file: string): Promise<RepeatQuestion> {
  const content = await (file === '-' ? text(process.stdin) : readFile(file, 'utf8')).catch(() => {
    throw new UsageError(`${file} cannot be read`);
  });
  const value = parsed(content);
  if (compiled.Check(value)) return value;
  throw new UsageError(`${file} does not hold one JSON object of attestationId, name and salt`);
}

function parsed(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
