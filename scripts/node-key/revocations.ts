import { RevocationsAnswerShape } from '../../node/operator/signing-key-forms.ts';
import { ask } from '../key/ask.ts';
import type { Target } from '../key/targets.ts';
import { textOf, writeJson } from '../roster/files.ts';

/** Where the file goes that has no name, and what is said beside it. */
interface Output {
  out(line: string): void;
  err(line: string): void;
}

/**
 * Writes the revocations in force as the file that `npm run verify` takes, to the standard output where no other is
 * named, and says what is not in it yet.
 */
export async function writeRevocations(target: Target, out: string | undefined, terminal: Output): Promise<void> {
  const question = { method: 'GET', path: '/revocations', answer: RevocationsAnswerShape } as const;
  const { file, notShown } = await ask(target, question);
  if (out === undefined) terminal.out(textOf(file).trimEnd());
  else await writeJson(out, file);
  if (notShown > 0) {
    terminal.err(`node-key: revoked keys that are not in it: ${notShown}; too few members show it by now, ask again`);
  }
}
