import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeBase64url } from '../../protocol/bytes.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { KEY_FILE_PURPOSES, KeyFileError, type KeyFilePurpose, readKeyFile } from '../keys/key-file.ts';
import { nativeSigner } from '../keys/native-suite.ts';
import type { Passphrase } from '../keys/passphrase.ts';
import type { ProvenKeys } from './check.ts';
import type { Report } from './report.ts';
import { reasonOf } from './rows.ts';

export interface KeyFiles {
  /** Public identity key in its written form; null where it cannot be read. */
  readonly identityKey: string | null;
  readonly payloadKey: Uint8Array | null;
}

/**
 * Reads every key file of a home. A home without any (a store restored alone) is told and is no problem, and so are
 * encrypted ones to a checker that has no passphrase.
 */
export async function checkKeyFiles(
  home: string,
  report: Report,
  passphrase: Passphrase | null = null,
): Promise<KeyFiles> {
  const directory = join(home, 'keys');
  const names = await filesOf(directory);
  if (!KEY_FILE_PURPOSES.some((purpose) => names.includes(`${purpose}.key`))) {
    report.notChecked.push('key files: the home has none', 'payloads: there is no payload key to open them with');
    return { identityKey: null, payloadKey: null };
  }
  const secrets = new Map<KeyFilePurpose, Uint8Array>();
  for (const purpose of KEY_FILE_PURPOSES) {
    try {
      secrets.set(purpose, await readKeyFile(directory, purpose, passphrase));
      report.count('keyFiles');
    } catch (error) {
      const isLocked = error instanceof KeyFileError && error.fault === 'locked';
      if (isLocked && passphrase === null) report.notChecked.push(`${purpose}.key: it is encrypted`);
      else report.problem('keys', `${purpose}.key`, reasonOf(error));
    }
  }
  const identity = secrets.get('identity');
  const payloadKey = secrets.get('payload') ?? null;
  if (payloadKey === null) report.notChecked.push('payloads: there is no payload key to open them with');
  return {
    identityKey: identity === undefined ? null : encodeBase64url(nativeSigner(identity).publicKey),
    payloadKey,
  };
}

/** The member whose identity key the home holds. Reports an identity that no roster names. */
export function ownerOf({ identityKey }: KeyFiles, keys: ProvenKeys | null, report: Report): NodeId | null {
  if (identityKey === null || keys === null) return null;
  for (const roster of keys.rosters.rosters.toReversed()) {
    const member = roster.members.find((candidate) => candidate.identityKey === identityKey);
    if (member !== undefined) return member.node;
  }
  report.problem('keys', 'identity.key', 'is not the identity key of any member in the rosters of the store');
  return null;
}

async function filesOf(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch {
    return [];
  }
}
