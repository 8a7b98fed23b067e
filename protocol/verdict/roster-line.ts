import type { Sha256Hash } from '../hash.ts';
import type { Roster } from '../log/roster.ts';
import type { PlacedDecision } from './placed-decision.ts';

/** A roster and the place in the log from which it is in force; the genesis has none before it. */
export interface RosterPlace {
  readonly roster: Roster;
  readonly text: string;
  readonly hash: Sha256Hash;
  readonly decision: PlacedDecision | null;
  /** Whether the verifier knows it, so that it needs no majority to say so. */
  readonly isKnown: boolean;
}

/** The rosters of a federation from the genesis on, each linked to the one before, and the one that is pinned. */
export class RosterLine {
  readonly genesis: RosterPlace;
  readonly places: readonly RosterPlace[];
  /** The roster that the verifier trusts; the genesis where it pinned none. */
  readonly pin: RosterPlace;

  constructor(genesis: RosterPlace, later: readonly RosterPlace[], pin: RosterPlace) {
    this.genesis = genesis;
    this.places = [genesis, ...later];
    this.pin = pin;
  }

  /** The federation, as statements name it. */
  get federation(): Sha256Hash {
    return this.genesis.hash;
  }

  /** The roster in force where a decision of that index is made. */
  inForceAt(index: number): RosterPlace {
    return this.upTo(index).at(-1) ?? this.genesis;
  }

  /** Rosters that came into force before that place of the log; all of them where there is no place. */
  upTo(index: number | null): readonly RosterPlace[] {
    if (index === null) return this.places;
    return this.places.filter(({ decision }) => decision === null || decision.value.index < index);
  }

  /** Rosters that members may be counted within: the one in force there or a later one, none older than the pin. */
  countedFor(index: number): readonly RosterPlace[] {
    const oldest = Math.max(this.inForceAt(index).roster.version, this.pin.roster.version);
    return this.places.slice(oldest - 1);
  }

  /** Whose majority brought a roster into force: that of the roster before it, or of the pin where that is later. */
  judgeOf({ roster }: RosterPlace): Roster {
    const before = Math.max(roster.version - 1, this.pin.roster.version);
    return this.places[before - 1]?.roster ?? this.pin.roster;
  }
}
