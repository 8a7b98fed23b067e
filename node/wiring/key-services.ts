import type { Logger } from 'pino';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { NodeConfig } from '../config/config.ts';
import type { FederationSync } from '../federation/federation.ts';
import type { LogFollower } from '../federation/log-follower.ts';
import { requireMembership } from '../federation/own-membership.ts';
import { beginReread } from '../federation/reread.ts';
import { openNodeStore } from '../fsck/migration/migrate-store.ts';
import type { Sealer } from '../intake/sealing/sealer.ts';
import { NextKey } from '../keys/next-key.ts';
import { keyDirectory, type NodeKeys, readNodeKeys } from '../keys/node-keys.ts';
import { readPassphrase } from '../keys/passphrase.ts';
import { SigningKey } from '../keys/signing-key.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { OwnKeys } from '../log/members/own-keys.ts';

/** The secrets of a node, and where its next signing key is made. */
export interface Secrets extends NodeKeys {
  readonly nextKey: NextKey;
}

/** Reads the key files of the home. Throws `KeyFileError`, and `PassphraseError` where its file cannot be read. */
export async function openSecrets(config: NodeConfig, log: Logger): Promise<Secrets> {
  const { home, keyPassphraseFile, production } = config;
  const passphrase = keyPassphraseFile === null ? null : await readPassphrase(keyPassphraseFile);
  const own = await readNodeKeys(home, passphrase);
  if (own.plain.length > 0 && (production || passphrase !== null)) {
    log.warn(
      { keys: own.plain },
      'KEY FILES ARE NOT ENCRYPTED: whoever reads this disk or its backups becomes this node; stop it and run node-key encrypt',
    );
  }
  return { ...own, nextKey: new NextKey(keyDirectory(home), passphrase) };
}

/** The key that signs for the member whose identity key the home holds. Throws `MembershipError`. */
export function openSigningKey({ id }: NodeConfig, own: Secrets, keys: FederationKeys): SigningKey {
  requireMembership(id, keys, own.identity);
  const { directory } = keys;
  return new SigningKey(own.signer, (keyId) => directory.revocation(id, keyId) !== undefined);
}

interface KeyServicesOptions {
  readonly config: NodeConfig;
  readonly own: Secrets;
  readonly signing: SigningKey;
  readonly keys: FederationKeys;
  readonly sealer: Pick<Sealer, 'signAnew' | 'undecidedFrom'>;
  readonly anchoring: Pick<Anchoring, 'statementEntry' | 'noteSealed'>;
  readonly federation: Pick<FederationSync, 'announceKey'>;
  readonly follower: Pick<LogFollower, 'noteKey'>;
  readonly now: () => number;
  readonly log: Logger;
}

/** The node's signing keys, told of to its peers and to the ledger. */
export function openOwnKeys(options: KeyServicesOptions): OwnKeys {
  const { config, own, sealer, anchoring, federation, follower } = options;
  return new OwnKeys({
    ...options,
    ...own,
    node: config.id,
    undecidedFrom: () => sealer.undecidedFrom(),
    anchorEntry: anchoring.statementEntry.bind(anchoring),
    onStatement(type, signed) {
      anchoring.noteSealed();
      void federation.announceKey(type, signed);
    },
    onRotated() {
      follower.noteKey();
      void sealer.signAnew();
    },
  });
}

/**
 * The operator's word that this node was fooled: its next start reads the ledger again and replaces its signing key.
 * The node must not run. Throws `StoreError`, `KeyFileError` and `PassphraseError`.
 */
export async function rereadLedger(config: NodeConfig, log: Logger): Promise<void> {
  const { signer } = await openSecrets(config, log);
  await using store = await openNodeStore(config.home, { createIfMissing: false, node: config.id, log });
  await beginReread(store, signer.keyId);
  log.warn({ keyId: signer.keyId }, 'the ledger is read anew, and another key will sign');
}
