import { hashText, type Sha256Hash } from '../hash.ts';
import { RosterError } from '../log/roster-error.ts';
import { RosterHistory } from '../log/roster-history.ts';
import { judgeAfter, judgeGenesis } from '../log/roster-rules.ts';
import { StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { RosterEntry } from './bundle.ts';
import type { Known, LogView } from './known.ts';
import { PlacedDecision } from './placed-decision.ts';
import { messageOf, problem, type Problem } from './problem.ts';
import { requireDecided, RosterLineError } from './roster-links.ts';
import { RosterLine, type RosterPlace } from './roster-line.ts';

/** The rosters to judge by; null where they do not join, or are not those that the verifier trusts. */
export interface JoinedRosters {
  readonly line: RosterLine | null;
  readonly problems: readonly Problem[];
}

/**
 * Joins the rosters of a bundle to those that the verifier knows and to its pin (protocol §5). Costs hashes alone: a
 * foreign federation is refused before any signature, and before its rosters are read. Where a bundle says otherwise
 * than what is known, it is contradicted, and what is known is judged by.
 */
export function joinRosters(suite: Suite, entries: readonly RosterEntry[], known: Known): JoinedRosters {
  const taken = knownEntries(known);
  const refusal = foreignProblem(suite, entries, taken, known);
  if (refusal !== null) return { line: null, problems: [refusal] };
  const otherwise = entries.findIndex((entry, i) => saysOtherwise(suite, entry, taken[i], known.log));
  const later = otherwise >= 0 ? [] : entries.slice(taken.length);
  const problems = otherwise < 0 ? [] : [contradiction(otherwise + 1)];
  try {
    return { line: lineOf(suite, [...taken, ...later], taken.length, known), problems };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const broken = problem('rosters', 'bundleBinding', 'rosters-broken', messageOf(error));
    return { line: null, problems: [...problems, broken] };
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof RosterError || error instanceof RosterLineError || error instanceof StatementError;
}

function knownEntries({ log, rosters }: Known): readonly RosterEntry[] {
  if (log === undefined) return rosters ?? [];
  return log.rosters.map(({ text, decision }) => ({
    text,
    decision: decision === null ? null : { text: decision, paths: [] },
  }));
}

function foreignProblem(
  suite: Suite,
  entries: readonly RosterEntry[],
  taken: readonly RosterEntry[],
  { pin }: Known,
): Problem | null {
  const hashes = [...entries, ...taken].map(({ text }) => hashOf(suite, text));
  const [genesis, knownGenesis] = [hashes[0], hashes[entries.length]];
  if (knownGenesis !== undefined && knownGenesis !== genesis) {
    return foreign(`the bundle is of federation ${genesis}, not ${knownGenesis}`);
  }
  if (pin === undefined || hashes.includes(pin)) return null;
  return foreign(`no roster of federation ${genesis} is ${pin}`);
}

function foreign(detail: string): Problem {
  return problem('pin', 'bundleBinding', 'federation-mismatch', detail);
}

/** Null for a text that is no Unicode: it is no roster either, and nothing is pinned by it. */
function hashOf(suite: Suite, text: string): Sha256Hash | null {
  return text.isWellFormed() ? hashText(suite, text) : null;
}

/** Of a roster that is not known yet, the log may know that another decision stands at the place of its own. */
function saysOtherwise(
  suite: Suite,
  { text, decision }: RosterEntry,
  taken: RosterEntry | undefined,
  log: LogView | undefined,
): boolean {
  if (taken !== undefined) return taken.text !== text || taken.decision?.text !== decision?.text;
  if (log === undefined || decision === null) return false;
  try {
    const standing = log.decisionAt(new PlacedDecision(suite, decision).value.index);
    return standing !== undefined && standing !== decision.text;
  } catch (error) {
    // What does not read joins nothing: `lineOf` says so.
    if (error instanceof StatementError) return false;
    throw error;
  }
}

function contradiction(version: number): Problem {
  return problem('contradicted', 'bundleBinding', 'known-otherwise', `roster ${version} is another one`);
}

function lineOf(suite: Suite, entries: readonly RosterEntry[], taken: number, known: Known): RosterLine {
  const [first, ...rest] = entries;
  if (first === undefined || first.decision !== null) throw new RosterLineError('a genesis roster has no decision');
  const hash = requiredHash(suite, first.text);
  const roster = judgeGenesis(first.text);
  const genesis: RosterPlace = { roster, text: first.text, hash, decision: null, isKnown: taken > 0 };
  const history = new RosterHistory(suite, roster, hash);
  const places: RosterPlace[] = [genesis];
  for (const entry of rest) {
    const place = placeOf(suite, entry, history, places.length < taken);
    requireDecided(genesis.hash, places.at(-1) ?? genesis, place.hash, place.decision);
    history.add(suite, place.roster, place.hash);
    places.push(place);
  }
  return new RosterLine(genesis, places.slice(1), pinOf(places, genesis, taken, known));
}

/** A roster that may follow those of the history (protocol §2), and its decision. */
function placeOf(
  suite: Suite,
  { text, decision }: RosterEntry,
  history: RosterHistory,
  isKnown: boolean,
): RosterPlace & { readonly decision: PlacedDecision } {
  const hash = requiredHash(suite, text);
  const roster = judgeAfter(suite, history, text);
  if (decision === null) throw new RosterLineError(`roster ${roster.version} stands without its decision`);
  return { roster, text, hash, decision: new PlacedDecision(suite, decision), isKnown };
}

function requiredHash(suite: Suite, text: string): Sha256Hash {
  const hash = hashOf(suite, text);
  if (hash === null) throw new RosterLineError('the text of a roster holds a lone surrogate');
  return hash;
}

/** The pinned roster: the one that is named, else the last of a roster file; by a node's own log, the genesis. */
function pinOf(places: readonly RosterPlace[], genesis: RosterPlace, taken: number, { pin, log }: Known): RosterPlace {
  const found = pin === undefined ? undefined : places.find(({ hash }) => hash === pin);
  if (pin !== undefined && found === undefined) throw new RosterLineError(`no roster in force is ${pin}`);
  if (found !== undefined) return found;
  return log === undefined ? (places[taken - 1] ?? genesis) : genesis;
}
