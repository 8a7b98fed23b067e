import { AuditChainError } from '../../../protocol/audit/chain.ts';
import { type AuditLogVerdict, verifyAuditLog } from '../../../protocol/audit/walk.ts';
import { decodeUtf8, EncodingError } from '../../../protocol/bytes.ts';
import type { Sha256Hash } from '../../../protocol/hash.ts';
import { isJsonArray, JsonError, type JsonValue } from '../../../protocol/json/value.ts';
import type { PackVerdict } from '../../../protocol/pack/pack-verdict.ts';
import { judgeProof, type ProofVerdict } from '../../../protocol/proof/judge-proof.ts';
import { readProofFile } from '../../../protocol/proof/proof-file.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import type { Bundle, RosterFile } from '../../../protocol/verdict/bundle.ts';
import { FileError, fileJson } from '../../../protocol/verdict/file-reader.ts';
import { joinRosters } from '../../../protocol/verdict/join-rosters.ts';
import type { Known } from '../../../protocol/verdict/known.ts';
import { parseRosterFileText } from '../../../protocol/verdict/parse.ts';
import type { NamedRoster, Verdict } from '../../../protocol/verdict/verdict.ts';
import { verifyBundle } from '../../../protocol/verdict/verify.ts';
import { type PathStep, proofPath } from './proof-path.ts';
import { type CheckedBy, judgeWithWebCrypto } from './web-crypto-suite.ts';

/** What came of one file. */
export type Judged =
  | {
      readonly kind: 'bundle';
      readonly bundle: Bundle;
      readonly verdict: Verdict;
      readonly path: readonly PathStep[];
      readonly checkedBy: CheckedBy;
    }
  | { readonly kind: 'misbehaviour'; readonly accusation: ProofVerdict; readonly checkedBy: CheckedBy }
  | { readonly kind: 'rosters'; readonly federation: Sha256Hash; readonly newest: NamedRoster }
  | { readonly kind: 'audit-log'; readonly log: AuditLogVerdict }
  | { readonly kind: 'pack'; readonly verdict: PackVerdict }
  | { readonly kind: 'unreadable'; readonly fault: string };

/**
 * The verdict on a text in strict UTF-8 by what the visitor knows: a bundle or public proof, a proof of misbehaviour,
 * rosters, or an export of a key-use log. Rejects on nothing that a file can hold.
 */
export async function judgeText(bytes: Uint8Array, known: Known): Promise<Judged> {
  try {
    const text = textOf(bytes);
    if (isAuditLog(text)) return auditLogOf(text);
    const value = fileJson(text);
    if (isJsonArray(value)) return rostersOf(value, known);
    const file = readProofFile(value);
    if (file.kind === 'bundle') {
      const { bundle } = file;
      const judged = await judgeWithWebCrypto((suite) => verifyBundle(suite, bundle, known));
      return { kind: 'bundle', bundle, path: proofPath(nobleSuite, bundle), ...judged };
    }
    const { verdict, checkedBy } = await judgeWithWebCrypto((suite) => judgeProof(suite, file.proof, known));
    return { kind: 'misbehaviour', accusation: verdict, checkedBy };
  } catch (error) {
    const isOfFile = [FileError, JsonError, AuditChainError].some((refusal) => error instanceof refusal);
    if (isOfFile && error instanceof Error) return { kind: 'unreadable', fault: error.message };
    throw error;
  }
}

/** Rosters that a visitor pins by: the last of them. Throws `FileError` and `JsonError` where they do not join. */
export function readPinnedRosters(bytes: Uint8Array): RosterFile {
  const rosters = parseRosterFileText(textOf(bytes));
  const [problem] = joinRosters(nobleSuite, rosters, { rosters }).problems;
  if (problem !== undefined) throw new FileError('malformed', '', `its rosters do not join: ${problem.detail}`);
  return rosters;
}

/** Throws `FileError`. */
function textOf(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch (error) {
    if (!(error instanceof EncodingError)) throw error;
    throw new FileError('malformed', '', 'it is not UTF-8');
  }
}

function rostersOf(value: JsonValue, known: Known): Judged {
  const rosters = parseRosterFileText(JSON.stringify(value));
  const { line, problems } = joinRosters(nobleSuite, rosters, known);
  const [problem] = problems;
  const newest = line?.places.at(-1);
  if (line === null || newest === undefined || problem !== undefined) {
    return { kind: 'unreadable', fault: `its rosters do not join: ${problem?.detail ?? 'there is none'}` };
  }
  return {
    kind: 'rosters',
    federation: line.federation,
    newest: { version: newest.roster.version, hash: newest.hash },
  };
}

/** A log is lines, each an entry and the hash of the line before. */
function isAuditLog(text: string): boolean {
  return text.startsWith('{"entry":');
}

function auditLogOf(text: string): Judged {
  const log = verifyAuditLog(nobleSuite, text.replace(/\n$/, '').split('\n'));
  return log === null ? { kind: 'unreadable', fault: 'there is no line' } : { kind: 'audit-log', log };
}
