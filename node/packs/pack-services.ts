import { join } from 'node:path';
import type { Logger } from 'pino';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { AuditLog } from '../accounts/audit-log/audit-log.ts';
import type { Intake } from '../intake/intake.ts';
import type { Chains } from '../log/chains.ts';
import type { CheckpointStore } from '../log/checkpoint-store.ts';
import type { FederationLog } from '../log/federation-log.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { VerifierFolder } from '../pages/verifier-folder.ts';
import type { PayloadCipher } from '../records/payload/payload-cipher.ts';
import type { Store } from '../store/store.ts';
import type { AnchoringView } from '../verification/attestation/anchoring-view.ts';
import type { Evidence } from '../verification/evidence.ts';
import type { LogKnowledge } from '../verification/log-knowledge.ts';
import { PackFederation } from './pack-federation.ts';
import { PackFolders } from './pack-folders.ts';
import { PackMaker } from './pack-maker.ts';
import { PackQuestions } from './pack-questions.ts';
import { PackReach } from './pack-reach.ts';
import { PackThread } from './pack-thread.ts';
import { Packs } from './packs.ts';

export interface PackServices {
  readonly packs: Packs;
  readonly packThread: PackThread;
}

interface PackServicesOptions {
  readonly self: NodeId;
  readonly store: Store;
  /** Folder of all files of packs, and of this alone. */
  readonly folder: string;
  /** Version of the node's software. */
  readonly version: string;
  readonly quotaBytes: number;
  readonly chains: Chains;
  readonly federationLog: FederationLog;
  readonly checkpointStore: CheckpointStore;
  readonly keys: FederationKeys;
  readonly knowledge: LogKnowledge;
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  readonly view: AnchoringView;
  readonly cipher: PayloadCipher;
  readonly signer: () => Signer;
  readonly intake: Pick<Intake, 'submit'>;
  readonly auditLog: AuditLog;
  readonly now: () => number;
  /** Whether the clock is known to be right. */
  readonly isClockRight: () => boolean;
  readonly log: Logger;
}

/** Packs of evidence, and the thread that makes them: they end in this order. */
export function openPackServices(options: PackServicesOptions): PackServices {
  const { folder, version } = options;
  const reach = new PackReach(options);
  const federation = new PackFederation(options);
  const packThread = new PackThread();
  const verifiers = new VerifierFolder(join(folder, 'verifiers'));
  const maker = new PackMaker({
    ...options,
    reach,
    federation,
    thread: packThread,
    verifiers: () => verifiers.paths(),
  });
  const questions = new PackQuestions({ ...options, generator: `meridian/${version}`, reach });
  const packs = new Packs({ ...options, folders: new PackFolders(folder), questions, federation, maker });
  return { packs, packThread };
}
