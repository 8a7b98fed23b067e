import { encodeBase64url, utf8 } from '../../../protocol/bytes.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import type { SigningContext, Suite } from '../../../protocol/suite/suite.ts';

const ML_DSA_65 = 'ML-DSA-65';

/** A signature to check, and whether it holds once that is known. */
interface Asked {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  readonly context: SigningContext;
}

/** How signatures are checked: by the browser's own code, or by that of the page. */
export type CheckedBy = 'WebCrypto' | 'noble';

/**
 * Judges by a suite whose signatures the browser checks (WebCrypto, FIPS 204 with its context), where it knows them.
 * `judge` is called twice: first every signature is taken to hold, and those that it asks for are checked together; then
 * with what came of them. What only the second call asks for is checked by the page's own code.
 */
export async function judgeWithWebCrypto<Verdict>(
  judge: (suite: Suite) => Verdict,
): Promise<{ readonly verdict: Verdict; readonly checkedBy: CheckedBy }> {
  const known = new Map<string, boolean>();
  if (!(await hasMlDsa())) return { verdict: judge(remembering(known)), checkedBy: 'noble' };
  const asked = new Map<string, Asked>();
  judge({
    ...nobleSuite,
    verify(publicKey, message, signature, context) {
      asked.set(nameOf(publicKey, message, signature, context), { publicKey, message, signature, context });
      return true;
    },
  });
  await Promise.all(
    [...asked].map(async ([name, one]) => {
      const holds = await checked(one);
      if (holds !== null) known.set(name, holds);
    }),
  );
  return { verdict: judge(remembering(known)), checkedBy: 'WebCrypto' };
}

/** Each signature is checked once. */
function remembering(known: Map<string, boolean>): Suite {
  return {
    ...nobleSuite,
    verify(publicKey, message, signature, context) {
      const name = nameOf(publicKey, message, signature, context);
      const holds = known.get(name) ?? nobleSuite.verify(publicKey, message, signature, context);
      known.set(name, holds);
      return holds;
    },
  };
}

function nameOf(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array, context: string): string {
  const parts = [publicKey, message, signature, utf8(context)];
  return parts.map((part) => encodeBase64url(nobleSuite.sha256(part))).join();
}

let isKnown: Promise<boolean> | undefined;

function hasMlDsa(): Promise<boolean> {
  isKnown ??= imported(new Uint8Array(1952)).then((key) => key !== null);
  return isKnown;
}

/** Null where the browser cannot say. */
async function checked({ publicKey, message, signature, context }: Asked): Promise<boolean | null> {
  const key = await imported(publicKey);
  if (key === null) return null;
  const algorithm = { name: ML_DSA_65, context: ownBytes(utf8(context)) };
  try {
    return await crypto.subtle.verify(algorithm, key, ownBytes(signature), ownBytes(message));
  } catch {
    return null;
  }
}

async function imported(publicKey: Uint8Array): Promise<CryptoKey | null> {
  try {
    // The format is newer than the types of the language's library.
    const subtle: { importKey(format: string, ...rest: readonly unknown[]): Promise<CryptoKey> } = crypto.subtle;
    return await subtle.importKey('raw-public', ownBytes(publicKey), { name: ML_DSA_65 }, false, ['verify']);
  } catch {
    return null;
  }
}

function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
