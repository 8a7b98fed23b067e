import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { hashText, isSha256Hash } from '../../protocol/hash.ts';
import type { JsonValue } from '../../protocol/json/value.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import type { Suite } from '../../protocol/suite/suite.ts';
import type { RevocationsFile, RosterFile } from '../../protocol/verdict/bundle.ts';
import { areWords, readFingerprintWords } from '../../protocol/verdict/fingerprint-words.ts';
import { FileError, fileJson } from '../../protocol/verdict/file-reader.ts';
import { joinRosters } from '../../protocol/verdict/join-rosters.ts';
import type { Known } from '../../protocol/verdict/known.ts';
import { parseRevocationsText, parseRosterFileText } from '../../protocol/verdict/parse.ts';
import type { Arguments } from './arguments.ts';
import { readText, UnreadableFileError } from './read-text.ts';

/** The roster file of a node: the genesis roster with signatures beside it, then the texts of later ones. */
const SignedGenesis = Compile(Type.Object({ statement: Type.String(), signatures: Type.Array(Type.Unknown()) }));

/** What the verifier knows besides the bundles, and where the pin came from; null where there is none. */
export interface Knowledge {
  readonly known: Pick<Known, 'pin' | 'revocations' | 'rosters'>;
  readonly pinnedBy: string | null;
}

/**
 * Reads what `--roster` and `--revocations` name. Throws `UnreadableFileError` with the path in front, on each that is
 * bad.
 */
export async function readKnowledge(
  suite: Suite,
  { roster, revocations }: Pick<Arguments, 'revocations' | 'roster'>,
  home: string | null,
): Promise<Knowledge> {
  const local = home === null ? null : join(home, 'roster.json');
  const pinnedBy = roster ?? (local !== null && existsSync(local) ? local : null);
  const trust = pinnedBy === null ? {} : await readTrust(suite, pinnedBy);
  const file = revocations === null ? null : await readNamed(revocations, revocationsOf);
  return { known: { ...trust, ...(file === null ? {} : { revocations: file }) }, pinnedBy };
}

function readTrust(suite: Suite, given: string): Promise<Pick<Known, 'pin' | 'rosters'>> | Pick<Known, 'pin'> {
  if (isSha256Hash(given)) return { pin: given };
  if (areWords(given)) return { pin: readFingerprintWords(suite, given) };
  return readNamed(given, (text) => trustOf(suite, text));
}

/** Of the genesis with its signatures only the hash counts: nothing that anybody signed is asked of a pin. */
function trustOf(suite: Suite, text: string): Pick<Known, 'pin' | 'rosters'> {
  const value: JsonValue = fileJson(text);
  const [genesis, ...later]: readonly JsonValue[] = Array.isArray(value) ? value : [];
  if (!SignedGenesis.Check(genesis)) return { rosters: joined(suite, parseRosterFileText(text)) };
  if (later.length > 0) {
    const what = 'give what npm run roster -- show --decisions writes, or the hash of a roster';
    throw new UnreadableFileError(`it is the file of a node, which names no decisions: ${what}`);
  }
  rosterStatement.parse(genesis.statement);
  return { pin: hashText(suite, genesis.statement) };
}

/** Throws `UnreadableFileError` on JSON of another shape, which the list of a node's API is. */
function revocationsOf(text: string): RevocationsFile {
  try {
    return parseRevocationsText(text);
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== 'malformed') throw error;
    const what = `${error.pointer} ${error.message}`.trim();
    throw new UnreadableFileError(`it is no file that npm run node-key -- revocations writes: ${what}`);
  }
}

function joined(suite: Suite, rosters: RosterFile): RosterFile {
  const { problems } = joinRosters(suite, rosters, { rosters });
  const [problem] = problems;
  if (problem !== undefined) throw new UnreadableFileError(`its rosters do not join: ${problem.detail}`);
  return rosters;
}

async function readNamed<Value>(path: string, parse: (text: string) => Value): Promise<Value> {
  try {
    return parse(await readText(path));
  } catch (error) {
    throw new UnreadableFileError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
