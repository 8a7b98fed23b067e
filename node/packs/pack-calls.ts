import type { MessagePort } from 'node:worker_threads';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { PackSignature } from '../../protocol/pack/manifest.ts';
import type { DecisionProof } from '../../protocol/verdict/bundle.ts';
import type { OpenedPayload } from '../records/payload/payload-cipher.ts';
import type { KeyHolder } from '../records/payload/payload-keys.ts';
import type { StoreCalls } from '../store/port-reads.ts';
import type { PackRow } from './pack-tables.ts';

/** What the thread that makes packs asks the node for. */
export type PackCalls = StoreCalls & {
  /** The decision of a batch, placed in the trees of the pack's checkpoints; null where the log has none. */
  readonly place: {
    readonly argument: { readonly node: NodeId; readonly batch: number };
    readonly result: DecisionProof | null;
  };
  /** Contents of own records; null of those that are erased. */
  readonly disclose: {
    readonly argument: readonly KeyHolder[];
    readonly result: readonly (OpenedPayload | null)[];
  };
  /** Signs the text of a manifest. */
  readonly sign: { readonly argument: string; readonly result: PackSignature };
  readonly progress: {
    readonly argument: { readonly done: number; readonly total: number };
    readonly result: undefined;
  };
};

/** What the thread is told to make. */
export interface PackOrder {
  readonly port: MessagePort;
  /** Folder of the pack alone: what was made of it before is gone on with. */
  readonly folder: string;
  readonly node: NodeId;
  readonly pack: Pick<PackRow, 'auditLog' | 'catalogueVersion' | 'generator' | 'question' | 'reach' | 'replaced'>;
  /** Text of `proofs/federation.json`. */
  readonly federation: string;
  /** Paths of the two verifiers in one file. */
  readonly verifiers: { readonly page: string; readonly script: string };
}

/** A pack that stands in its folder, or why there is none. */
export type PackWord =
  | { readonly kind: 'made'; readonly manifestHash: Sha256Hash; readonly records: number; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** The pack itself, in its folder. */
export const PACK_FILE = 'pack.zip';

/** A pack cannot be made of what the node has. The message is for the account. */
export class PackError extends Error {
  override readonly name = 'PackError';
}
