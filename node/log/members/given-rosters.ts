import { readFile } from 'node:fs/promises';
import Type from 'typebox';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import { type GivenRosters, parseRosterFile } from '../../../protocol/keys/roster-file.ts';
import { SignedRosterShape } from '../../../protocol/keys/signed-roster.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { DECISION_STATE_ROW, decisionStateTable, rosterTextTable } from '../log-tables.ts';
import type { Rows } from '../../store/store.ts';
import { jsonTable } from '../../store/table.ts';

/** One row: the rosters that the node was given at its last start. */
export const givenRostersTable = jsonTable(
  'given-rosters',
  Type.Unsafe<GivenRosters>(Type.Object({ genesis: SignedRosterShape, later: Type.Array(Type.String()) })),
);
export const GIVEN_ROSTERS_ROW = 'given';

/** The configured roster file cannot be read, or is of another federation than the store. */
export class RosterFileError extends Error {
  override readonly name = 'RosterFileError';
}

/** At this version the log came to another roster than the node was given. */
export interface RosterContradiction {
  readonly version: number;
  readonly given: Sha256Hash;
  readonly inForce: Sha256Hash;
}

/** Throws `RosterFileError` where the file cannot be read, `RosterError` where it holds something else. */
export async function readRosterFile(file: string): Promise<GivenRosters> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new RosterFileError(`the roster file ${file} cannot be read: ${code}`);
  }
  return parseRosterFile(text);
}

/**
 * Checks the rosters that a node is given at its start, and keeps them: the store alone then shows who founded the
 * federation. Throws `RosterError` where they do not hold, `RosterFileError` where the store belongs to another
 * federation.
 */
export async function openGivenRosters(store: Rows, given: GivenRosters): Promise<RosterChain> {
  const chain = RosterChain.open(nativeSuite, given);
  const stored = await givenRostersTable.get(store, GIVEN_ROSTERS_ROW);
  if (stored !== undefined && hashText(nativeSuite, stored.genesis.statement) !== chain.genesis) {
    throw new RosterFileError('the store belongs to another federation than the configured roster');
  }
  if (JSON.stringify(stored) !== JSON.stringify(given)) {
    await store.write([givenRostersTable.put([GIVEN_ROSTERS_ROW], given)]);
  }
  return chain;
}

/** The rosters that a store's node was given last; null where it was never given any. Throws `RosterError`. */
export async function readGivenRosters(store: Rows): Promise<RosterChain | null> {
  const row = await givenRostersTable.get(store, GIVEN_ROSTERS_ROW);
  return row === undefined ? null : RosterChain.open(nativeSuite, row);
}

/**
 * The newest rosters that a store knows, from the texts that it keeps; null where its node was never given any. Throws
 * `RosterError` where they do not hold.
 */
export async function readNewestRosters(store: Rows): Promise<RosterChain | null> {
  const given = await readGivenRosters(store);
  if (given === null) return null;
  const state = await decisionStateTable.get(store, DECISION_STATE_ROW);
  const texts: string[] = [];
  for (const { hash } of state?.rosters.slice(1) ?? []) {
    const text = await rosterTextTable.get(store, hash);
    if (text === undefined) break;
    texts.push(text);
  }
  return newestRosters(given, given.upTo(1).follow(nativeSuite, ...texts));
}

/** The newest rosters that a node knows: those in force by its log, and those after them that it was given. */
export function newestRosters(given: RosterChain, inForce: RosterChain): RosterChain {
  if (contradictionOf(given, inForce) !== null) return inForce;
  return given.rosters.length > inForce.rosters.length ? given : inForce;
}

/** Where the log came to another roster than was given; null while it did not. */
export function contradictionOf(given: RosterChain, inForce: RosterChain): RosterContradiction | null {
  for (const [i, hash] of inForce.hashes.entries()) {
    const other = given.hashes[i];
    if (other !== undefined && other !== hash) return { version: i + 1, given: other, inForce: hash };
  }
  return null;
}
