import { homeOf } from '../accounts/account-id.ts';
import { nodeOfRecord, type NodeId, type RecordId } from '../ids.ts';
import { keyCertificateStatement } from '../keys/certificate.ts';
import type { Sha256Hash } from '../hash.ts';
import { parseJson } from '../json/parse.ts';
import { JsonError } from '../json/value.ts';
import { StatementError } from '../statement/statement.ts';
import type { RunningHash, Suite } from '../suite/suite.ts';
import { type Authority, openAuthority, type NodeKey } from '../verdict/authority.ts';
import { BUNDLE_MAX_DEPTH, type FederationFile, FederationFileShape } from '../verdict/bundle.ts';
import { signatureFault } from '../verdict/check-signed.ts';
import { FileError, fileReader } from '../verdict/file-reader.ts';
import { joinRosters } from '../verdict/join-rosters.ts';
import { isPinned, type Known } from '../verdict/known.ts';
import type { NamedRoster } from '../verdict/verdict.ts';
import type { Word } from '../verdict/word.ts';
import type { PackSource } from './container.ts';
import { PACK_FILES, type PackManifest, PackSignatureShape, packStatement } from './manifest.ts';
import { type CheckedFiles, checkFiles, wholeText } from './pack-files.ts';
import { linesOf, packErasures } from './pack-lines.ts';
import { type JudgedRecord, judgeRecords } from './pack-records.ts';
import {
  MAX_PACK_PROBLEMS,
  type PackProblem,
  type PackVerdict,
  type PackWord,
  packExitCode,
  packWordOf,
} from './pack-verdict.ts';
import { SourceSequences } from './source-sequences.ts';

/** What packs are judged by. */
export interface PackTerms {
  readonly suite: Suite;
  readonly newHash: () => RunningHash;
  readonly known: Known;
  /** Told between groups of records how much of the work is done, of 1, and how many records were judged. */
  readonly onProgress?: (done: number, records: number) => Promise<void> | void;
}

/** Of the work, what reading all bytes takes; the rest is judging the records. */
const READING_SHARE = 0.2;

const readFederation = fileReader(FederationFileShape);
const readSignature = fileReader(PackSignatureShape);

/**
 * The verdict on a pack of evidence (protocol §10): every byte is read, every record judged as a bundle is, and every source
 * followed without a gap. No more than a group of records is held at a time. Nothing is thrown on what a pack can hold,
 * only what the source throws.
 */
export async function judgePack(source: PackSource, terms: PackTerms): Promise<PackVerdict> {
  const { suite, newHash, onProgress } = terms;
  let read = 0;
  const checked = await checkFiles(suite, source, newHash, (bytes) => {
    read += bytes;
    void onProgress?.((READING_SHARE * read) / source.size, 0);
  });
  const tally = new PackTally(checked);
  const federation = await federationOf(source, checked);
  if (federation === null) tally.note('rosters-broken', PACK_FILES.federation, null, 'it does not read');
  const grounds = federation && groundsOf(suite, federation, terms.known);
  for (const detail of grounds?.faults ?? []) tally.note('rosters-broken', PACK_FILES.federation, null, detail);
  if (grounds !== null) {
    await checkSignature(source, checked, grounds.authority, tally);
    await judgeAll(source, checked, grounds, terms, tally);
  }
  return verdictOf(checked, tally, grounds);
}

/** What was found so far. */
class PackTally {
  readonly problems: PackProblem[] = [];
  readonly codes = new Set<PackProblem['code']>();
  readonly words: Partial<Record<Word, number>> = {};
  readonly nodes = new Set<NodeId>();
  records = 0;
  disclosed = 0;
  problemCount = 0;
  sequences: SourceSequences | null = null;

  constructor({ problems }: CheckedFiles) {
    for (const { code, path, id, detail } of problems) this.note(code, path, id, detail);
  }

  note(code: PackProblem['code'], path: string | null, id: RecordId | null, detail: string): void {
    this.codes.add(code);
    this.problemCount++;
    if (this.problems.length < MAX_PACK_PROBLEMS) this.problems.push({ code, path, id, detail });
  }

  count({ word, isDisclosed }: JudgedRecord): void {
    this.records++;
    this.words[word] = (this.words[word] ?? 0) + 1;
    if (isDisclosed) this.disclosed++;
  }
}

