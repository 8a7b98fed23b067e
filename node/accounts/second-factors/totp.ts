import { type MailReader } from '../../../protocol/api/people.ts';
import { createHmac } from 'node:crypto';
import type { SecondFactorId } from '../../../protocol/api/second-factors.ts';

/** As authenticator apps have it (RFC 6238 §4): HMAC-SHA-1, 30 seconds, 6 digits. */
const TERMS = { algorithm: 'SHA1', digits: 6, period: 30 } as const;
const SECRET_BYTES = 20;
/** Steps before and after the present one whose codes are taken too (RFC 6238 §5.2). */
const DRIFT_STEPS = 1;
const CODE = /^\d{6}$/;

/** Whose secret it is. */
export interface TotpOf {
  readonly account: string;
  readonly holder: MailReader;
  readonly id: SecondFactorId;
}

/** What an app is set up by. */
export interface TotpSetup {
  /** Base 32. */
  readonly secret: string;
  /** `otpauth://totp/…`: what the picture shows. */
  readonly uri: string;
}

/**
 * Codes of authenticator apps. The secrets are derived from the node's payload key, so that they stand nowhere: nobody
 * who has the store alone makes a code.
 */
export class TotpSecrets {
  readonly #key: Uint8Array;

  /** `payloadKey`: 32 bytes from the node's key file. */
  constructor(payloadKey: Uint8Array) {
    this.#key = createHmac('sha256', payloadKey).update('meridian/totp/1\0').digest();
  }

  /** `node`: who the app says that the code is for. */
  async setup(of: TotpOf, node: string): Promise<TotpSetup> {
    const { TOTP, Secret } = await library();
    const secret = new Secret({ buffer: this.#secretOf(of).slice().buffer });
    const totp = new TOTP({ ...TERMS, issuer: `Meridian ${node}`, label: of.account, secret });
    return { secret: secret.base32, uri: totp.toString() };
  }

  /** The step of a code that is right at a moment (epoch milliseconds); undefined where it is not. */
  async stepOf(of: TotpOf, code: string, now: number): Promise<number | undefined> {
    const token = code.replaceAll(' ', '');
    if (!CODE.test(token)) return undefined;
    const { TOTP, Secret } = await library();
    const secret = new Secret({ buffer: this.#secretOf(of).slice().buffer });
    const delta = TOTP.validate({ ...TERMS, token, secret, timestamp: now, window: DRIFT_STEPS });
    return delta === null ? undefined : TOTP.counter({ ...TERMS, timestamp: now }) + delta;
  }

  #secretOf({ account, holder, id }: TotpOf): Uint8Array<ArrayBuffer> {
    const digest = createHmac('sha256', this.#key).update(`${account}\0${holder}\0${id}`).digest();
    return Uint8Array.from(digest.subarray(0, SECRET_BYTES));
  }
}

/** Read when the first code is: most nodes start without. */
function library(): Promise<typeof import('otpauth')> {
  return import('otpauth');
}
