import { EncodingError } from '../bytes.ts';
import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import { type Authority, openAuthority } from '../verdict/authority.ts';
import { signatureFault } from '../verdict/check-signed.ts';
import { joinRosters } from '../verdict/join-rosters.ts';
import type { RosterLine } from '../verdict/roster-line.ts';
import type { NamedRoster } from '../verdict/verdict.ts';
import type { ExitCode } from '../verdict/word.ts';
import { type Charge, NoChargeError, type ProofKnown, type Shortfall } from './charge.ts';
import { falseCheckpoint, twoCheckpoints } from './false-checkpoints.ts';
import type { Misdeed, MisdeedProof } from './misdeed.ts';
import { PROOF_EXIT_CODES, type ProofWord } from './proof-word.ts';
import { receiptNotKept } from './receipt-not-kept.ts';
import { twoEnvelopes } from './two-envelopes.ts';

/** What a proof of misbehaviour comes to for one verifier. */
export interface ProofVerdict {
  readonly word: ProofWord;
  readonly exitCode: ExitCode;
  /** Only where the word is. */
  readonly proven: boolean;
  readonly misdeed: Misdeed;
  /** Whom it says it of, and the batch that it is about; null where it does not read, and `batch` for checkpoints. */
  readonly accused: NodeId | null;
  readonly batch: number | null;
  /** What it falls short of; empty where it is proven. */
  readonly detail: string;
  /** Hash of the genesis roster; null where rosters do not join. */
  readonly federation: Sha256Hash | null;
  /** The roster that the verifier trusts; null where it pins none. */
  readonly pinned: NamedRoster | null;
}

/**
 * Judges a proof of misbehaviour by what it carries and what its verifier knows (protocol §8). It accuses, and moves no
 * verdict of what was decided. What hashes refuse costs no signature; nothing is thrown on what a proof can hold.
 *
 * Only decided revocations count: what a compromised key signed accuses nobody, for somebody else may have signed it,
 * and a rotated key answers for what it signed while it was in use.
 */
export function judgeProof(suite: Suite, proof: MisdeedProof, known: ProofKnown = {}): ProofVerdict {
  const charge = openCharge(suite, proof.misdeed);
  const { line, problems } = joinRosters(suite, proof.rosters, known);
  const pinned = line !== null && isPinned(known) ? { version: line.pin.roster.version, hash: line.pin.hash } : null;
  const verdict = (shortfall: Shortfall | null): ProofVerdict => {
    const word = shortfall?.word ?? 'proven';
    return {
      word,
      exitCode: PROOF_EXIT_CODES[word],
      proven: word === 'proven',
      misdeed: proof.misdeed.type,
      accused: charge.accused,
      batch: charge.batch,
      detail: shortfall?.detail ?? '',
      federation: line?.federation ?? null,
      pinned,
    };
  };
  if ('word' in charge) return verdict(charge);
  const [problem] = problems;
  if (line === null) {
    const word = problem?.fact === 'pin' ? 'pin-does-not-join' : 'rosters-do-not-join';
    return verdict({ word, detail: problem?.detail ?? '' });
  }
  if (problem !== undefined) return verdict({ word: 'contradicted', detail: problem.detail });
  return verdict(weigh(suite, proof, known, line, charge) ?? (pinned === null ? UNPINNED : null));
}

const UNPINNED: Shortfall = { word: 'consistent', detail: 'nothing says that this is the federation that is meant' };

interface NoCharge extends Shortfall {
  readonly accused: null;
  readonly batch: null;
}

/** Reads what a proof says. Costs hashes alone. */
function openCharge(suite: Suite, misdeed: MisdeedProof['misdeed']): Charge | NoCharge {
  try {
    return chargeOf(suite, misdeed);
  } catch (error) {
    const isOfProof =
      error instanceof NoChargeError || error instanceof StatementError || error instanceof EncodingError;
    if (!isOfProof) throw error;
    return { word: 'no-contradiction', detail: error.message, accused: null, batch: null };
  }
}

function chargeOf(suite: Suite, misdeed: MisdeedProof['misdeed']): Charge {
  switch (misdeed.type) {
    case 'two-envelopes':
      return twoEnvelopes(suite, misdeed);
    case 'receipt-not-kept':
      return receiptNotKept(suite, misdeed);
    case 'two-checkpoints':
      return twoCheckpoints(suite, misdeed);
    case 'false-checkpoint':
      return falseCheckpoint(suite, misdeed);
  }
}

/** Without a pin, of whatever sort, a proof is only consistent with itself. */
function isPinned({ pin, rosters, log }: ProofKnown): boolean {
  return pin !== undefined || rosters !== undefined || log !== undefined;
}

/** What it falls short of by all but the pin: first what refuses it, then what it lacks. */
function weigh(
  suite: Suite,
  proof: MisdeedProof,
  known: ProofKnown,
  line: RosterLine,
  charge: Charge,
): Shortfall | null {
  const authority = openAuthority(suite, proof, known, line, charge.signed);
  const refusal = signedShortfall(authority, charge);
  if (refusal !== null) return refusal;
  const shortfall = charge.judge(authority, known);
  if (shortfall !== null && PROOF_EXIT_CODES[shortfall.word] === 1) return shortfall;
  const [unproven] = authority.problems;
  if (unproven !== undefined) return { word: 'roster-without-majority', detail: unproven.detail };
  // A revocation may be among what was left unchecked.
  if (authority.signatures.isExhausted) {
    return { word: 'too-few-checkpoints', detail: 'more signatures fail than are worth the checking' };
  }
  return shortfall;
}

function signedShortfall(authority: Authority, { signed }: Charge): Shortfall | null {
  for (const claim of signed) {
    const fault = signatureFault(authority, claim);
    if (fault !== null) return { word: 'not-signed', detail: fault.detail };
  }
  const fallen = signed.find(({ node, keyId }) => authority.withdrawals.isCompromised(node, keyId));
  if (fallen === undefined) return null;
  return {
    word: 'key-revoked',
    detail: `a key of ${fallen.node} that signed was compromised: somebody else may have held it`,
  };
}
