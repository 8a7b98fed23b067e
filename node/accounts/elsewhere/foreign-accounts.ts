import type { Logger } from 'pino';
import { homeOf } from '../../../protocol/accounts/account-id.ts';
import type { KeyId } from '../../../protocol/accounts/key-id.ts';
import { readAccountStatement, type StatedKey } from '../../../protocol/accounts/statement.ts';
import { lowerTier, type Tier } from '../../../protocol/accounts/tier.ts';
import type { NodeId, RecordId } from '../../../protocol/ids.ts';
import { refusalOf } from '../../records/record-tables.ts';
import type { Reads } from '../../store/store.ts';
import type { Account } from '../account.ts';
import { type AccountVersions, namedBy } from './account-versions.ts';
import { foreignKeyTable } from './held-statement-tables.ts';
import { heldVersions, lastUpTo } from './held-statements.ts';

export interface ForeignAccountsOptions {
  readonly self: NodeId;
  readonly store: Reads;
  readonly versions: Pick<AccountVersions, 'of'>;
  /** The highest tier that an account of another node has here. */
  readonly foreignTier: Tier;
  readonly log: Logger;
}

/** An account whose home is another node, as far as it is in force here. */
export interface ForeignAccount {
  readonly home: NodeId;
  /** With the tier that it has here. */
  readonly account: Account;
  /** Of the newest version that is held: the terms of its keys. */
  readonly keys: readonly StatedKey[];
  /** Of those, the ones that stand in the newest decided version too. */
  readonly valid: ReadonlySet<string>;
  /** The nodes that have a say in it. */
  readonly nodes: ReadonlySet<NodeId>;
}

export interface ForeignKey {
  readonly foreign: ForeignAccount;
  readonly key: StatedKey;
  /** The record by which the key was refused; undefined where it was not. */
  readonly refusal: RecordId | undefined;
}

const HASH_PREFIX = 'sha256:';
/** Keys that the log is told of, in one run. */
const MAX_TOLD = 1_000;

/**
 * Accounts of other nodes, by the statements of their homes that this node holds (protocol §5). A key is in force here
 * where the newest version that is held states it, and the newest that the log has decided too, both of them naming
 * this node: so neither a version that a fork of its home may undo gives a key, nor does a key outlive its revocation
 * until it is decided. A version that does not name this node ends all keys here as soon as its record arrives.
 */
export class ForeignAccounts {
  readonly #options: ForeignAccountsOptions;
  /** Keys that two accounts state, of which the log was told. */
  readonly #told = new Set<string>();

  constructor(options: ForeignAccountsOptions) {
    this.#options = options;
  }

  /** The account, where keys of it may be in force here. */
  async find(account: string): Promise<ForeignAccount | undefined> {
    const { self, store, versions, foreignTier } = this.#options;
    const known = await versions.of(account);
    if (known?.decided === undefined) return undefined;
    const { newest, decided } = known;
    if (![newest, decided].every((version) => namedBy(version).includes(self))) return undefined;
    const held = await heldVersions(store, newest.node, account);
    const [last, lastDecided] = [lastUpTo(held, newest.seq), lastUpTo(held, decided.seq)];
    if (last === undefined || lastDecided === undefined) return undefined;
    const { keys, tier } = readAccountStatement(last.text);
    const before = last === lastDecided ? keys : readAccountStatement(lastDecided.text).keys;
    return {
      home: newest.node,
      account: { id: account, tier: lowerTier(tier, foreignTier) },
      keys,
      valid: new Set(keys.filter((key) => before.some((other) => isSameKey(key, other))).map(({ id }) => id)),
      nodes: new Set([...namedBy(newest), ...namedBy(decided)]),
    };
  }

  /** The key of a digest, if it is one of such an account's; `ended` where only an older version states it. */
  async key(digest: string): Promise<ForeignKey | 'ended' | undefined> {
    const row = await foreignKeyTable.get(this.#options.store, digest);
    const [account, ...others] = row?.accounts ?? [];
    if (row === undefined || account === undefined) return undefined;
    if (row.contested) {
      this.#tell(digest, [account, ...others]);
      return undefined;
    }
    const foreign = await this.find(account);
    if (foreign === undefined) return undefined;
    const key = foreign.keys.find(({ hash }) => hash === HASH_PREFIX + digest);
    if (key === undefined) return 'ended';
    if (!foreign.valid.has(key.id)) return undefined;
    return { foreign, key, refusal: await this.refusalOf(foreign, key.id) };
  }

  /** The same of a key by its id. */
  async keyOf(account: string, id: string): Promise<ForeignKey | 'ended' | undefined> {
    const home = homeOf(account);
    if (home === undefined || home === this.#options.self) return undefined;
    const hash = (await this.find(account))?.keys.find((key) => key.id === id)?.hash;
    const found = hash === undefined ? undefined : await this.key(hash.slice(HASH_PREFIX.length));
    return typeof found === 'object' && found.foreign.account.id !== account ? undefined : found;
  }

  /** The record by which a node that has a say refused a key for good; undefined where none did. */
  refusalOf({ account, nodes }: ForeignAccount, key: KeyId): Promise<RecordId | undefined> {
    return refusalOf(this.#options.store, account.id, key, nodes);
  }

  /** Whoever stated it second may know nothing but its hash: neither is to have what is sent with the other's key. */
  #tell(digest: string, accounts: readonly string[]): void {
    if (this.#told.has(digest) || this.#told.size >= MAX_TOLD) return;
    this.#told.add(digest);
    this.#options.log.error({ accounts }, 'two accounts of other nodes state the same API key: it is refused here');
  }
}

function isSameKey(one: StatedKey, other: StatedKey): boolean {
  return one.id === other.id && one.hash === other.hash;
}
