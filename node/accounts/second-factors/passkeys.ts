import { type MailReader } from '../../../protocol/api/people.ts';
import { hash } from 'node:crypto';
import { isIP } from 'node:net';
import Type from 'typebox';
import { decodeBase64url, encodeBase64url } from '../../../protocol/bytes.ts';
import { parseJson } from '../../../protocol/json/parse.ts';
import type { JsonValue } from '../../../protocol/json/value.ts';
import { Compile } from '../../../protocol/shape-check.ts';
import { Base64urlShape } from '../../../protocol/shapes.ts';
import type { Passkey } from './second-factor-table.ts';

/** Nesting of what a browser answers. */
const MAX_DEPTH = 8;

const Credential = { id: Base64urlShape, rawId: Base64urlShape, type: Type.Literal('public-key') };
/** What a browser answers where a passkey is made (WebAuthn 3 §5.1), as far as it is read. */
const registration = Compile(
  Type.Object({
    ...Credential,
    response: Type.Object({ clientDataJSON: Base64urlShape, attestationObject: Base64urlShape }),
  }),
);
/** What it answers where one is used. */
const authentication = Compile(
  Type.Object({
    ...Credential,
    response: Type.Object({
      clientDataJSON: Base64urlShape,
      authenticatorData: Base64urlShape,
      signature: Base64urlShape,
    }),
  }),
);

/** Where passkeys are made for: they work at this host and origin alone. */
export interface PasskeySite {
  readonly host: string;
  readonly origin: string;
}

/** The site of a public address; null where browsers offer no passkey: at a number, or without https. */
export function passkeySite(baseUrl: string): PasskeySite | null {
  const { hostname: host, origin, protocol } = new URL(baseUrl);
  const isName = isIP(host) === 0 && !host.startsWith('[');
  return isName && (protocol === 'https:' || host === 'localhost') ? { host, origin } : null;
}

/** What a passkey signs: 32 bytes that follow from a secret of one link or sign-in, so that no answer is good elsewhere. */
export function passkeyChallenge(secret: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hash('sha256', `meridian/passkey/1\0${secret}`, 'buffer'));
}

/** What a browser is asked for, to make a passkey: `PublicKeyCredentialCreationOptionsJSON`. */
export async function creationOptions(
  site: PasskeySite,
  { account, holder }: { readonly account: string; readonly holder: MailReader },
  existing: readonly Passkey[],
  challenge: Uint8Array<ArrayBuffer>,
) {
  const { generateRegistrationOptions } = await library();
  return generateRegistrationOptions({
    rpName: 'Meridian',
    rpID: site.host,
    userName: account,
    userID: Uint8Array.from(hash('sha256', `meridian/passkey-user/1\0${account}\0${holder}`, 'buffer')),
    challenge,
    attestationType: 'none',
    excludeCredentials: existing.map(({ credentialId }) => ({ id: credentialId })),
    authenticatorSelection: { residentKey: 'discouraged', userVerification: 'preferred' },
  });
}

/** What a browser is asked for, to use one of these: `PublicKeyCredentialRequestOptionsJSON`. */
export async function requestOptions(
  site: PasskeySite,
  passkeys: readonly Passkey[],
  challenge: Uint8Array<ArrayBuffer>,
) {
  const { generateAuthenticationOptions } = await library();
  return generateAuthenticationOptions({
    rpID: site.host,
    challenge,
    allowCredentials: passkeys.map(({ credentialId }) => ({ id: credentialId })),
    userVerification: 'preferred',
  });
}

/** The passkey that a browser made; undefined where the answer proves none. */
export async function madePasskey(
  site: PasskeySite,
  challenge: Uint8Array,
  text: string,
): Promise<Pick<Passkey, 'counter' | 'credentialId' | 'publicKey'> | undefined> {
  const response = jsonOf(text);
  if (!registration.Check(response)) return undefined;
  const { verifyRegistrationResponse } = await library();
  const verified = await judged(() =>
    verifyRegistrationResponse({ ...expected(site, challenge), response: { ...response, clientExtensionResults: {} } }),
  );
  if (verified?.verified !== true) return undefined;
  const { id, publicKey, counter } = verified.registrationInfo.credential;
  return id === response.id ? { credentialId: response.id, publicKey: encodeBase64url(publicKey), counter } : undefined;
}

/** Which of these passkeys a browser used, and what its authenticator has counted; undefined where it was none. */
export async function usedPasskey(
  site: PasskeySite,
  passkeys: readonly Passkey[],
  challenge: Uint8Array,
  text: string,
): Promise<{ readonly passkey: Passkey; readonly counter: number } | undefined> {
  const response = jsonOf(text);
  if (!authentication.Check(response)) return undefined;
  const passkey = passkeys.find(({ credentialId }) => credentialId === response.id);
  if (passkey === undefined) return undefined;
  const { verifyAuthenticationResponse } = await library();
  const { credentialId: id, counter } = passkey;
  const publicKey = Uint8Array.from(decodeBase64url(passkey.publicKey));
  const verified = await judged(() =>
    verifyAuthenticationResponse({
      ...expected(site, challenge),
      response: { ...response, clientExtensionResults: {} },
      credential: { id, publicKey, counter },
    }),
  );
  if (verified?.verified !== true) return undefined;
  return { passkey, counter: verified.authenticationInfo.newCounter };
}

function expected({ host, origin }: PasskeySite, challenge: Uint8Array) {
  return {
    expectedChallenge: encodeBase64url(challenge),
    expectedOrigin: origin,
    expectedRPID: host,
    requireUserVerification: false,
  };
}

/** Null, which is no answer, where it is no JSON. */
function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text, { maxDepth: MAX_DEPTH });
  } catch {
    return null;
  }
}

/** The library throws plain errors at whatever is wrong with an answer: all of them mean that nothing is proved. */
async function judged<Result>(verify: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await verify();
  } catch {
    return undefined;
  }
}

/** Read when the first passkey is: most nodes start without. */
function library(): Promise<typeof import('@simplewebauthn/server')> {
  return import('@simplewebauthn/server');
}
