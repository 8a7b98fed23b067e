import { join } from 'node:path';
import type { NodeId } from '../../protocol/ids.ts';
import { type KeyCertificate, keyCertificateStatement } from '../../protocol/keys/certificate.ts';
import { encodeSignature, type SignedStatement, signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { Timestamp } from '../../protocol/time.ts';
import { readKeyFile } from './key-file.ts';
import { nativeSigner } from './native-suite.ts';

/** The node's own secrets, read once at start. */
export interface NodeKeys {
  /** Certifies and revokes signing keys; pinned in the roster. */
  readonly identity: Signer;
  /** Signs groups, batches and cosignatures. */
  readonly signer: Signer;
  /** Seed of the libp2p identity. */
  readonly peerSeed: Uint8Array;
  /** Encrypts payloads at rest. */
  readonly payloadKey: Uint8Array;
}

/** Throws `KeyFileError` where a key file is missing or damaged. */
export async function readNodeKeys(home: string): Promise<NodeKeys> {
  const directory = join(home, 'keys');
  return {
    identity: nativeSigner(await readKeyFile(directory, 'identity')),
    signer: nativeSigner(await readKeyFile(directory, 'signing')),
    peerSeed: await readKeyFile(directory, 'peer'),
    payloadKey: await readKeyFile(directory, 'payload'),
  };
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
