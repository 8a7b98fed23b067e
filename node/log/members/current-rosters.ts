import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import type { Roster } from '../../../protocol/log/roster.ts';
import { nativeSuite } from '../../keys/native-suite.ts';
import { type FederationLog, LogDamagedError } from '../federation-log.ts';
import { contradictionOf, newestRosters, type RosterContradiction } from './given-rosters.ts';

/** The log that says which rosters are in force. */
export type RosterSource = Pick<FederationLog, 'keepRoster' | 'rosterText' | 'state'>;

/**
 * The rosters that this node goes by: those that its log has put in force, and until the log has reached them those
 * after them that it was given at its start (protocol §3). Where the log comes to another one, the log wins.
 *
 * Ownership: both chains are moved by `follow` alone, which the log's follower calls after each write of the log.
 */
export class CurrentRosters {
  readonly #log: RosterSource;
  readonly #given: RosterChain;
  #inForce: RosterChain;
  #newest: RosterChain;
  readonly #listeners = new Set<(roster: Roster) => void>();

  private constructor(log: RosterSource, given: RosterChain) {
    this.#log = log;
    this.#given = given;
    this.#inForce = given.upTo(1);
    this.#newest = given;
  }

  /**
   * Goes on from the log, and keeps the texts that were given: the log may come to need them. Throws `LogDamagedError`.
   */
  static async open(log: RosterSource, given: RosterChain): Promise<CurrentRosters> {
    for (const text of given.texts) await log.keepRoster(text);
    const currentRosters = new CurrentRosters(log, given);
    await currentRosters.follow();
    return currentRosters;
  }

  /**
   * The newest rosters that are known: who is a member, who is dialled and by whose identity keys statements are
   * judged.
   */
  get chain(): RosterChain {
    return this.#newest;
  }

  /** The rosters in force by the log. */
  get inForce(): RosterChain {
    return this.#inForce;
  }

  /** Where the log came to another roster than this node was given; null while it did not. */
  get contradiction(): RosterContradiction | null {
    return contradictionOf(this.#given, this.#inForce);
  }

  /** Calls `listener` with the newest roster whenever one came into force. Returns what ends that. */
  onRoster(listener: (roster: Roster) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Takes over the rosters that the log has put in force since. Throws `LogDamagedError` where it lacks their texts.
   */
  async follow(): Promise<void> {
    const decided = this.#log.state.rosters.slice(this.#inForce.rosters.length);
    if (decided.length === 0) return;
    const texts = await Promise.all(decided.map(({ hash }) => this.#textOf(hash)));
    this.#inForce = this.#inForce.follow(nativeSuite, ...texts);
    this.#newest = newestRosters(this.#given, this.#inForce);
    for (const listener of this.#listeners) listener(this.#newest.current);
  }

  async #textOf(hash: Sha256Hash): Promise<string> {
    const text = await this.#log.rosterText(hash);
    if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
    return text;
  }
}
