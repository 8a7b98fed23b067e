import { homeOf } from '../../../protocol/accounts/account-id.ts';
import { PACK_FILES, type PackManifest } from '../../../protocol/pack/manifest.ts';
import { RECORD_KINDS } from '../../../protocol/statement/vocabulary.ts';
import type { ErasedRecord } from '../making/erased-file.ts';
import { erasureSection, incidentSection, retentionSection, reviewSection } from './duty-sections.ts';
import { gapSection } from './gap-section.ts';
import type { PackTally, SourceRow } from './pack-tally.ts';
import { type ReportDocument, type ReportSection, tableOf, timeWords } from './report-document.ts';

/** Sources of the account that are not in the pack, and how many of them are named. */
export interface OtherSources {
  readonly count: number;
  readonly names: readonly string[];
}

export interface ReportFacts {
  readonly manifest: Omit<PackManifest, 'files'>;
  readonly tally: PackTally;
  readonly erased: readonly ErasedRecord[];
  readonly replaced: readonly { readonly path: string; readonly reason: string }[];
  /** Lines of the account's log that are in it. */
  readonly auditLines: number;
  readonly others: OtherSources;
}

/** The report of a pack, from its own records. The same facts make the same report. */
export function packReport(facts: ReportFacts): ReportDocument {
  const { manifest, tally, erased } = facts;
  const { question } = manifest;
  return {
    title: `Evidence pack of ${question.account}`,
    cover: coverOf(facts),
    introduction: [
      'What was recorded of these sources in this period, with proofs that need nobody’s word. It shows what was ' +
        'recorded, when and by which node; never that a law is complied with, and nothing of what was not recorded.',
      'This page proves nothing by itself. The records and their proofs stand in the files beside it, and a verifier in ' +
        'one file, which works with no network, checks them: README.txt says how, and where a verifier comes from that ' +
        'you can trust.',
    ],
    sections: [
      scopeSection(manifest, tally),
      gapSection(question, tally),
      incidentSection(question, tally),
      reviewSection(question, tally),
      retentionSection(question, tally),
      continuitySection(manifest, tally),
      erasureSection(erased),
      notAskedSection(facts),
    ],
  };
}

function coverOf({ manifest, tally }: ReportFacts): ReportDocument['cover'] {
  const { question, node, records } = manifest;
  return [
    ['Account', question.account],
    ['Made by node', node],
    ['Home of the account', homeOf(question.account) ?? node],
    ['Period', `${timeWords(question.from)}, included, to ${timeWords(question.to)}, not included`],
    ['As of', timeWords(question.asOf)],
    ['Records', `${records} in the pack, ${tally.within} of them within the period`],
    ['Sources', String(question.sources.length)],
    ['Contents', question.disclosure ? 'disclosed: handle the files as you would the contents' : 'not in any file'],
    ['Catalogue of frameworks', manifest.catalogueVersion],
    ['Format', `${manifest.format}, by ${manifest.generator}`],
  ];
}

function scopeSection({ question, reach }: ReportFacts['manifest'], tally: PackTally): ReportSection {
  const { systems } = question;
  return {
    id: 'scope',
    title: 'Scope',
    paragraphs: [
      systems === null
        ? 'The sources were asked for by name.'
        : `The sources are those that the register of systems names for: ${systems.join(', ')}.`,
      `The answer reaches ${reach.map(({ node, seq }) => `record ${seq} of node ${node}`).join(', ') || 'no record'}.`,
    ],
    tables: [
      tableOf(
        'Sources',
        ['Source', 'Node', 'Records in the period', 'First', 'Last'],
        sourceRows(question.sources, tally),
        ({ sourceId, row }) => [
          sourceId,
          row?.node ?? '',
          String(row?.count ?? 0),
          timeWords(row?.first?.submittedAt),
          timeWords(row?.last?.submittedAt),
        ],
      ),
      tableOf(
        'Kinds of records in the period',
        ['Kind', 'Records'],
        [...tally.kinds].filter(([kind]) => question.kinds?.includes(kind) !== false).toSorted(byName),
        ([kind, count]) => [kind, String(count)],
      ),
    ],
  };
}

