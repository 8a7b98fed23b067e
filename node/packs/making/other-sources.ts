import type { NodeId } from '../../../protocol/ids.ts';
import type { PackQuestion } from '../../../protocol/pack/manifest.ts';
import { BodyReader } from '../../records/sources/body-reader.ts';
import { seqAt, sourceIndex } from '../../records/sources/source-index.ts';
import { SourceRecords } from '../../records/sources/source-records.ts';
import { sourceKey } from '../../records/sources/sources.ts';
import type { Reads } from '../../store/store.ts';
import type { OtherSources } from '../report/report.ts';

/** Sources that the report names. */
const MAX_NAMED = 100;
/** Sorts right after `/`: the end of everything below a key. */
const AFTER_SLASH = '0';
const FIRST = 1;

/** Sources of the account that have a record of this node within the answer's reach, and were not asked for. */
export async function otherSources(
  store: Reads,
  { account, sources }: PackQuestion,
  reach: { readonly node: NodeId; readonly seq: number } | undefined,
): Promise<OtherSources> {
  if (reach === undefined) return { count: 0, names: [] };
  const asked = new Set(sources.map(sourceKey));
  const reads = { store, node: reach.node, bodies: new BodyReader(store, reach.node) };
  const names: string[] = [];
  let count = 0;
  for await (const [source, firstSeq] of sourceKeysOf(store, account)) {
    if (asked.has(source) || firstSeq > reach.seq) continue;
    count++;
    if (names.length >= MAX_NAMED) continue;
    const first = await new SourceRecords(reads, account, source).at(FIRST);
    if (first.state === 'whole') names.push(first.record.sourceId);
  }
  return { count, names: names.sort() };
}

/** Key parts of the sources of an account, each with the seq of its first record. */
async function* sourceKeysOf(store: Reads, account: string): AsyncGenerator<readonly [source: string, seq: number]> {
  const under = `${sourceIndex.key(account)}/`;
  const end = sourceIndex.key(account) + AFTER_SLASH;
  let row = await store.first({ gte: under, lt: end });
  while (row !== undefined) {
    const [source = ''] = row[0].slice(under.length).split('/');
    yield [source, seqAt(sourceIndex.decode(row[1]), 0) ?? 0];
    row = await store.first({ gt: under + source + AFTER_SLASH, lt: end });
  }
}
