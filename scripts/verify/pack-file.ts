import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { fileSource } from '../../node/packs/making/file-source.ts';
import { judgePack } from '../../protocol/pack/judge-pack.ts';
import type { PackVerdict, PackWord } from '../../protocol/pack/pack-verdict.ts';
import type { RunningHash, Suite } from '../../protocol/suite/suite.ts';
import type { Known } from '../../protocol/verdict/known.ts';
import { plain } from './report.ts';
import { MEANINGS } from './words.ts';

/** How a ZIP begins. */
const ZIP_MARK = 'PK\u0003\u0004';
/** Steps of a progress bar. */
const BAR_STEPS = 40;

const PACK_MEANINGS: Readonly<Record<Exclude<PackWord, keyof typeof MEANINGS>, string>> = {
  'not-whole': 'a file in it was changed, or is missing, or something stands there that was not asked for',
  'not-signed-by-node': 'its manifest is not signed by the node that it names',
  'not-signed-by-home': 'it holds no record, and its node is not the home of the account, or no member any more',
  'sequence-broken': 'a record is missing from the sequence of its source',
};

/** Whether a file is a ZIP, as packs of evidence are. Throws what the system throws. */
export async function isPackFile(path: string): Promise<boolean> {
  await using file = await open(path);
  if (!(await file.stat()).isFile()) return false;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(ZIP_MARK.length), 0, ZIP_MARK.length, 0);
  return bytesRead === ZIP_MARK.length && buffer.toString('latin1') === ZIP_MARK;
}

/** The verdict on a pack on the disk; `progress`: where a bar is drawn, null where nobody looks. Throws what the system throws. */
export async function judgePackFile(
  suite: Suite,
  path: string,
  known: Known,
  progress: NodeJS.WriteStream | null,
): Promise<PackVerdict> {
  await using file = await open(path);
  let steps = -1;
  const onProgress = (done: number, records: number): void => {
    const now = Math.floor(done * BAR_STEPS);
    if (progress === null || now === steps) return;
    steps = now;
    progress.write(`\r[${'#'.repeat(now).padEnd(BAR_STEPS, '.')}] ${records} records`);
  };
  const source = await fileSource(file);
  const verdict = await judgePack(source, { suite, newHash: nodeHash, known, onProgress });
  progress?.write(`\r${' '.repeat(BAR_STEPS + 30)}\r`);
  return verdict;
}

function nodeHash(): RunningHash {
  const hasher = createHash('sha256');
  return { update: (bytes) => void hasher.update(bytes), hex: () => hasher.digest('hex') };
}

/** The word of a verdict on a pack and what it says. */
export function packHeadline({ word, verified }: Pick<PackVerdict, 'verified' | 'word'>): string {
  const meaning = { ...MEANINGS, ...PACK_MEANINGS }[word];
  return `${verified ? 'VERIFIED' : `NOT VERIFIED (${word})`}: ${meaning}`;
}

/** What a person reads of a verdict on a pack, line by line: the word first, and again at the end. */
export function packReport(verdict: PackVerdict, pinnedBy: string | null): readonly string[] {
  const headline = packHeadline(verdict);
  return [
    headline,
    ...aboutLines(verdict),
    `records     ${verdict.records} of ${verdict.sources} sources: ${countsOf(verdict.words)}`,
    ...limitLines(verdict),
    federationLine(verdict, pinnedBy),
    ...packProblemLines(verdict, ''),
    headline,
  ].map(plain);
}

/** What speaks against a pack, a line each. */
export function packProblemLines({ problems, problemCount }: PackVerdict, indent: string): readonly string[] {
  const lines = problems.map(({ code, path, id, detail }) => {
    const place = [path ?? 'the container', id].filter((part) => part !== null).join(' ');
    return plain(`${indent}problem     ${code}: ${place}: ${detail}`);
  });
  const more = problemCount - problems.length;
  return more === 0 ? lines : [...lines, `${indent}problem     and ${more} more`];
}

function aboutLines({ manifest, manifestHash }: PackVerdict): readonly string[] {
  if (manifest === null) return ['pack        its manifest does not read'];
  const { node, question, generator, catalogueVersion } = manifest;
  const { account, sources, from, to, asOf, disclosure } = question;
  return [
    `pack        made by node ${node} with ${generator}, catalogue ${catalogueVersion}`,
    `who         account ${account}, sources ${sources.join(', ')}`,
    `when        from ${from} to ${to}, as of ${asOf}; ${disclosure ? 'with' : 'without'} contents`,
    `manifest    ${manifestHash ?? 'unreadable'}: the node made a record of this hash, which a bundle of it proves`,
  ];
}

function countsOf(words: PackVerdict['words']): string {
  const counts = Object.entries(words).map(([word, count]) => `${count} ${word}`);
  return counts.length === 0 ? 'none' : counts.join(', ');
}

/** What nobody can read out of the pack, where it matters. */
function limitLines(verdict: PackVerdict): readonly string[] {
  const { openBegins, openEnds, elsewhere, emptyCount, disclosed } = verdict;
  return [
    ...(disclosed > 0 ? [`contents    ${disclosed} are those that were recorded`] : []),
    ...(openBegins > 0
      ? [
          `begin       that no record of the period came before the first one of ${openBegins} sources is the node’s word`,
        ]
      : []),
    ...(openEnds > 0
      ? [`end         that no record followed the last one of ${openEnds} sources is the node’s word`]
      : []),
    ...(emptyCount > 0 ? [`nothing     of ${emptyWords(verdict)}: the node’s word too`] : []),
    ...(elsewhere > 0 ? [`elsewhere   ${elsewhere} were made by other nodes than the account’s home`] : []),
  ];
}

function emptyWords({ emptySources, emptyCount }: PackVerdict): string {
  const named = emptySources.map(({ sourceId, node }) => `${sourceId} at ${node}`).join(', ');
  const more = emptyCount - emptySources.length;
  return more === 0 ? named : `${named}, and ${more} more`;
}

function federationLine({ federation, pinned }: PackVerdict, pinnedBy: string | null): string {
  const pin =
    pinned === null
      ? 'NOT pinned'
      : `pinned by ${pinnedBy ?? 'what is known'}: roster ${pinned.version} ${pinned.hash}`;
  return `federation  ${federation ?? 'unreadable'} (${pin})`;
}
