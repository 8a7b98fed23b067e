import { join } from 'node:path';
import type { Logger } from 'pino';
import type { NodeConfig } from '../config/config.ts';
import { openSecrets } from './key-services.ts';
import { beginReread } from '../federation/reread.ts';
import { openNodeStore } from '../fsck/migration/open-node-store.ts';

/**
 * The operator's word that this node was fooled: its next start reads the ledger anew and replaces its signing key. The node
 * must not run. Throws `StoreError`, `KeyFileError` and `PassphraseError`.
 */
export async function rereadLedger(config: NodeConfig, log: Logger): Promise<void> {
  const { signer } = await openSecrets(config, log);
  await using store = await openNodeStore(join(config.home, 'store'), { createIfMissing: false, node: config.id, log });
  await beginReread(store, signer.keyId);
  log.warn({ keyId: signer.keyId }, 'the ledger is read anew, and another key will sign');
}
