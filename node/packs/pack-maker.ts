import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hashText } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { PACK_FILES, type PackSignature, packStatement } from '../../protocol/pack/manifest.ts';
import { signStatement } from '../../protocol/statement/statement.ts';
import type { Signer } from '../../protocol/suite/suite.ts';
import type { CallHandlers } from '../concurrency/port-call.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { OpenedPayload, PayloadCipher } from '../records/payload/payload-cipher.ts';
import type { KeyHolder } from '../records/payload/payload-keys.ts';
import { readPayload } from '../records/payload/payload-tables.ts';
import { storeHandlers } from '../store/port-reads.ts';
import type { Store } from '../store/store.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { GROWING } from './making/record-files.ts';
import { type PackCalls, PackError, type PackWord } from './pack-calls.ts';
import type { PackFederation } from './pack-federation.ts';
import type { PackReach } from './pack-reach.ts';
import { packFederationTable, type PackRow, packSignatureTable } from './pack-tables.ts';
import type { PackThread } from './pack-thread.ts';

export interface PackMakerOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly cipher: PayloadCipher;
  readonly keys: Pick<FederationKeys, 'directory'>;
  readonly signer: () => Signer;
  readonly reach: Pick<PackReach, 'confirmed'>;
  readonly federation: PackFederation;
  readonly thread: PackThread;
  /** Paths of the two verifiers in one file, made at the first need. */
  readonly verifiers: () => Promise<{ readonly page: string; readonly script: string }>;
}

/** Where a pack is made, and who is told of it. */
export interface Making {
  /** Folder of the pack alone. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Told between records; what it throws ends the making. `bytes`: what its files take by now. */
  readonly onProgress: (done: number, total: number, bytes: number) => void;
}

/** A pack that was made, and what it has otherwise than the one before for its question. */
export interface MadePack {
  readonly word: PackWord;
  readonly replaced: PackRow['replaced'];
}

/** Makes packs one by one: what the thread cannot do by itself, it does for it. */
export class PackMaker {
  readonly #options: PackMakerOptions;

  constructor(options: PackMakerOptions) {
    this.#options = options;
  }

  /** Whether all that a pack needs of the federation is there: its last records are confirmed, or were when it was made. */
  async isReady(row: PackRow): Promise<boolean> {
    const { store, federation, reach } = this.#options;
    const kept = await packFederationTable.get(store, row.id);
    if (kept !== undefined && federation.staleMember(kept) === undefined) return true;
    return (await reach.confirmed(row.reach)) !== null;
  }

  /** Rejects with the signal's reason, with what `onProgress` throws, and with `WorkerError`. */
  async make(row: PackRow, making: Making): Promise<MadePack> {
    let replaced = row.replaced;
    try {
      const { text: known, reason } = await this.#federationOf(row, making);
      let text = known;
      if (reason !== null) replaced = named(replaced, [PACK_FILES.federation, PACK_FILES.batches], reason);
      await mkdir(making.folder, { recursive: true, mode: 0o700 });
      for (;;) {
        const attempt = new Attempt(this.#options, row, text, making);
        const word = await attempt.run(replaced);
        if (word !== null) return { word, replaced };
        text = attempt.textWithKey();
        await this.#options.store.write([packFederationTable.put([row.id], text)]);
        if (row.made === null) continue;
        replaced = named(replaced, [PACK_FILES.federation], 'the node signs by another key than it did then');
      }
    } catch (error) {
      if (!(error instanceof PackError)) throw error;
      return { word: { kind: 'failed', reason: error.message }, replaced };
    }
  }

  /** What was kept for the pack; anew where there is nothing, or it does not count any more, and then why. */
  async #federationOf(row: PackRow, { folder }: Making): Promise<{ text: string; reason: string | null }> {
    const { store, federation } = this.#options;
    const kept = await packFederationTable.get(store, row.id);
    const stale = kept === undefined ? undefined : federation.staleMember(kept);
    if (kept !== undefined && stale === undefined) return { text: kept, reason: null };
    const text = await this.#prove(row);
    // Lines of batches say where decisions stand in the trees of other checkpoints than these.
    await rm(folder, { recursive: true, force: true });
    await store.write([packFederationTable.put([row.id], text)]);
    const reason = stale === undefined ? null : `a key of ${stale} that signed a checkpoint was compromised`;
    return { text, reason };
  }

