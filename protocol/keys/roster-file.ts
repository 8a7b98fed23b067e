import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { parseJson } from '../json/parse.ts';
import { RosterError } from '../log/roster-error.ts';
import { type SignedRoster, SignedRosterShape } from './signed-roster.ts';

const compiled = Compile(Type.Array(SignedRosterShape, { minItems: 1, maxItems: 1024 }));

/** A roster file is the JSON array of a bundle's `rosters`, from genesis on. Throws `RosterError` `malformed`. */
export function parseRosterFile(text: string): readonly SignedRoster[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new RosterError('malformed', `the roster file is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
  if (!compiled.Check(value)) throw new RosterError('malformed', 'the roster file is not an array of signed rosters');
  return value;
}
