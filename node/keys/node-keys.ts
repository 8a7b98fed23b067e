import { join } from 'node:path';
import type { NodeId } from '../../protocol/ids.ts';
import { type KeyCertificate, keyCertificateStatement } from '../../protocol/keys/certificate.ts';
import { encodeSignature, type SignedStatement, signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { KEY_FILE_PURPOSES, type KeyFileContent, type KeyFilePurpose, keyFilePath, readKeyAt } from './key-file.ts';
import { nativeSigner } from './native-suite.ts';
import type { Passphrase } from './passphrase.ts';

/** The node's own secrets, read once at start. */
export interface NodeKeys {
  /** Certifies and revokes signing keys; pinned in the roster. */
  readonly identity: Signer;
  /** Signs groups, batches and checkpoints, until it is rotated. */
  readonly signer: Signer;
  /** Seed of the libp2p identity. */
  readonly peerSeed: Uint8Array;
  /** Encrypts payloads at rest. */
  readonly payloadKey: Uint8Array;
  /** Keys whose files are not encrypted. */
  readonly plain: readonly KeyFilePurpose[];
}

/** Throws `KeyFileError` where a key file is missing or damaged, or does not open. */
export async function readNodeKeys(home: string, passphrase: Passphrase | null = null): Promise<NodeKeys> {
  const directory = keyDirectory(home);
  const read = (purpose: KeyFilePurpose) => readKeyAt(keyFilePath(directory, purpose), purpose, passphrase);
  // One after the other: deriving a key takes the memory that makes guessing dear.
  const files: Record<KeyFilePurpose, KeyFileContent> = {
    identity: await read('identity'),
    signing: await read('signing'),
    peer: await read('peer'),
    payload: await read('payload'),
  };
  return {
    identity: nativeSigner(files.identity.secret),
    signer: nativeSigner(files.signing.secret),
    peerSeed: files.peer.secret,
    payloadKey: files.payload.secret,
    plain: KEY_FILE_PURPOSES.filter((purpose) => !files[purpose].encrypted),
  };
}

/** Folder of a home's key files. */
export function keyDirectory(home: string): string {
  return join(home, 'keys');
}

/** The identity key says that the signing key speaks for the node from `validFrom` and record `seqFrom` on. */
export function certifySigningKey(
  node: NodeId,
  { identity, signer }: Pick<NodeKeys, 'identity' | 'signer'>,
  validFrom: Timestamp,
  seqFrom: number,
): Promise<SignedStatement> {
  const certificate: KeyCertificate = {
    v: 1,
    type: 'key',
    node,
    keyId: signer.keyId,
    publicKey: encodeSignature(signer.publicKey),
    purpose: 'signing',
    validFrom,
    seqFrom,
  };
  return signStatement(keyCertificateStatement, certificate, identity);
}