  async #prove({ reach }: PackRow): Promise<string> {
    const { self, federation } = this.#options;
    const newest = await this.#options.reach.confirmed(reach);
    if (newest === null) throw new PackError('its last records are not confirmed');
    return federation.prove(newest, [...new Set([self, ...reach.map(({ node }) => node)])]);
  }
}

/** One run of the thread for a pack. */
class Attempt {
  readonly #options: PackMakerOptions;
  readonly #row: PackRow;
  readonly #text: string;
  readonly #making: Making;
  readonly #ending = new AbortController();
  #missing: Signer | undefined;

  constructor(options: PackMakerOptions, row: PackRow, text: string, making: Making) {
    this.#options = options;
    this.#row = row;
    this.#text = text;
    this.#making = making;
  }

  /** Null where the key that signs now has no certificate in the text: then it is made again by `textWithKey`. */
  async run(replaced: PackRow['replaced']): Promise<PackWord | null> {
    const { self, thread, verifiers } = this.#options;
    const { folder, signal } = this.#making;
    const order = {
      folder,
      node: self,
      pack: { ...this.#row, replaced },
      federation: this.#text,
      verifiers: await verifiers(),
    };
    try {
      return await thread.make(order, this.#handlers(), AbortSignal.any([signal, this.#ending.signal]));
    } catch (error) {
      if (this.#missing !== undefined && !signal.aborted) return null;
      throw error;
    }
  }

  textWithKey(): string {
    const { self, federation } = this.#options;
    if (this.#missing === undefined) throw new RangeError('the key that signs is certified in the text');
    return federation.withKey(this.#text, { node: self, keyId: this.#missing.keyId });
  }

  #handlers(): CallHandlers<PackCalls> {
    const { store, federation } = this.#options;
    const sizes = federation.sizesOf(this.#text);
    return {
      ...storeHandlers(store),
      place: ({ node, batch }) => federation.place(sizes, node, batch),
      disclose: (holders) => this.#disclose(holders),
      sign: (text) => this.#sign(text),
      progress: async ({ done, total }) => this.#tell(done, total),
    };
  }

  async #tell(done: number, total: number): Promise<undefined> {
    const { folder, onProgress } = this.#making;
    try {
      onProgress(done, total, await bytesOf(folder));
    } catch (error) {
      this.#ending.abort(error);
      throw error;
    }
  }

  async #disclose(holders: readonly KeyHolder[]): Promise<readonly (OpenedPayload | null)[]> {
    const { store, cipher } = this.#options;
    const opened: (OpenedPayload | null)[] = [];
    const slices = new TimeSlices();
    for (const { id, seq } of holders) {
      if (slices.isOver) await slices.rest();
      const payload = await readPayload(store, cipher, id, seq);
      opened.push(payload === 'erased' ? null : { salt: Uint8Array.from(payload.salt), text: payload.text });
    }
    return opened;
  }

  /** The signature that the manifest had before, where it is the same and its key is still good. */
  async #sign(text: string): Promise<PackSignature> {
    const { self, store, keys, federation, signer: pick } = this.#options;
    const manifestHash = hashText(nativeSuite, text);
    const kept = await packSignatureTable.get(store, this.#row.id);
    if (kept?.manifestHash === manifestHash && keys.directory.compromisedSince(self, kept.keyId) === null) {
      return { keyId: kept.keyId, node: kept.node, signature: kept.signature };
    }
    const signer = pick();
    if (!federation.certifies(this.#text, { node: self, keyId: signer.keyId })) {
      this.#missing = signer;
      const error = new PackError('the key that signs has no certificate in the pack');
      this.#ending.abort(error);
      throw error;
    }
    const { signature } = await signStatement(packStatement, packStatement.parse(text), signer);
    const signed = { keyId: signer.keyId, node: self, signature };
    await store.write([packSignatureTable.put([this.#row.id], { manifestHash, ...signed })]);
    return signed;
  }
}

/** What the growing files of a pack take. */
async function bytesOf(folder: string): Promise<number> {
  const sizes = await Promise.all(
    Object.values(GROWING).map(async (name) => (await stat(join(folder, name)).catch(() => undefined))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Each path once, with the last reason. */
function named(replaced: PackRow['replaced'], paths: readonly string[], reason: string): PackRow['replaced'] {
  return [...replaced.filter(({ path }) => !paths.includes(path)), ...paths.map((path) => ({ path, reason }))];
}
