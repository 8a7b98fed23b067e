import { encodeBase64url } from '../../../protocol/bytes.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { type EntityId, entityId, type NodeId, nodeId } from '../../../protocol/ids.ts';
import { type LedgerMessage, writeLedgerMessage } from '../../../protocol/log/message.ts';
import { DEFAULT_REVOCATION_REACH, type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { isBase64url, type SignedStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import type { LogMember } from '../../fixtures/federation-log-member.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { keyedSigner, keyedSuite } from '../../fixtures/keyed-suite.ts';
import { NETWORK, TOPIC, TopicLine } from './ledger.ts';
import { Network } from './network.ts';

export const GENESIS_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 1000;

/** A federation's size and quorum. */
export interface Terms {
  readonly nodes: readonly string[];
  readonly quorum: number;
}

/**
 * What all members of one schedule share: the genesis, their keys, the true topic, the network and the counter of time.
 */
export class Setting {
  readonly made: readonly LogMember[];
  readonly genesis: Roster;
  readonly genesisText: string;
  readonly federation: Sha256Hash;
  readonly truth = new TopicLine();
  readonly network = new Network();
  /** Texts of rosters that operators have signed, by hash. */
  readonly rosters = new Map<Sha256Hash, string>();
  #now = GENESIS_MS;

  constructor(made: readonly LogMember[], quorum: number) {
    this.made = made;
    this.genesis = {
      v: 2,
      type: 'roster',
      name: 'model',
      version: 1,
      previous: null,
      quorum,
      members: made.map(({ member }) => member),
      ledger: { network: NETWORK, topicId: TOPIC },
      revocationReach: DEFAULT_REVOCATION_REACH,
      issuedAt: timestampOf(GENESIS_MS),
    };
    this.genesisText = rosterStatement.write(this.genesis);
    this.federation = hashText(keyedSuite, this.genesisText);
    this.rosters.set(this.federation, this.genesisText);
  }

  /** Moves the counter of time on, and reads it. In epoch milliseconds. */
  tick(): number {
    this.#now += STEP_MS;
    return this.#now;
  }

  get nodes(): readonly NodeId[] {
    return this.made.map(({ node }) => node);
  }

  get certificates(): readonly SignedStatement[] {
    return this.made.flatMap(({ keys }) => keys.map(({ signed }) => signed));
  }

  makerOf(node: NodeId): LogMember {
    const made = this.made.find((one) => one.node === node);
    if (made === undefined) throw new RangeError(`${node} is no member`);
    return made;
  }

  accountOf(node: NodeId): EntityId {
    const [account] = this.makerOf(node).member.accounts;
    if (account === undefined) throw new RangeError(`${node} has no account`);
    return account;
  }

  publicKey(node: NodeId, keyId: Sha256Hash): Uint8Array | undefined {
    return this.makerOf(node).keys.find(({ signer }) => signer.keyId === keyId)?.signer.publicKey;
  }

  /** Puts a message onto the true ledger. Returns its sequence number. */
  pay(payer: EntityId, said: LedgerMessage | Uint8Array): number {
    const message = said instanceof Uint8Array ? said : utf8(writeLedgerMessage(said));
    return this.truth.append({ payer, message, at: this.tick() }).sequence;
  }
}

const made = new Map<string, Promise<LogMember>>();

/** The same members, whose keys are made once, for every schedule. */
export async function makeSetting({ nodes, quorum }: Terms): Promise<Setting> {
  const members = await Promise.all(nodes.map((node) => madeOnce(node)));
  return new Setting(members, quorum);
}

function madeOnce(name: string): Promise<LogMember> {
  const known = made.get(name) ?? makeMember(name);
  made.set(name, known);
  return known;
}

async function makeMember(name: string): Promise<LogMember> {
  const node = nodeId(name);
  const identity = keyedSigner(seedOf(`${name}/identity`));
  const signer = keyedSigner(seedOf(`${name}/signing`));
  const identityKey = encodeBase64url(identity.publicKey);
  if (!isBase64url(identityKey)) throw new Error('a key has base64url text');
  const { signed } = await certifyKey(node, identity, signer, { validFrom: timestampOf(GENESIS_MS), seqFrom: 1 });
  const account = entityId(`0.0.${Number.parseInt(name, 36)}`);
  return {
    node,
    identity,
    keys: [{ signer, signed }],
    member: {
      node,
      region: name,
      baseUrl: `https://${name}.example`,
      peerId: `peer-${name}`,
      multiaddrs: [],
      accounts: [account],
      identityKey,
    },
  };
}
