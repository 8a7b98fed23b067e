import { UsageError } from '../../node/config/command-line.ts';
import type { DecisionLine } from './decision-file.ts';
import { digestOf } from './digest.ts';
import type { State } from './state-file.ts';

type Sent = Pick<State, 'accepted' | 'digests' | 'unanswered'>;

/**
 * The lines of a file as they are, compared with what a state says was sent: each line that was accepted, and as a
 * whole each sending that has no answer yet. A line that was refused may be another now, and lines may follow. Throws
 * `UsageError` before the first line that is not what was sent, or at the end where one is missing.
 */
export async function* sameLines(
  lines: AsyncIterable<DecisionLine>,
  { accepted, digests, unanswered }: Sent,
  stateFile: string,
): AsyncGenerator<DecisionLine> {
  let acceptedLeft = accepted.size;
  let openLeft = unanswered.size;
  let open: { readonly last: number; readonly digest: string; readonly texts: string[] } | undefined;
  for await (const line of lines) {
    const { number, text } = line;
    if (accepted.has(number)) {
      if (digests.get(number) !== digestOf(text)) throw otherFile(stateFile);
      acceptedLeft--;
    }
    const sending = unanswered.get(number);
    if (sending !== undefined) open = { ...sending, texts: [] };
    open?.texts.push(text);
    if (open !== undefined && number >= open.last) {
      if (number > open.last || bodyDigest(open.texts) !== open.digest) throw otherFile(stateFile);
      open = undefined;
      openLeft--;
    }
    yield line;
  }
  if (acceptedLeft > 0 || openLeft > 0) throw otherFile(stateFile);
}

/** What a batch of these lines is sent as. */
export function bodyOf(texts: readonly string[]): string {
  return texts.join('\n');
}

function bodyDigest(texts: readonly string[]): string {
  return digestOf(bodyOf(texts));
}

function otherFile(stateFile: string): UsageError {
  return new UsageError(
    `the file is another than the one that was sent by ${stateFile}: ` +
      'name another --state, or remove it, and all lines are sent as new ones',
  );
}
