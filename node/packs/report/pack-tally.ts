import type { AttestationRecord } from '../../../protocol/chain/record.ts';
import { isNotification } from '../../../protocol/compliance/incident-state.ts';
import { NOT_APPLICABLE_EVENT } from '../../../protocol/frameworks/event-types.ts';
import { isListed } from '../../../protocol/frameworks/evidence-kinds.ts';
import { coarseFacetText, facetText, readFacet } from '../../../protocol/frameworks/facet.ts';
import { isOfTest } from '../../../protocol/frameworks/record-view.ts';
import type { FacetTally } from '../../../protocol/frameworks/tallies.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import type { PackManifest, PackQuestion } from '../../../protocol/pack/manifest.ts';
import { SourceSequences } from '../../../protocol/pack/source-sequences.ts';
import type { RecordKind } from '../../../protocol/statement/vocabulary.ts';
import type { RecordTaker } from '../making/record-stage.ts';

/** Facets that are kept apart; records of further ones are counted by fewer facts. */
const MAX_FACETS = 5_000;
/** Records that the report looks at one by one: of governance, overrides and notifications. */
const MAX_LOOKED_AT = 20_000;
/** Gaps that the report names. */
const MAX_GAPS = 1_000;
const FIRST_IDS = 3;

/** One source at one node, as far as the pack has it. */
export interface SourceRow {
  readonly node: NodeId;
  readonly sourceId: string;
  /** Records within the period. */
  count: number;
  first: AttestationRecord | null;
  last: AttestationRecord | null;
  /** Its neighbours: of before the period the last one before the first within, of after it the first after the last. */
  before: AttestationRecord | null;
  after: AttestationRecord | null;
}

/** A record that is not in the pack, or does not follow the one before it. */
export interface GapRow {
  readonly node: NodeId;
  readonly seq: number;
  readonly detail: string;
}

/** What the records of a pack come to, in bounded memory. */
export class PackTally implements RecordTaker {
  readonly sources = new Map<string, SourceRow>();
  readonly kinds = new Map<RecordKind, number>();
  /** Records of the period and before it that are looked at one by one, in order. */
  readonly lookedAt: AttestationRecord[] = [];
  readonly gaps: GapRow[] = [];
  readonly erasedIds: RecordId[] = [];
  /** Gaps, those that are not named too. */
  gapCount = 0;
  /** Records of the period, and of them those of test and staging. */
  within = 0;
  ofTest = 0;
  /** Kinds of which there were more records to look at than are kept. */
  readonly cutKinds = new Set<RecordKind>();
  readonly #maxLookedAt: number;
  readonly #question: PackQuestion;
  readonly #sequences: SourceSequences;
  readonly #facets = new Map<string, { count: number; first: RecordId[]; last: RecordId }>();

  constructor(question: PackQuestion, reach: PackManifest['reach'], maxLookedAt = MAX_LOOKED_AT) {
    this.#question = question;
    this.#maxLookedAt = maxLookedAt;
    this.#sequences = new SourceSequences(question, reach);
  }

  /** Counts of the period by what clauses can ask for, those of test and staging apart. */
  counts(): readonly FacetTally[] {
    return [...this.#facets].flatMap(([text, tally]) => {
      const facet = readFacet(text);
      if (facet === undefined) throw new RangeError(`${text} is no facet of records`);
      return facet.environment === 'test' || facet.environment === 'staging' ? [] : [{ facet, ...tally }];
    });
  }

  take(record: AttestationRecord, leaf: Sha256Hash): void {
    for (const { detail } of this.#sequences.take(record, leaf)) this.#gap({ ...record, detail });
    const row = this.#rowOf(record);
    const { from, to } = this.#question;
    if (record.submittedAt < from) {
      if (row.first === null) row.before = record;
    } else if (record.submittedAt >= to) row.after ??= record;
    else this.#takeWithin(row, record);
  }

  missing(node: NodeId, seq: number): void {
    this.#gap({ node, seq, detail: 'it is not in the store of the node that made the pack as it was signed' });
  }

  erased(id: RecordId): void {
    this.erasedIds.push(id);
  }

  #takeWithin(row: SourceRow, record: AttestationRecord): void {
    row.count++;
    row.first ??= record;
    row.last = record;
    row.after = null;
    this.within++;
    if (isOfTest(record)) this.ofTest++;
    this.kinds.set(record.kind, (this.kinds.get(record.kind) ?? 0) + 1);
    this.#countFacet(record);
    if (!isLookedAt(record)) return;
    if (this.lookedAt.length < this.#maxLookedAt) this.lookedAt.push(record);
    else this.cutKinds.add(record.kind);
  }

  #countFacet(record: AttestationRecord): void {
    const exact = facetText(record);
    const text = this.#facets.has(exact) || this.#facets.size < MAX_FACETS ? exact : coarseFacetText(exact);
    const known = this.#facets.get(text);
    if (known === undefined) {
      this.#facets.set(text, { count: 1, first: [record.id], last: record.id });
      return;
    }
    known.count++;
    known.last = record.id;
    if (known.first.length < FIRST_IDS) known.first.push(record.id);
  }

  #rowOf({ node, sourceId }: AttestationRecord): SourceRow {
    const name = `${node} ${sourceId}`;
    const known = this.sources.get(name);
    if (known !== undefined) return known;
    const row: SourceRow = { node, sourceId, count: 0, first: null, last: null, before: null, after: null };
    this.sources.set(name, row);
    return row;
  }

  #gap({ node, seq, detail }: GapRow): void {
    this.gapCount++;
    if (this.gaps.length < MAX_GAPS) this.gaps.push({ node, seq, detail });
  }
}

/** Whether the rules, or a table of the report, look at a record by itself. */
function isLookedAt(record: AttestationRecord): boolean {
  const { kind, claims } = record;
  return (
    isListed(kind) ||
    kind === 'human_override' ||
    isNotification(record) ||
    (kind === 'decision' && claims.eventType === NOT_APPLICABLE_EVENT)
  );
}