function continuitySection({ question }: ReportFacts['manifest'], tally: PackTally): ReportSection {
  const found =
    tally.gapCount === 0
      ? 'No record is missing between the first and the last of each source at each node.'
      : `${tally.gapCount} places do not follow the one before, or could not be read.`;
  return {
    id: 'continuity',
    title: 'Continuity and gaps',
    paragraphs: [
      'Each record of a source carries its number and the hash of the one before it, so that none can be left out between ' +
        'two others. ' +
        (question.withholdsBefore === true
          ? 'The neighbours after the period are in the pack to join it to what follows. Those before it are not given out: ' +
            'that no record of the period comes before the first one of a source is the word of the node, where the number ' +
            'of that one is not 1. '
          : 'The neighbours before and after the period are in the pack to join it to what is around it. ') +
        'That nothing follows the last record where there is no neighbour is the word of the node.',
      found,
    ],
    tables: [
      tableOf(
        'Numbers of the sources',
        ['Source', 'Node', 'Before the period', 'First', 'Last', 'After the period'],
        sourceRows(question.sources, tally),
        ({ sourceId, row }) => [
          sourceId,
          row?.node ?? '',
          numberOf(row?.before, question.withholdsBefore === true ? 'not given out' : 'none'),
          numberOf(row?.first, 'none'),
          numberOf(row?.last, 'none'),
          numberOf(row?.after, 'none'),
        ],
      ),
      tableOf('Gaps', ['Node', 'Record', 'What is wrong'], tally.gaps, ({ node, seq, detail }) => [
        node,
        String(seq),
        detail,
      ]),
    ],
  };
}

function notAskedSection({ manifest, others, auditLines, replaced }: ReportFacts): ReportSection {
  const { question, node } = manifest;
  const home = homeOf(question.account) ?? node;
  const left = question.kinds === null ? [] : RECORD_KINDS.filter((kind) => question.kinds?.includes(kind) === false);
  return {
    id: 'not-asked',
    title: 'What was not asked, and what is not here',
    paragraphs: [
      `Periods: what was recorded before ${timeWords(question.from)} or from ${timeWords(question.to)} on, but for the ` +
        'neighbours of the period.',
      left.length === 0
        ? 'Kinds: all kinds of records are in the tables.'
        : `Kinds that the tables and ${PACK_FILES.table} do not show, though ${PACK_FILES.records} has them: ${left.join(', ')}.`,
      others.count === 0
        ? 'Sources: the account had no other source at this node.'
        : `Sources: ${others.count} other sources of the account at this node were not asked for: ` +
          `${others.names.join(', ')}${others.count > others.names.length ? ', and more' : ''}.`,
      question.frameworks === null
        ? 'Frameworks: all of the catalogue.'
        : `Frameworks: only ${question.frameworks.join(', ')}.`,
      home === node
        ? `Key-use log: ${auditLines} lines of the period are in ${PACK_FILES.auditLog}.`
        : `Key-use log: that of the account’s home, node ${home}, is not in this pack; ${PACK_FILES.auditLog} has the ` +
          `${auditLines} lines of the period at node ${node} alone.`,
      ...(question.disclosure
        ? []
        : ['Contents: they were not asked for. Each record carries a salted hash of its content.']),
      ...replaced.map(
        ({ path, reason }) => `Replaced since an earlier pack for this question: ${path}, because ${reason}.`,
      ),
    ],
    tables: [],
  };
}

interface NamedSource {
  readonly sourceId: string;
  readonly row: SourceRow | null;
}

/** Each source with each node that has records of it; one that nobody has a record of stands there too. */
function sourceRows(sources: readonly string[], tally: PackTally): readonly NamedSource[] {
  return sources.flatMap((sourceId): NamedSource[] => {
    const rows = [...tally.sources.values()].filter((row) => row.sourceId === sourceId);
    return rows.length === 0 ? [{ sourceId, row: null }] : rows.map((row) => ({ sourceId, row }));
  });
}

function numberOf(record: { readonly sourceSeq: number } | null | undefined, otherwise: string): string {
  return record === null || record === undefined ? otherwise : String(record.sourceSeq);
}

function byName([a]: readonly [string, number], [b]: readonly [string, number]): number {
  return a < b ? -1 : 1;
}
