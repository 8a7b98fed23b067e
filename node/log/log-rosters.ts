import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { type FederationLog, LogDamagedError } from './federation-log.ts';

/** A roster that the log put in force, and the decisions between which it was. */
export interface LogRoster {
  readonly roster: Roster;
  /** Place of the decision that put it in force; null for the genesis. */
  readonly from: number | null;
  /** Place of the decision that replaced it; null for the one in force. */
  readonly until: number | null;
}

/** The rosters that the log put in force, read once each. */
export class LogRosters {
  readonly #log: Pick<FederationLog, 'rosterText' | 'state'>;
  readonly #read = new Map<Sha256Hash, Roster>();
  #known: { readonly of: DecisionState['rosters']; readonly rosters: readonly LogRoster[] } | undefined;

  constructor(log: Pick<FederationLog, 'rosterText' | 'state'>) {
    this.#log = log;
  }

  /** From the genesis to the one in force. Throws `LogDamagedError`. */
  async all(): Promise<readonly LogRoster[]> {
    const of = this.#log.state.rosters;
    if (this.#known?.of === of) return this.#known.rosters;
    const read = await Promise.all(of.map(({ hash }) => this.#roster(hash)));
    const rosters = read.map((roster, i): LogRoster => {
      return { roster, from: of[i]?.index ?? null, until: of[i + 1]?.index ?? null };
    });
    this.#known = { of, rosters };
    return rosters;
  }

  async #roster(hash: Sha256Hash): Promise<Roster> {
    const known = this.#read.get(hash);
    if (known !== undefined) return known;
    const text = await this.#log.rosterText(hash);
    if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
    const roster = rosterStatement.parse(text);
    this.#read.set(hash, roster);
    return roster;
  }
}

export function hasMember({ members }: Pick<Roster, 'members'>, node: NodeId): boolean {
  return members.some((member) => member.node === node);
}