interface PackGrounds {
  /** Null where rosters or pin do not join. */
  readonly authority: Authority | null;
  readonly isPinned: boolean;
  readonly problems: Parameters<typeof judgeRecords>[1]['problems'];
  readonly faults: readonly string[];
  readonly federation: Sha256Hash | null;
  readonly pinned: NamedRoster | null;
}

async function federationOf(source: PackSource, { files }: CheckedFiles): Promise<FederationFile | null> {
  try {
    const text = await wholeText(source, files.get(PACK_FILES.federation));
    return readFederation(parseJson(text, { maxDepth: BUNDLE_MAX_DEPTH }));
  } catch (error) {
    if (error instanceof FileError || error instanceof JsonError) return null;
    throw error;
  }
}

/** Who speaks for the federation: the rosters of the pack joined to what is known, and every key that it certifies. */
function groundsOf(suite: Suite, federation: FederationFile, known: Known): PackGrounds {
  const { line, problems } = joinRosters(suite, federation.rosters, known);
  const certificates = [...(known.revocations?.keys ?? []), ...federation.keys];
  const authority = line && openAuthority(suite, federation, known, line, keysOf(certificates));
  const isJoined = problems.every(({ fact }) => fact !== 'pin');
  const pinned = line && isPinned(known) && isJoined ? { version: line.pin.roster.version, hash: line.pin.hash } : null;
  const faults = [...problems, ...(authority?.problems ?? [])].map(({ detail }) => detail);
  return { authority, isPinned: isPinned(known), problems, faults, federation: line?.federation ?? null, pinned };
}

/**
 * A key that no certificate names signs nothing: those that are certified in the pack, or by what its verifier brings,
 * are all whose revocation can matter.
 */
function keysOf(certificates: FederationFile['keys']): readonly NodeKey[] {
  return certificates.flatMap(({ statement }) => {
    try {
      const { node, keyId } = keyCertificateStatement.parse(statement);
      return [{ node, keyId }];
    } catch (error) {
      if (error instanceof StatementError) return [];
      throw error;
    }
  });
}

/** The node signed the manifest, by a key that it certified and that nobody else may have held. */
async function checkSignature(
  source: PackSource,
  { files, manifest, manifestText }: CheckedFiles,
  authority: Authority | null,
  tally: PackTally,
): Promise<void> {
  const note = (detail: string): void => tally.note('manifest-signature', PACK_FILES.signature, null, detail);
  if (manifest === null || authority === null) return;
  try {
    const signed = readSignature(parseJson(await wholeText(source, files.get(PACK_FILES.signature))));
    const { node, keyId, signature } = signed;
    if (node !== manifest.node) return note(`it is of ${node}, and the pack of ${manifest.node}`);
    const claim = { kind: packStatement, text: manifestText, signature, node, keyId, first: undefined, index: null };
    const fault = signatureFault(authority, claim);
    if (fault !== null) return note(fault.detail);
    if (!authority.withdrawals.stands(node, keyId, null)) note(`the key of ${node} that signed it was compromised`);
  } catch (error) {
    if (!(error instanceof FileError || error instanceof JsonError)) throw error;
    note(error.message);
  }
}

async function judgeAll(
  source: PackSource,
  { files, manifest }: CheckedFiles,
  grounds: PackGrounds,
  { suite, onProgress }: PackTerms,
  tally: PackTally,
): Promise<void> {
  const [batches, groups, records] = [PACK_FILES.batches, PACK_FILES.groups, PACK_FILES.records].map((name) =>
    files.get(name),
  );
  if (manifest === null || batches === undefined || groups === undefined || records === undefined) return;
  const sequences = new SourceSequences(manifest.question, manifest.reach);
  tally.sequences = sequences;
  const lines = {
    batches: linesOf(source, batches),
    groups: linesOf(source, groups),
    records: linesOf(source, records),
  };
  try {
    const erased = new Set((await erasuresOf(source, files)).map(({ attestationId }) => attestationId));
    for await (const group of judgeRecords(suite, grounds, lines)) {
      for (const judged of group) takeRecord(judged, manifest.question.disclosure, erased, sequences, tally);
      const share = tally.records / Math.max(1, manifest.records);
      await onProgress?.(Math.min(1, READING_SHARE + (1 - READING_SHARE) * share), tally.records);
    }
    for (const { id, fault } of sequences.laterRecords()) tally.note(fault.code, PACK_FILES.records, id, fault.detail);
    if (tally.records !== manifest.records) {
      const detail = `it says ${manifest.records} records, and there are ${tally.records}`;
      tally.note('manifest-mismatch', PACK_FILES.manifest, null, detail);
    }
  } catch (error) {
    if (!(error instanceof StatementError || error instanceof JsonError)) throw error;
    const after = tally.records === 0 ? '' : `, after ${tally.records} records`;
    tally.note('line-malformed', null, null, `${error.message}${after}`);
  }
}

