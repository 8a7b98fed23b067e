import type { SecondFactorKind } from '../../../protocol/api/second-factors.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { AccountError } from '../account-error.ts';
import { passkeyChallenge, type PasskeySite, usedPasskey } from './passkeys.ts';
import { recoveryCodeDigest } from './recovery-codes.ts';
import type { Passkey, SecondFactor, SecondFactors } from './second-factor-table.ts';
import type { TotpSecrets } from './totp.ts';

/** What somebody shows: a code, or what a browser answered with a passkey. Empty: nothing. */
export interface ShownFactor {
  readonly code: string;
  readonly passkey: string;
  /** What the passkey's challenge follows from: that of the link, or of the sign-in, beside which it is shown. */
  readonly secret: string;
}

/** A link alone. */
export const NOTHING_SHOWN: ShownFactor = { code: '', passkey: '', secret: '' };

/** What is taken for right at a moment (epoch milliseconds). */
export interface ProofTerms {
  readonly secrets: TotpSecrets;
  readonly site: PasskeySite | null;
  readonly now: number;
}

/** A second factor that was shown, and the row once it was used: nothing is taken twice. */
export interface Proof {
  readonly kind: SecondFactorKind;
  readonly next: SecondFactors;
}

/** Judges what is shown. Throws `AccountError` `second-factor-needed`, `second-factor-wrong`, naming `code`. */
export async function proofOf(held: SecondFactors, shown: ShownFactor, terms: ProofTerms): Promise<Proof> {
  if (!isShown(shown)) throw new AccountError('second-factor-needed', 'a second factor is to be shown too', 'code');
  const proof =
    shown.passkey === ''
      ? ((await totpProof(held, shown.code, terms)) ?? recoveryProof(held, shown.code))
      : await passkeyProof(held, shown, terms);
  if (proof === undefined) throw new AccountError('second-factor-wrong', 'is not right, was used, or is over', 'code');
  return proof;
}

export function isShown({ code, passkey }: ShownFactor): boolean {
  return code !== '' || passkey !== '';
}

/** What a passkey signs to be shown. It is another one after each use, so that no answer is good twice. */
export function challengeFor({ factors }: SecondFactors, secret: string): Uint8Array<ArrayBuffer> {
  return passkeyChallenge([secret, ...factors.map(({ id, lastUsedAt }) => `${id} ${lastUsedAt ?? ''}`)].join('\0'));
}

/** Of somebody's second factors, those of browsers. */
export function passkeysOf(held: SecondFactors | undefined): readonly Passkey[] {
  return (held?.factors ?? []).flatMap((factor) => (factor.kind === 'passkey' ? [factor] : []));
}

async function totpProof(held: SecondFactors, code: string, { secrets, now }: ProofTerms): Promise<Proof | undefined> {
  for (const factor of held.factors) {
    if (factor.kind !== 'totp') continue;
    const { account, holder } = held;
    const step = await secrets.stepOf({ account, holder, id: factor.id }, code, now);
    // A code is good once, and none before it is good any more.
    if (step === undefined || step <= factor.lastStep) continue;
    return { kind: 'totp', next: replaced(held, { ...factor, lastStep: step, lastUsedAt: timestampOf(now) }) };
  }
  return undefined;
}

function recoveryProof(held: SecondFactors, code: string): Proof | undefined {
  const digest = recoveryCodeDigest(code);
  if (!held.recoveryCodes.includes(digest)) return undefined;
  const recoveryCodes = held.recoveryCodes.filter((one) => one !== digest);
  return { kind: 'recovery-code', next: { ...held, recoveryCodes } };
}

async function passkeyProof(
  held: SecondFactors,
  { passkey: answer, secret }: ShownFactor,
  { site, now }: ProofTerms,
): Promise<Proof | undefined> {
  if (site === null) return undefined;
  const used = await usedPasskey(site, passkeysOf(held), challengeFor(held, secret), answer);
  if (used === undefined) return undefined;
  const { passkey, counter } = used;
  return { kind: 'passkey', next: replaced(held, { ...passkey, counter, lastUsedAt: timestampOf(now) }) };
}

function replaced(held: SecondFactors, used: SecondFactor): SecondFactors {
  return { ...held, factors: held.factors.map((factor) => (factor.id === used.id ? used : factor)) };
}
