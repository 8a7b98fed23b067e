import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Anchoring, type AnchoringOptions, openAnchoring } from '../../../node/anchoring/anchoring.ts';
import type { OutboxRow } from '../../../node/anchoring/outbox.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { batchOperations, type StoredBatch } from '../../../node/records/batch-tables.ts';
import { Store } from '../../../node/store/store.ts';
import type { Table } from '../../../node/store/table.ts';
import { hashText, type Sha256Hash, writeSha256 } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { writeLedgerMessage } from '../../../protocol/log/message.ts';
import { nameEnvelope } from '../../../protocol/log/naming.ts';
import { type Envelope, envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { until } from '../../fixtures/until.ts';
import { OneReader } from './one-reader.ts';

export const NODE = nodeId('eu');
export const FEDERATION = hashText(nativeSuite, 'a genesis roster');
export const silent = pino({ level: 'silent' });

export type NodeOptions = Partial<AnchoringOptions> & Pick<AnchoringOptions, 'config'>;

export async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'anchoring-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A store and the anchoring over it; opened again on the same directory, it is the node after a crash. */
export class AnchoringNode implements AsyncDisposable {
  readonly store: Store;
  readonly anchoring: Anchoring;
  /** What it knows of the topic, where it is not told otherwise. */
  readonly reader: OneReader;

  private constructor(store: Store, anchoring: Anchoring, reader: OneReader) {
    this.store = store;
    this.anchoring = anchoring;
    this.reader = reader;
  }

  static async start(directory: string, options: NodeOptions): Promise<AnchoringNode> {
    const store = await Store.open(directory);
    const reader = new OneReader(options.config);
    const anchoring = await openAnchoring({
      node: NODE,
      federation: FEDERATION,
      store,
      naming: reader,
      now: Date.now,
      random: Math.random,
      log: silent,
      ...options,
    });
    reader.onRead = anchoring.noteDecided;
    anchoring.start();
    return new AnchoringNode(store, anchoring, reader);
  }

  /** Writes a batch as the sealer does: its rows and its outbox entry in one write. */
  async seal(batch: number): Promise<StoredBatch> {
    const sealed = sealedBatch(batch);
    await this.store.write([
      ...batchOperations(sealed, []),
      this.anchoring.outboxEntry(sealed, timestampOf(Date.now())),
    ]);
    this.anchoring.noteSealed();
    return sealed;
  }

  async isConfirmed(batch: number): Promise<boolean> {
    return (await this.anchoring.status(batch))?.status === 'confirmed';
  }

  async allConfirmed(batches: readonly number[], milliseconds?: number): Promise<void> {
    const areConfirmed = async (): Promise<boolean> => {
      for (const batch of batches) if (!(await this.isConfirmed(batch))) return false;
      return true;
    };
    await until(`batches ${batches.join(' ')} confirmed`, areConfirmed, milliseconds);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reader[Symbol.asyncDispose]();
    await this.anchoring[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

/** What a stopped node has on its way is past its validity. */
export async function expire<Row extends OutboxRow>(directory: string, table: Table<Row>): Promise<void> {
  await using store = await Store.open(directory);
  for await (const [parts, row] of table.under(store, [])) {
    const { transaction } = row;
    if (transaction !== null) {
      await store.write([table.put(parts, { ...row, transaction: { ...transaction, validUntil: 0 } })]);
    }
  }
}

/** A batch of one record; `variant` makes another one of the same number. */
export function sealedBatch(batch: number, variant = 0): StoredBatch {
  const root = writeSha256(nativeSuite.sha256(Uint8Array.of(batch, variant)));
  const envelope: Envelope = {
    v: 2,
    type: 'batch',
    node: NODE,
    batch,
    first: batch,
    size: 1,
    root,
    prev: null,
    from: timestampOf(1_763_717_400_000),
    sealedAt: timestampOf(1_763_717_400_000),
    keyId: root,
  };
  const signature = encodeSignature(Uint8Array.of(1));
  return { envelope, signed: { statement: envelopeStatement.write(envelope), signature } };
}

export function anchorMessage({ envelope, signed }: StoredBatch): string {
  return writeLedgerMessage(nameEnvelope(nativeSuite, FEDERATION, envelope, signed.statement));
}

export function envelopeHash({ signed }: StoredBatch): Sha256Hash {
  return hashText(nativeSuite, signed.statement);
}
