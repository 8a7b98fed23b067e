import { type RecordBody, readBody, readHead } from '../../protocol/chain/record.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import { isJsonObject, type JsonValue } from '../../protocol/json/value.ts';
import type { RecordedEvidence } from '../../protocol/evidence/evidence-shape.ts';
import type { ComplianceDetail } from '../../protocol/evidence/rules.ts';
import type { Suite } from '../../protocol/suite/suite.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';
import type { NamedRoster, Verdict } from '../../protocol/verdict/verdict.ts';
import type { Problem } from '../../protocol/verdict/problem.ts';
import { MEANINGS } from './words.ts';

/** Characters of a payload that are shown. */
const SHOWN_CHARACTERS = 400;
const MARKS = { true: '✓', false: '–' } as const;

/**
 * What a person reads of a verdict, line by line: the word first, and again at the end. `pinnedBy` is what the pin was
 * read from. What a file says is shown only where its node signed it, and never as control characters.
 */
export function reportOf(suite: Suite, bundle: Bundle, verdict: Verdict, pinnedBy: string | null): readonly string[] {
  const headline = headlineOf(verdict);
  const lines = [
    headline,
    ...whoLines(suite, bundle, verdict),
    whenLine(verdict),
    ...decidedLines(bundle, verdict),
    ...witnessLines(verdict, pinnedBy),
    ...problemLines(verdict.problems, ''),
    ...linkedLines(verdict),
    ...statementLines(bundle, verdict),
    ...evidenceLines(verdict),
    headline,
  ];
  return lines.map(plain);
}

/** The word of a verdict and what it says. */
export function headlineOf({ word, verified }: Pick<Verdict, 'verified' | 'word'>): string {
  return `${verified ? 'VERIFIED' : `NOT VERIFIED (${word})`}: ${MEANINGS[word]}`;
}

/** What speaks against a record, a line each. */
export function problemLines(problems: readonly Problem[], indent: string): readonly string[] {
  return problems.map(({ code, detail }) => plain(`${indent}problem     ${code}: ${detail}`));
}

