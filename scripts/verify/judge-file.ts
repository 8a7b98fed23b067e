import { JsonError } from '../../protocol/json/value.ts';
import type { PackVerdict } from '../../protocol/pack/pack-verdict.ts';
import { judgeProof, type ProofVerdict } from '../../protocol/proof/judge-proof.ts';
import { readProofFile } from '../../protocol/proof/proof-file.ts';
import type { Suite } from '../../protocol/suite/suite.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import type { Known } from '../../protocol/verdict/known.ts';
import { FileError, fileJson } from '../../protocol/verdict/file-reader.ts';
import type { Verdict } from '../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../protocol/verdict/verify.ts';
import type { ExitCode } from '../../protocol/verdict/word.ts';
import { isPackFile, judgePackFile } from './pack-file.ts';
import { readText, UnreadableFileError } from './read-text.ts';
import type { Target } from './targets.ts';

export const UNREADABLE = 2;

/** What came of one file, a bundle, a pack of evidence or a proof of misbehaviour: its verdict, or why it is none. */
export type Judgement =
  | { readonly file: string; readonly bundle: Bundle; readonly verdict: Verdict }
  | { readonly file: string; readonly accusation: ProofVerdict }
  | { readonly file: string; readonly pack: PackVerdict }
  | { readonly file: string; readonly fault: string };

/**
 * Judges one file by what the verifier knows. `progress`: where that of a pack is drawn. Throws nothing on what a file can
 * hold.
 */
export async function judgeFile(
  suite: Suite,
  { path, fault }: Target,
  known: Known,
  progress: NodeJS.WriteStream | null,
): Promise<Judgement> {
  if (fault !== null) return { file: path, fault };
  try {
    if (await isPackFile(path)) return { file: path, pack: await judgePackFile(suite, path, known, progress) };
    const file = readProofFile(fileJson(await readText(path)));
    if (file.kind === 'misbehaviour') return { file: path, accusation: judgeProof(suite, file.proof, known) };
    const { bundle } = file;
    return { file: path, bundle, verdict: verifyBundle(suite, bundle, known) };
  } catch (error) {
    if (!isOfFile(error)) throw error;
    return { file: path, fault: error.message };
  }
}

export function exitCodeOf(judgement: Judgement): ExitCode | typeof UNREADABLE {
  if ('accusation' in judgement) return judgement.accusation.exitCode;
  if ('pack' in judgement) return judgement.pack.exitCode;
  return 'verdict' in judgement ? judgement.verdict.exitCode : UNREADABLE;
}

export function wordOf(judgement: Judgement): string {
  if ('accusation' in judgement) return judgement.accusation.word;
  if ('pack' in judgement) return judgement.pack.word;
  return 'verdict' in judgement ? judgement.verdict.word : 'unreadable';
}

/** The line of a file under `--json`. */
export function jsonLineOf(judgement: Judgement): string {
  const { file } = judgement;
  if ('accusation' in judgement) {
    const { word, exitCode, ...rest } = judgement.accusation;
    return JSON.stringify({ file, word, exitCode, verified: false, ...rest });
  }
  if ('pack' in judgement) {
    const { word, exitCode, ...rest } = judgement.pack;
    return JSON.stringify({ file, word, exitCode, ...rest });
  }
  if (!('verdict' in judgement)) {
    return JSON.stringify({ file, word: 'unreadable', exitCode: UNREADABLE, verified: false, fault: judgement.fault });
  }
  const { word, exitCode, ...rest } = judgement.verdict;
  return JSON.stringify({ file, word, exitCode, ...rest });
}

/** Whether the file is at fault, and not this program. */
function isOfFile(error: unknown): error is Error {
  const isRefusal = [FileError, JsonError, UnreadableFileError].some((refusal) => error instanceof refusal);
  if (isRefusal) return true;
  return error instanceof Error && 'syscall' in error;
}
