import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import type { FederationKeys } from './members/federation-keys.ts';
import { type FederationLog, LogDamagedError } from './federation-log.ts';

/** The signing keys of members, each judged by the identity keys of the rosters up to a decision (TRUST §5). */
export class ChainKeys {
  readonly #keys: Pick<FederationKeys, 'directory'>;
  readonly #log: Pick<FederationLog, 'rosterText' | 'state'>;
  readonly #identityKeys = new Map<Sha256Hash, ReadonlyMap<NodeId, Base64url>>();

  constructor(keys: Pick<FederationKeys, 'directory'>, log: Pick<FederationLog, 'rosterText' | 'state'>) {
    this.#keys = keys;
    this.#log = log;
  }

  /**
   * What looks up `node`'s public key of an id, certified for records from `first` on or earlier ones, by an identity key
   * of a roster that came into force before the decision at `index`. Throws `LogDamagedError`.
   */
  async upTo(node: NodeId, index: number): Promise<(keyId: Sha256Hash, first: number) => Uint8Array | undefined> {
    const identityKeys = await this.#identityKeysUpTo(node, index);
    return (keyId, first) => this.#keys.directory.covering(node, keyId, first, identityKeys)?.publicKey;
  }

  async #identityKeysUpTo(node: NodeId, index: number): Promise<readonly Base64url[]> {
    const found = new Set<Base64url>();
    for (const roster of this.#log.state.rosters) {
      if (roster.index !== null && roster.index >= index) break;
      const key = (await this.#membersOf(roster.hash)).get(node);
      if (key !== undefined) found.add(key);
    }
    return [...found];
  }

  async #membersOf(hash: Sha256Hash): Promise<ReadonlyMap<NodeId, Base64url>> {
    const known = this.#identityKeys.get(hash);
    if (known !== undefined) return known;
    const text = await this.#log.rosterText(hash);
    if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
    const { members } = rosterStatement.parse(text);
    const keys = new Map(members.map(({ node, identityKey }) => [node, identityKey]));
    this.#identityKeys.set(hash, keys);
    return keys;
  }
}