async function erasuresOf(source: PackSource, files: CheckedFiles['files']) {
  return packErasures.parse(await wholeText(source, files.get(PACK_FILES.erasures))).erased;
}

function takeRecord(
  judged: JudgedRecord,
  disclosure: boolean,
  erased: ReadonlySet<RecordId>,
  sequences: SourceSequences,
  tally: PackTally,
): void {
  const { record, id, leaf, word, isDisclosed, detail } = judged;
  const path = PACK_FILES.records;
  tally.count(judged);
  if (word !== 'verified' && word !== 'consistent') {
    tally.note('record-does-not-hold', path, id, `${word}${detail === '' ? '' : `: ${detail}`}`);
  }
  if (record === null) return;
  tally.nodes.add(nodeOfRecord(record.id));
  for (const fault of sequences.take(record, leaf)) tally.note(fault.code, path, id, fault.detail);
  if (isDisclosed && !disclosure) tally.note('disclosure-unasked', path, id, 'its content was not asked for');
  if (disclosure && !isDisclosed && word !== 'payload-damaged' && !erased.has(record.id)) {
    tally.note('disclosure-missing', path, id, 'its content was asked for, is not there, and was not erased');
  }
}

function verdictOf(
  { manifest, manifestHash }: CheckedFiles,
  tally: PackTally,
  grounds: PackGrounds | null,
): PackVerdict {
  const { codes, words, records, disclosed, sequences, problems, problemCount, nodes } = tally;
  const word = packWordOf(codes, words, wordWhenEmpty(grounds, manifest));
  const empty = sequences?.emptySources();
  return {
    word,
    exitCode: packExitCode(word),
    verified: word === 'verified',
    manifest,
    manifestHash,
    records,
    words,
    disclosed,
    elsewhere: sequences?.elsewhere ?? 0,
    openBegins: sequences?.openBegins ?? 0,
    openEnds: sequences?.openEnds ?? 0,
    emptySources: empty?.named ?? [],
    emptyCount: empty?.count ?? 0,
    sources: sequences?.size ?? 0,
    problems,
    problemCount,
    federation: grounds?.federation ?? null,
    pinned: grounds?.pinned ?? null,
    nodes: [...nodes],
  };
}

/**
 * Of a pack without a record: what its manifest and the rosters alone come to. That there was nothing is its node's word,
 * which counts where the node is the account's home and a member.
 */
function wordWhenEmpty(grounds: PackGrounds | null, manifest: PackManifest | null): PackWord {
  if (grounds === null) return 'rosters-do-not-join';
  if (grounds.authority === null) {
    return grounds.problems.some(({ fact }) => fact === 'pin') ? 'pin-does-not-join' : 'rosters-do-not-join';
  }
  if (grounds.problems.length > 0) return 'contradicted';
  if (grounds.authority.problems.length > 0) return 'roster-without-majority';
  // A revocation of the key that signed the manifest may be among what was left unchecked.
  if (grounds.authority.signatures.isExhausted) return 'too-few-checkpoints';
  if (!grounds.isPinned) return 'consistent';
  return manifest !== null && isHome(grounds.authority, manifest) ? 'verified' : 'not-signed-by-home';
}

/** Whether a pack's node is the home of its account, and a member by the newest roster. */
function isHome({ line }: Authority, { node, question }: PackManifest): boolean {
  const isMember = line.places.at(-1)?.roster.members.some((member) => member.node === node) === true;
  return isMember && homeOf(question.account) === node;
}
