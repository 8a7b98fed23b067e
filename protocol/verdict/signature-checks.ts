import { decodeBase64url } from '../bytes.ts';
import { MAX_IDENTITY_KEYS } from '../log/decision-state.ts';
import type { Base64url } from '../shapes.ts';
import { signatureHolds, type SignedStatement } from '../statement/statement.ts';
import type { SigningContext, Suite } from '../suite/suite.ts';

/**
 * Signatures of what may be passed over that fail before no further one is checked. Of an honest bundle none fails but
 * those that are tried before the one that holds.
 */
export const MAX_FAULTS = 64;
/** Signatures that are remembered: of a pack of a million records there are more than memory should hold. */
const MAX_REMEMBERED = 4_096;

interface Kind {
  readonly context: SigningContext;
}

interface Answer {
  readonly context: SigningContext;
  readonly statement: string;
  readonly publicKey: Base64url;
  readonly holds: boolean;
}

/** The signatures of one verdict: each is checked once as long as it is remembered, and a flood of bad ones ends the checking. */
export class SignatureChecks {
  readonly #suite: Suite;
  /** By the text of the signature. */
  readonly #answers = new Map<Base64url, Answer[]>();
  readonly #keys = new Map<Base64url, Uint8Array>();
  #faults = 0;
  #isExhausted = false;

  constructor(suite: Suite) {
    this.#suite = suite;
  }

  /**
   * Whether a signature was left unchecked because too many had failed. What was passed over then may have been good, a
   * revocation too: nothing that rests on these checks is verified.
   */
  get isExhausted(): boolean {
    return this.#isExhausted;
  }

  /** Whether a signature of a text that must hold does. */
  holds(kind: Kind, signed: SignedStatement, publicKey: Base64url): boolean {
    return this.#known(kind, signed, publicKey) ?? this.#check(kind, signed, publicKey);
  }

  /**
   * Whether a signature holds of a text that is passed over where it does not: a checkpoint, certificate or revocation.
   */
  holdsIfCounted(kind: Kind, signed: SignedStatement, publicKey: Base64url): boolean {
    const known = this.#known(kind, signed, publicKey);
    if (known !== undefined) return known;
    if (this.#faults >= MAX_FAULTS) {
      this.#isExhausted = true;
      return false;
    }
    const holds = this.#check(kind, signed, publicKey);
    if (!holds) this.#faults++;
    return holds;
  }

  /**
   * What `find` finds. What fails before it is no fault, as far as honest nodes cause it: one certifies a key once by
   * each identity key that it has had.
   */
  untilFound<Found>(find: () => Found | null): Found | null {
    const before = this.#faults;
    const found = find();
    if (found !== null) this.#faults = Math.max(before, this.#faults - MAX_IDENTITY_KEYS);
    return found;
  }

  #check(kind: Kind, signed: SignedStatement, publicKey: Base64url): boolean {
    const holds = signatureHolds(this.#suite, kind, signed, this.#bytesOf(publicKey));
    const { statement, signature } = signed;
    const answer = { context: kind.context, statement, publicKey, holds };
    const others = this.#answers.get(signature);
    if (others === undefined) this.#answers.set(signature, [answer]);
    else others.push(answer);
    if (this.#answers.size > MAX_REMEMBERED) this.#forgetOldest();
    return holds;
  }

  #forgetOldest(): void {
    for (const oldest of this.#answers.keys()) {
      this.#answers.delete(oldest);
      return;
    }
  }

  #known({ context }: Kind, { statement, signature }: SignedStatement, publicKey: Base64url): boolean | undefined {
    return this.#answers
      .get(signature)
      ?.find((one) => one.context === context && one.statement === statement && one.publicKey === publicKey)?.holds;
  }

  #bytesOf(publicKey: Base64url): Uint8Array {
    const known = this.#keys.get(publicKey);
    if (known !== undefined) return known;
    const bytes = keyBytes(publicKey);
    this.#keys.set(publicKey, bytes);
    return bytes;
  }
}

/** Bytes that are no key where the text is none: no signature holds by them. */
function keyBytes(text: Base64url): Uint8Array {
  try {
    return decodeBase64url(text);
  } catch {
    return new Uint8Array();
  }
}
