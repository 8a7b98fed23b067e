import type { Anchoring } from './anchoring/anchoring.ts';
import { Recovery, type RecoveryOptions } from './backup/recovery.ts';
import type { NodeConfig } from './config/config.ts';
import type { Federation } from './federation/federation.ts';
import type { Intake } from './intake/intake.ts';
import type { OwnKeys } from './keys/own-keys.ts';
import type { Sealer } from './sealing/sealer.ts';

/** How this node comes to sign. */
export interface OwnChainRooms {
  /** Null unless the store is a restored copy that does not know yet how far its chain goes. */
  readonly recovery: Recovery | null;
  /** Takes up the own chain where the federation knows it to end. Nothing may be signed before it resolves. */
  readonly resumeChain: (signal: AbortSignal) => Promise<void>;
}

interface OwnChainOptions extends Omit<RecoveryOptions, 'self' | 'operatorId'> {
  readonly config: Pick<NodeConfig, 'id' | 'ledger'>;
  readonly anchoring: Anchoring;
  readonly federation: Pick<Federation, 'recoverOwnChain' | 'halted'>;
  readonly intake: Pick<Intake, 'reload'>;
  readonly sealer: Pick<Sealer, 'reload'>;
  readonly ownKeys: Pick<OwnKeys, 'settle'>;
}

/** How long a node that took back batches may read the ledger before it goes on without. In milliseconds. */
const READ_TOPIC_MS = 10_000;

export async function openOwnChain(options: OwnChainOptions): Promise<OwnChainRooms> {
  const { config, anchoring, federation, intake, sealer, ownKeys } = options;
  const recovery = await Recovery.open({ ...options, self: config.id, operatorId: config.ledger.operatorId });
  return {
    recovery,
    async resumeChain(signal) {
      // Whether a batch by a key that was revoked came in time only the ledger tells, and how far a copy lies behind.
      await anchoring.readTopic(0, signal);
      recovery?.begin();
      if ((await federation.recoverOwnChain(signal, recovery?.suffices)) > 0) {
        await Promise.all([intake.reload(), sealer.reload()]);
        await anchoring.readTopic(READ_TOPIC_MS, signal);
      }
      if (federation.halted === null) await recovery?.settle();
      await ownKeys.settle();
    },
  };
}