/** A line that no file can end, erase or turn around: characters that a terminal obeys are written out. */
export function plain(line: string): string {
  return line.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

function whoLines(suite: Suite, { record: texts }: Bundle, { record, facts, agent }: Verdict): readonly string[] {
  if (record === null) return ['record      unreadable'];
  const { id, kind, node, submittedAt } = record;
  const signed = facts.signed === 'holds';
  const says = signed ? '' : ' (so the file says)';
  const line = `record      ${id}: ${kind} of node ${node}, submitted ${submittedAt}${says}`;
  if (!signed) return [line];
  if (texts.body === null) return [line, 'claims      not shown: a public proof tells id, kind, node and time'];
  const { account, sourceId, claims } = bodyOf(suite, texts.head, texts.body);
  const model =
    claims.modelId === undefined ? 'none named' : [claims.modelId, claims.modelVersion ?? ''].join(' ').trim();
  return [line, `who         account ${account}, source ${sourceId}`, ...agentLines(agent), `model       ${model}`];
}

/** Of a record whose verdict is `signed`: then its head names this body, and both read. */
function bodyOf(suite: Suite, head: string, body: string): RecordBody {
  return readBody(suite, readHead(head), body);
}

function agentLines(agent: Verdict['agent']): readonly string[] {
  if (agent === null) return [];
  const said = {
    valid: 'signed by the agent',
    invalid: 'NOT signed by the agent',
    'unknown-key': 'the agent’s key is not known',
  };
  return [`agent       ${agent.agentId ?? 'unnamed'} (${said[agent.signature]})`];
}

function whenLine({ ledger, status }: Verdict): string {
  if (ledger === null) return `when        no time of the ledger is shown; ${status}`;
  const { at, network, topicId, sequence, isLate } = ledger;
  const late = isLate ? ', anchored late: more than 24 hours after its batch was sealed' : '';
  return `when        ${at} by the ledger (${network} ${topicId} message ${sequence})${late}`;
}

function decidedLines({ disclosure }: Bundle, { facts }: Verdict): readonly string[] {
  if (facts.payload !== 'disclosed' || disclosure === undefined) return [`payload     ${facts.payload}`];
  if (facts.signed !== 'holds') return [];
  const text = canonicalize(outcomeOf(disclosure.payload));
  const shown =
    text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)` : text;
  return [`decided     ${shown}`];
}

/** Of a decision what came out of it, where it says so; else the whole payload. */
function outcomeOf(payload: JsonValue): JsonValue {
  const data = isJsonObject(payload) ? payload.data : undefined;
  if (data === undefined || !isJsonObject(data)) return payload;
  return data.output ?? data.decision ?? payload;
}

function witnessLines({ witnesses, restsOn, facts, federation, pinned }: Verdict, pinnedBy: string | null) {
  const what = facts.witnessed ? 'vouched for by' : 'on the ledger by';
  const by = restsOn === null ? 'no quorum' : `${what} ${witnesses.join(', ')} of ${rosterText(restsOn)}`;
  const pin = pinned === null ? 'NOT pinned' : `pinned by ${pinnedBy ?? 'what is known'}: ${rosterText(pinned)}`;
  return [`witnesses   ${by}`, `federation  ${federation ?? 'unreadable'} (${pin})`];
}

function rosterText({ version, hash }: NamedRoster): string {
  return `roster ${version} ${hash}`;
}

function linkedLines({ linked }: Verdict): readonly string[] {
  return linked.flatMap(({ id, kind, node, holds, speaks, word, problems }) => {
    const what = kind === null || node === null ? '' : `: ${kind} of node ${node}`;
    const silent = holds && !speaks ? ', which does not speak for the account: it turns no flag' : '';
    return [`linked      ${id ?? 'unreadable'}${what}: ${word}${silent}`, ...problemLines(problems, '  ')];
  });
}

/** Who speaks for the account beside its home, as far as the file shows: a later version may say otherwise. */
function statementLines({ linked }: Bundle, { record, speaks, accountStatements }: Verdict): readonly string[] {
  const node = record?.node ?? '';
  const own =
    linked === undefined
      ? `this file does not show whether node ${node} speaks for it; a bundle that is asked for with linked=1 may`
      : `by what this file shows of its statement, node ${node} does not speak for it`;
  return [
    ...(speaks === false ? [`account     ${own}: here the record is no review and lies in no session`] : []),
    ...accountStatements.map(({ version, id }) => {
      return `account     other nodes than its home by version ${version} of its statement, ${id}`;
    }),
  ];
}

function evidenceLines({ evidence }: Verdict): readonly string[] {
  if (evidence === null) return [];
  return [...flagLines(evidence.complianceDetail), ...factLines(evidence.evidence)];
}

function flagLines({ ruleSet, meaning, reasons }: ComplianceDetail): readonly string[] {
  const lines = reasons.map(({ key, satisfied, missing }) => {
    return `  ${MARKS[`${satisfied}`]} ${key}${satisfied ? '' : ` (missing ${missing.join(', ')})`}`;
  });
  return [`evidence    ${ruleSet}: ${meaning}`, ...lines];
}

const NO_EVENT = '  the record is no event of an AI system';

function factLines({ ruleSet, meaning, facts, kindOfRecord, ...shown }: RecordedEvidence): readonly string[] {
  const headline = `evidence    ${ruleSet}: ${meaning}`;
  if (kindOfRecord === 'not-applicable') return [headline, NO_EVENT];
  const lines = facts.map(({ state, evidenceFor, missing }) => {
    const lacking = missing.length === 0 ? '' : ` (missing ${missing.join(', ')})`;
    return `  ${state}: ${evidenceFor}${lacking}`;
  });
  return [headline, ...lines, ...eventTimeLines(shown), ...reviewLines(shown)];
}

function eventTimeLines({ eventTime }: Pick<RecordedEvidence, 'eventTime'>): readonly string[] {
  if (eventTime === null || eventTime.asserted === null) return [];
  return [`  asserted: it happened at ${eventTime.asserted}, ${eventTime.lagSeconds} s before it was recorded`];
}

function reviewLines({ reviews, reviewsDoNotShow }: Pick<RecordedEvidence, 'reviews' | 'reviewsDoNotShow'>) {
  const lines = reviews.map(({ attestationId, reviewLag, outcomeGiven, stopped }) => {
    const after = reviewLag === null ? 'the record itself' : `${reviewLag} s after the record`;
    const outcome = outcomeGiven ? 'with an outcome' : 'without an outcome';
    return `  review ${attestationId}: ${after}, ${outcome}${stopped ? ', the system was stopped' : ''}`;
  });
  return lines.length === 0 ? [] : [...lines, `  reviews do not show: ${reviewsDoNotShow.join(', ')}`];
}
