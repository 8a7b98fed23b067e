import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { UsageError } from '../../node/config/command-line.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../../protocol/keys/roster-file.ts';
import { type SignedRoster, SignedRosterShape } from '../../protocol/keys/signed-roster.ts';
import { type Member, MemberShape } from '../../protocol/log/roster.ts';
import { workOnPath } from '../command-line.ts';

/** Throws `UsageError` on a file that is not a member's. */
export function readMember(file: string): Promise<Member> {
  return readShape(file, 'a member', MemberShape);
}

/**
 * A proposal is a roster that is not in force yet; to that of a genesis roster the signatures of its members are
 * gathered. Throws `UsageError`.
 */
export function readProposal(file: string): Promise<SignedRoster> {
  return readShape(file, 'a proposal', SignedRosterShape);
}

/** Throws `UsageError` on a file that is not a roster's. */
export async function readChain(file: string): Promise<RosterChain> {
  const text = await readText(file);
  try {
    return RosterChain.open(nativeSuite, parseRosterFile(text));
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : 'is no roster file'}`);
  }
}

/** Replaces the file whole, so that a reader never sees half of it. Throws `UsageError` where it cannot be written. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  await workOnPath(file, async () => {
    await writeFile(`${file}.new`, textOf(value));
    try {
      await rename(`${file}.new`, file);
    } finally {
      await rm(`${file}.new`, { force: true });
    }
  });
}

export function textOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function readShape<Shape extends TSchema>(file: string, what: string, shape: Shape): Promise<Static<Shape>> {
  const text = await readText(file);
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw new UsageError(`${file} is not JSON`);
  }
  if (Compile(shape).Check(value)) return value;
  throw new UsageError(`${file} is not ${what}`);
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}
