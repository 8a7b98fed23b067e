import type { CertifiedKey } from '../../protocol/chain/certified-keys.ts';
import { isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import { isNodeId, type NodeId } from '../../protocol/ids.ts';
import { KeyDirectory } from '../../protocol/keys/key-directory.ts';
import { KeyError } from '../../protocol/keys/key-error.ts';
import type { KnownRevocation } from '../../protocol/keys/known-revocations.ts';
import { rosterInForce } from '../../protocol/log/decision-state.ts';
import type { Checkpoint } from '../../protocol/log/checkpoint.ts';
import { type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { Signatories } from '../../node/log/checkpoint-store.ts';
import { checkpointStands, identityKeysOf } from '../../node/log/checkpoint-standing.ts';
import { type FederationLog, LogDamagedError } from '../../node/log/federation-log.ts';
import { type LogRoster, logRosters } from '../../node/log/log-rosters.ts';

/** A revocation that the log put in force. */
export interface RevocationInForce {
  readonly node: NodeId;
  readonly keyId: Sha256Hash;
  readonly statement: Sha256Hash;
  /** Place of its decision. */
  readonly index: number;
  /** Undefined until a node shows its text. */
  readonly shown: KnownRevocation | undefined;
}

/**
 * Who belongs to the federation by the log's own decisions, and which keys speak for whom: certificates and revocations
 * as nodes show them, each judged by the identity keys of the rosters that came into force.
 */
export class StatementWatch implements Signatories {
  readonly directory: KeyDirectory;
  readonly #log: FederationLog;
  /** By hash, of the rosters in force so far, from the genesis on. */
  readonly #rosters = new Map<Sha256Hash, Roster>();
  #lacksKeys = true;

  private constructor(log: FederationLog) {
    this.#log = log;
    const isNamed = ({ revocation: { node, keyId }, hash }: KnownRevocation): boolean =>
      log.state.revoked[node]?.[keyId]?.some(({ statement }) => statement === hash) === true;
    const rosters = { identityKeys: (node: NodeId) => this.identityKeys(node) };
    this.directory = new KeyDirectory(nativeSuite, () => rosters, isNamed);
  }

  /** Throws `LogDamagedError` where the text of a roster in force is missing. */
  static async open(log: FederationLog): Promise<StatementWatch> {
    const watch = new StatementWatch(log);
    await watch.followLog();
    return watch;
  }

  /** The roster in force by the log as it was read. */
  get roster(): Roster {
    const roster = this.#rosters.get(rosterInForce(this.#log.state));
    if (roster === undefined) throw new LogDamagedError('the text of the roster in force is missing');
    return roster;
  }

  /** Every roster that was in force, with its place in the log. */
  rosters(): readonly LogRoster[] {
    return logRosters(this.#log.state, { rosters: [...this.#rosters.values()] });
  }

  /** Whether no revocation in force takes the checkpoint along. */
  stands(checkpoint: Checkpoint): boolean {
    return checkpointStands(this, this.#log.state, checkpoint);
  }

  /** Identity keys that certified the key of a checkpoint. */
  identityKeysOf(checkpoint: Checkpoint): readonly Base64url[] {
    return identityKeysOf(this, checkpoint);
  }

  /** Whether somebody else may have held a key: a revocation in force says so, or its text is not known. */
  isCompromised(node: NodeId, keyId: Sha256Hash): boolean {
    return this.#revocationsOf(node, keyId).some(({ shown }) => shown?.revocation.reason !== 'rotated');
  }

  /** Whether a signature was by a key that no certificate is known of; asking resets it. */
  takeLackOfKeys(): boolean {
    const lacks = this.#lacksKeys;
    this.#lacksKeys = false;
    return lacks;
  }

  /** The log has grown. Returns rosters that came into force since the last call. */
  async followLog(): Promise<readonly Roster[]> {
    const added: Roster[] = [];
    for (const { hash } of this.#log.state.rosters) {
      if (this.#rosters.has(hash)) continue;
      const text = await this.#log.rosterText(hash);
      if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
      const roster = rosterStatement.parse(text);
      this.#rosters.set(hash, roster);
      added.push(roster);
    }
    return added;
  }

  /** Identity keys that any roster in force so far named for a node, the newest first. */
  identityKeys(node: NodeId): readonly Base64url[] {
    const named = [...this.#rosters.values()].flatMap(({ members }) =>
      members.filter((member) => member.node === node),
    );
    return [...new Set(named.map(({ identityKey }) => identityKey))].toReversed();
  }

  /** Whether the certificate may hold: those of nodes that no roster in force named so far are passed over. */
  learnCertificate(signed: SignedStatement): boolean {
    return mayHold(() => this.directory.addCertificate(signed));
  }

  /** Whether the revocation may hold, likewise. */
  learnRevocation(signed: SignedStatement): boolean {
    return mayHold(() => this.directory.addRevocation(signed));
  }

  /** Every revocation in force, in order of node and key. */
  revocationsInForce(): readonly RevocationInForce[] {
    return Object.entries(this.#log.state.revoked).flatMap(([node, keys]) =>
      Object.keys(keys).flatMap((keyId) =>
        isNodeId(node) && isSha256Hash(keyId) ? this.#revocationsOf(node, keyId) : [],
      ),
    );
  }

  /** The key of that id by which a node signs; undefined where no certificate of it is known here. */
  signingKey(node: NodeId, keyId: Sha256Hash): CertifiedKey | undefined {
    const key = this.directory.get(node, keyId);
    if (key === undefined) this.#lacksKeys = true;
    return key;
  }

  #revocationsOf(node: NodeId, keyId: Sha256Hash): readonly RevocationInForce[] {
    const texts = this.directory.revocations(node, keyId);
    return (this.#log.state.revoked[node]?.[keyId] ?? []).map(({ statement, index }) => {
      return { node, keyId, statement, index, shown: texts.find(({ hash }) => hash === statement) };
    });
  }
}

/** Not where it is malformed or not signed by its node. One of a stranger, or one too many, is let be. */
function mayHold(learn: () => unknown): boolean {
  try {
    learn();
    return true;
  } catch (error) {
    if (!(error instanceof KeyError)) throw error;
    return error.code === 'unknown-member' || error.code === 'too-many';
  }
}
