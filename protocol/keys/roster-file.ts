import Type from 'typebox';
import { Compile } from '../shape-check.ts';
import { parseJson } from '../json/parse.ts';
import { RosterError } from '../log/roster-error.ts';
import { MAX_ROSTER_CHARACTERS } from '../log/roster-rules.ts';
import { type SignedRoster, SignedRosterShape } from './signed-roster.ts';

/** Rosters of one file at most. */
const MAX_ROSTERS = 1_024;

const compiledGenesis = Compile(SignedRosterShape);
const compiledLater = Compile(
  Type.Array(Type.String({ minLength: 1, maxLength: MAX_ROSTER_CHARACTERS }), { maxItems: MAX_ROSTERS }),
);

/** The rosters that a node is given at its start. */
export interface GivenRosters {
  readonly genesis: SignedRoster;
  /** Texts of the rosters after it, in order of versions: they need no signatures. */
  readonly later: readonly string[];
}

/**
 * Reads a roster file: a JSON array of the genesis roster with the signatures of all its members,
 * `{"statement": TEXT, "signatures": [{"node", "signature"}]}`, and then the text of each later roster. Whether they
 * hold is for `RosterChain.open`. Throws `RosterError` `malformed`.
 */
export function parseRosterFile(text: string): GivenRosters {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new RosterError('malformed', `the roster file is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
  const [genesis, ...later]: readonly unknown[] = Array.isArray(value) ? value : [];
  if (!compiledGenesis.Check(genesis) || !compiledLater.Check(later)) {
    throw new RosterError('malformed', 'the roster file is not a signed genesis roster and the texts of later ones');
  }
  return { genesis, later };
}

/** The value whose JSON is a roster file. */
export function rosterFileValue({ genesis, later }: GivenRosters): readonly (SignedRoster | string)[] {
  return [genesis, ...later];
}
