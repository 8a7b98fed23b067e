import type { AttestationRecord } from '../../protocol/chain/record.ts';
import { facetText } from '../../protocol/frameworks/facet.ts';
import { countsAsUse } from '../accounts/limits/usage-table.ts';
import { mayMention } from '../governance/agents/agent-tally-table.ts';
import { sourceName } from '../records/chain-tables.ts';
import type { Projection } from '../records/projection.ts';
import { COMMON_PROJECTIONS } from '../records/record-tables.ts';
import { OWN_PROJECTIONS } from '../services/projections.ts';

/** What many records of a group have in common. */
export interface SharedFacts extends Pick<AttestationRecord, 'account' | 'sourceId' | 'submittedAt'> {
  /** Of account and source (`sourceName`). */
  readonly source: string;
  /** What they are counted under (`facetText`). */
  readonly facet: string;
  /** Whether they count as their account's use (`countsAsUse`). */
  readonly isUse: boolean;
}

/**
 * What is compared of every record along a chain. A thread hands over a fifth of what it would have to of it all: what
 * records share is one object to them, and stays one.
 */
export interface RecordFacts extends Pick<AttestationRecord, 'id' | 'seq' | 'sourcePrev' | 'sourceSeq'> {
  readonly shared: SharedFacts;
}

/** Makes the facts of records, of which those with the same shared facts get one object. */
export class FactsMaker {
  readonly #shared = new Map<string, SharedFacts>();

  factsOf(record: AttestationRecord): RecordFacts {
    const { id, seq, sourcePrev, sourceSeq } = record;
    return { id, seq, sourcePrev, sourceSeq, shared: this.#sharedOf(record) };
  }

  #sharedOf(record: AttestationRecord): SharedFacts {
    const { account, sourceId, submittedAt } = record;
    const [source, facet, isUse] = [sourceName(record), facetText(record), countsAsUse(record)];
    // Neither a time nor a facet holds a line break.
    const name = `${submittedAt} ${isUse} ${facet}\n${source}`;
    const known = this.#shared.get(name);
    if (known !== undefined) return known;
    const made = { account, sourceId, submittedAt, source, facet, isUse };
    this.#shared.set(name, made);
    return made;
  }
}

/**
 * Whether rows follow from a record beside those that every record has: of a projection, or where it is the node's own,
 * of an agent that it names or whose record it is about. What own records alone make is asked of no other: nothing
 * bounds what a peer's record says but its shape.
 */
export function hasFurtherRows(record: AttestationRecord, isOwn: boolean): boolean {
  const hasRows = ({ rowsOf }: Projection): boolean => rowsOf(record).length > 0;
  return COMMON_PROJECTIONS.some(hasRows) || (isOwn && (mayMention(record) || OWN_PROJECTIONS.some(hasRows)));
}
