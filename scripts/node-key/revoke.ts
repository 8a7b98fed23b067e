import type { Static } from 'typebox';
import { RevokeSigningKeyAnswerShape, SigningKeysAnswerShape } from '../../node/operator/signing-key-forms.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { ask, type Outcome, outcomeOf } from '../key/ask.ts';
import type { Target } from '../key/targets.ts';
import type { Command } from './arguments.ts';

type Answer = Static<typeof RevokeSigningKeyAnswerShape>;

/**
 * Has a node revoke a signing key. The key is named to the node, also where the command does not: the node replaces the
 * key in use first, so that one which failed in between and is given again would withdraw the new key instead.
 */
export async function revoke(
  target: Target,
  { key, since, note }: Extract<Command, { readonly name: 'revoke' }>,
): Promise<Outcome<Answer>> {
  const meant = key === undefined ? await outcomeOf(target, keyInUse(target)) : { ok: true as const, answer: key };
  if (!meant.ok) return meant;
  const question = { method: 'POST', path: '/signing-keys/revoke', answer: RevokeSigningKeyAnswerShape } as const;
  const body = { note, keyId: meant.answer, ...(since === undefined ? {} : { compromisedSince: since }) };
  const outcome = await outcomeOf(target, ask(target, { ...question, body }));
  if (outcome.ok || outcome.taken || key !== undefined) return outcome;
  return {
    ...outcome,
    error: `${outcome.error}\nto try again name the key, another may be in use by now: --key ${meant.answer}`,
  };
}

/** What came of it, for people. */
export function revokedWords({ node, keyId, compromisedSince, fallsFrom, replacedBy }: Answer): string {
  return [
    `${node} revoked ${keyId}`,
    fallsFrom === null
      ? 'it is rotated: all that it signed stands'
      : `what it signed counts where its batch reached consensus before ${fallsFrom}; attest again what did later`,
    ...(compromisedSince !== null && fallsFrom !== null && compromisedSince < fallsFrom
      ? [
          `WARNING: a revocation reaches no further back: what it signed from ${compromisedSince} until then still counts`,
        ]
      : []),
    ...(replacedBy === null ? [] : [`${replacedBy} signs in its place`]),
  ].join('\n');
}

async function keyInUse(target: Target): Promise<Sha256Hash> {
  return (await ask(target, { method: 'GET', path: '/signing-keys', answer: SigningKeysAnswerShape })).inUse;
}
