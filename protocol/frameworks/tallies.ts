import type { RecordId } from '../ids.ts';
import { type Catalogue, type Need } from './catalogue-shape.ts';
import { alternativesOf } from './condition.ts';
import { DECISION_EVENT, NOT_APPLICABLE_EVENT } from './event-types.ts';
import { type EvidenceKind } from './evidence-kinds.ts';
import { type Facet, NOT_KEPT_APART } from './facet.ts';

/** How many records of one facet there are, with the ids of its first ones and of its last. */
export interface FacetTally {
  readonly facet: Facet;
  readonly count: number;
  readonly first: readonly RecordId[];
  readonly last: RecordId;
}

export interface UnmappedEvent {
  /** `*`: several event types that were not kept apart. */
  readonly eventType: string;
  readonly count: number;
  readonly sampleIds: readonly RecordId[];
}

/** Ids shown of each kind. */
const SAMPLE_IDS = 3;

/** Counted records, by what they can evidence. */
export class Tallies {
  readonly #byKind = new Map<string, FacetTally[]>();

  constructor(tallies: Iterable<FacetTally>) {
    for (const tally of tallies) {
      const kind = kindOf(tally.facet);
      const same = this.#byKind.get(kind);
      if (same === undefined) this.#byKind.set(kind, [tally]);
      else same.push(tally);
    }
  }

  of(kind: EvidenceKind): readonly FacetTally[] {
    return this.#byKind.get(kind) ?? [];
  }

  /** Records by which their caller holds a clause not to apply. */
  notApplicable(framework: string, clause: string): readonly FacetTally[] {
    return (this.#byKind.get(`event:${NOT_APPLICABLE_EVENT}`) ?? []).filter(
      ({ facet: { notApplicable } }) => notApplicable?.framework === framework && notApplicable.clause === clause,
    );
  }

  /** Events that no clause of a catalogue is mapped to, and assertions about clauses that it does not have. */
  unmapped({ frameworks }: Catalogue): UnmappedEvent[] {
    const mapped = new Set<string>(
      frameworks.flatMap(({ clauses }) => clauses.flatMap(({ evidence }) => evidence.flatMap(({ anyOf }) => anyOf))),
    );
    const clauses = new Set(frameworks.flatMap(({ id, clauses: own }) => own.map(({ clause }) => `${id} ${clause}`)));
    const found: UnmappedEvent[] = [];
    for (const [kind, tallies] of this.#byKind) {
      if (!kind.startsWith('event:') || mapped.has(kind)) continue;
      const strange = tallies.filter(({ facet: { notApplicable } }) =>
        notApplicable === null ? true : !clauses.has(`${notApplicable.framework} ${notApplicable.clause}`),
      );
      if (strange.length > 0) found.push({ eventType: kind.slice('event:'.length), ...summaryOf(strange) });
    }
    return found.sort((a, b) => b.count - a.count || (a.eventType < b.eventType ? -1 : 1));
  }
}

/** Whether records of a facet are about a need. */
export function isAbout({ where = [] }: Need, { shown }: Facet): boolean {
  return where.every((condition) => shown !== null && holds(condition, shown));
}

export function holds(condition: string, shown: ReadonlySet<string>): boolean {
  return alternativesOf(condition).some((alternative) => alternative.holds(shown));
}

export function summaryOf(tallies: readonly FacetTally[]): { readonly count: number; readonly sampleIds: RecordId[] } {
  return {
    count: tallies.reduce((sum, { count }) => sum + count, 0),
    sampleIds: tallies.flatMap(({ first }) => first).slice(0, SAMPLE_IDS),
  };
}

function kindOf({ kind, event }: Facet): string {
  if (kind !== 'decision' || event === DECISION_EVENT) return kind;
  return `event:${event ?? NOT_KEPT_APART}`;
}
