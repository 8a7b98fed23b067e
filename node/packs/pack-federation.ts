import type { NodeId } from '../../protocol/ids.ts';
import { canonicalize } from '../../protocol/json/canonical.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import { keyCertificateStatement } from '../../protocol/keys/certificate.ts';
import { checkpointStatement } from '../../protocol/log/checkpoint.ts';
import {
  BUNDLE_MAX_DEPTH,
  type DecisionProof,
  type FederationFile,
  FederationFileShape,
} from '../../protocol/verdict/bundle.ts';
import { fileReader } from '../../protocol/verdict/file-reader.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { readBatch } from '../records/batch-tables.ts';
import { chainStateTable, sealingKeysOf } from '../records/chain-tables.ts';
import type { Rows } from '../store/store.ts';
import type { Evidence } from '../verification/evidence.ts';
import { type FederationProofSources, placeDecision, proveFederation } from '../verification/federation-proof.ts';
import { certificatesOf, type NodeKey } from '../verification/signing-keys.ts';

const readFile = fileReader(FederationFileShape);

export interface PackFederationSources extends FederationProofSources {
  readonly self: NodeId;
  readonly store: Rows;
  readonly keys: Pick<FederationKeys, 'directory'>;
}

/** What packs say of the federation: its checkpoints, keys, revocations and rosters, kept as a text for each pack. */
export class PackFederation {
  readonly #sources: PackFederationSources;

  constructor(sources: PackFederationSources) {
    this.#sources = sources;
  }

  /**
   * The text of `proofs/federation.json`: what witnesses the newest record of each node, and so all before it, every key
   * of this node, and those that sealed batches of the others: a member may certify more than a file may have.
   */
  async prove(newest: readonly Evidence[], nodes: readonly NodeId[]): Promise<string> {
    const subjects = newest.flatMap(({ record, batch, decision }) =>
      batch === undefined || decision === null ? [] : [{ node: record.node, batch: batch.envelope.batch, decision }],
    );
    const last = new Map(subjects.map(({ node, batch }) => [node, batch]));
    const signing = await Promise.all(nodes.map((node) => this.#keysOf(node, last.get(node) ?? 0)));
    const { statements } = await proveFederation(this.#sources, subjects, signing.flat());
    return textOf(statements);
  }

  /** Sizes of the trees of a text's checkpoints. */
  sizesOf(text: string): readonly number[] {
    return [...new Set(read(text).checkpoints.map((signed) => checkpointStatement.parse(signed.text).size))];
  }

  /** Where the decision of a batch stands in trees of these sizes; null where there is none. */
  async place(sizes: readonly number[], node: NodeId, batch: number): Promise<DecisionProof | null> {
    const decision = await this.#sources.federationLog.decisionOf(node, batch);
    return decision === undefined ? null : placeDecision(this.#sources.federationLog, decision, sizes);
  }

  /** A member one of whose checkpoints in a text is by a key that was compromised since; undefined where there is none. */
  staleMember(text: string): NodeId | undefined {
    const checkpoints = read(text).checkpoints.map((signed) => checkpointStatement.parse(signed.text));
    return checkpoints.find(({ node, keyId }) => this.#sources.keys.directory.compromisedSince(node, keyId) !== null)
      ?.node;
  }

  /** Whether a text has the certificate of a key. */
  certifies(text: string, { node, keyId }: NodeKey): boolean {
    return read(text).keys.some(({ statement }) => {
      const certificate = keyCertificateStatement.parse(statement);
      return certificate.node === node && certificate.keyId === keyId;
    });
  }

  /** The same text with the certificates of one more key. */
  withKey(text: string, key: NodeKey): string {
    const file = read(text);
    return textOf({ ...file, keys: [...file.keys, ...certificatesOf(this.#sources.keys, [key])] });
  }

  /** Of another node those that signed its batches up to `last`, whether this node has derived these or not. */
  async #keysOf(node: NodeId, last: number): Promise<readonly NodeKey[]> {
    const { self, store, keys } = this.#sources;
    const certified = new Set(keys.directory.of(node).map(({ certificate }) => certificate.keyId));
    const all = [...certified].map((keyId) => ({ node, keyId }));
    if (node === self) return all;
    const sealing = new Set((await sealingKeysOf(store, node)).keys());
    const derived = (await chainStateTable.get(store, node))?.batch ?? 0;
    for (let batch = derived + 1; batch <= last; batch++) {
      const held = await readBatch(store, node, batch);
      if (held !== undefined) sealing.add(held.envelope.keyId);
    }
    return all.filter(({ keyId }) => sealing.has(keyId));
  }
}

function read(text: string): FederationFile {
  return readFile(parseJson(text, { maxDepth: BUNDLE_MAX_DEPTH }));
}

function textOf({ checkpoints, keys, revocations, rosters }: FederationFile): string {
  return canonicalize({ checkpoints, keys, revocations, rosters });
}
