import type { PayloadState } from '../../protocol/verdict/payload.ts';
import { CHECK_WORDS, NOT_PROVEN } from '../../protocol/verdict/plain-words.ts';
import { type Check, CHECKS } from '../../protocol/verdict/problem.ts';
import type { LedgerPlace } from '../../protocol/verdict/verdict.ts';
import type { Word } from '../../protocol/verdict/word.ts';
import type { CertificateFacts } from './certificate-facts.ts';

/** What became of one of the five checks. */
export type CheckResult = 'does not hold' | 'holds' | 'not checked' | 'not shown';

export interface CheckLine {
  readonly check: Check;
  readonly name: string;
  readonly result: CheckResult;
}

const SIGNED = 'Signed by its node, and not on the ledger yet.';
const FAILS = 'Does not hold:';
/** What a word says to a person: never more than that the record fits the federation that the node itself names. */
const SENTENCES: Readonly<Record<Word, string>> = {
  verified: 'Consistent with the federation that this node names.',
  consistent: 'Consistent with the federation that this node names.',
  'no-batch-yet': SIGNED,
  'no-decision-yet': SIGNED,
  stale: 'Stale: members vouched for it by keys that were revoked since, and not enough did by others.',
  'too-few-checkpoints': 'Too few checkpoints: not enough members vouch for it here.',
  'roster-without-majority': 'Too few checkpoints: not enough members show one of the rosters to be in force.',
  'not-signed': `${FAILS} this is no record that its node signed, or the signature counts no more.`,
  contradicted: `${FAILS} what this node knows says otherwise.`,
  'payload-damaged': `${FAILS} the payload is not the one that was recorded.`,
  'rosters-do-not-join': `${FAILS} the rosters do not follow one from another.`,
  'pin-does-not-join': `${FAILS} it is of another federation than this node.`,
  'decision-mismatch': `${FAILS} the ledger message does not name the batch of this record.`,
  misdated: `${FAILS} the ledger message is older than the batch that it names.`,
  'not-sealed': `${FAILS} the batch does not hold this record.`,
};

const PAYLOADS: Readonly<Record<PayloadState, string>> = {
  disclosed: 'held by the node that made the record; it is not in this file',
  withheld: 'not shown to this node',
  erased: 'erased: the key to it was destroyed; the record and its proof stand without it',
  unreachable: 'its node could not be asked for it',
  damaged: 'not the one that was recorded',
};

/** What nobody can read out of a certificate, or out of the file that is attached. */
export const NOT_SHOWN: readonly string[] = [
  ...NOT_PROVEN,
  'that this federation is the one you mean: compare its fingerprint with one that you have from elsewhere.',
];

export const FILE_DECIDES =
  'A PDF proves nothing by itself: the attached file does; check it with meridian-verify, under the fingerprint of a ' +
  'federation that you have from elsewhere.';

/** The verdict in a sentence. */
export function sentenceOf({ verdict }: Pick<CertificateFacts, 'verdict'>): string {
  return SENTENCES[verdict.word];
}

/** The same in full: who reports it, who signed when, what the ledger and the members did. */
export function reportOf({ reportedBy, node, submittedAt, verdict }: CertificateFacts): string {
  const { facts, ledger, witnesses } = verdict;
  const reported = `Reported by node ${reportedBy}`;
  if (facts.signed !== 'holds') return `${reported}: nothing shows that node ${node} signed this record.`;
  const decided = ledger === null ? '' : `; the ledger decided its batch on ${timeWords(ledger.at)}`;
  const vouched = facts.witnessed ? `; ${witnesses.join(', ')} vouched for it` : '';
  return `${reported}: node ${node} signed this record on ${timeWords(submittedAt)}${decided}${vouched}.`;
}

/** What is said of the payload. */
export function payloadWords({ verdict }: Pick<CertificateFacts, 'verdict'>): string {
  return PAYLOADS[verdict.facts.payload];
}

/** Where and when the ledger decided the record's batch, or that it did not. */
export function ledgerWords(ledger: LedgerPlace | null): string {
  if (ledger === null) return 'not shown to be on the ledger yet';
  const { at, network, topicId, sequence, isLate } = ledger;
  const late = isLate ? '; more than 24 hours after its batch was sealed' : '';
  return `${timeWords(at)} (${network}, topic ${topicId}, message ${sequence})${late}`;
}

/** Which members vouched, of which roster. */
export function witnessWords({ verdict }: Pick<CertificateFacts, 'verdict'>): string {
  const { facts, restsOn, witnesses } = verdict;
  if (restsOn === null) return 'no members yet';
  const by = witnesses.join(', ');
  return `${facts.witnessed ? by : `on the ledger by ${by}; not vouched for`} (of roster ${restsOn.version})`;
}

/** An RFC 3339 time in UTC as people write it: `2026-11-21 14:03:28.107 UTC`. */
export function timeWords(at: string): string {
  return at.replace('T', ' ').replace(/Z$/, ' UTC');
}

/** The five checks in their order. */
export function checkLines({ verdict }: Pick<CertificateFacts, 'verdict'>): readonly CheckLine[] {
  return CHECKS.map((check) => ({ check, name: CHECK_WORDS[check], result: resultOf(verdict, check) }));
}

function resultOf({ checks, facts, problems }: CertificateFacts['verdict'], check: Check): CheckResult {
  if (checks[check]) return 'holds';
  if (problems.some((problem) => problem.check === check)) return 'does not hold';
  if (check === 'payloadHashMatch' && facts.payload !== 'damaged') return 'not checked';
  return check === 'sigValid' && facts.contradicted ? 'does not hold' : 'not shown';
}
