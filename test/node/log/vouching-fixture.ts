import { pino } from 'pino';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { LoggedBatch } from '../../../node/log/federation-log.ts';
import { Vouching, type VouchingOptions } from '../../../node/log/vouching.ts';
import { batchOperations } from '../../../node/records/batch-tables.ts';
import { groupOperations } from '../../../node/records/record-tables.ts';
import type { CommitGate } from '../../../node/store/operation.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { openRecord } from '../../../protocol/chain/record.ts';
import { writeSha384 } from '../../../protocol/hash.ts';
import { entityId, type NodeId, nodeId } from '../../../protocol/ids.ts';
import { KeyDirectory } from '../../../protocol/keys/key-directory.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import type { DecisionState } from '../../../protocol/log/decision-state.ts';
import { type Decision, decisionText } from '../../../protocol/log/decision.ts';
import { initialState } from '../../../protocol/log/in-force.ts';
import { type BatchMessage, writeLedgerMessage } from '../../../protocol/log/message.ts';
import { DEFAULT_REVOCATION_REACH, rosterStatement } from '../../../protocol/log/roster.ts';
import { TileTree } from '../../../protocol/merkle/tiles.ts';
import { groupStatement } from '../../../protocol/statement/group.ts';
import { encodeSignature, signStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { ChainBatch, MemberChain } from '../../fixtures/member-chain.ts';
import { LogStore } from './log-store.ts';

/** Before the first batch of a `MemberChain`. */
const ISSUED_AT = timestampOf(Date.UTC(2026, 0, 1));
const LEDGER = { network: 'testnet', topicId: entityId('0.0.5005') };
const ACCOUNT = entityId('0.0.1001');

/** One member that holds another one's chain, beside a log that decides what a test says. */
export class VouchingFixture implements AsyncDisposable {
  readonly chain: MemberChain;
  /** Batches of which the log decided another envelope than the one that is held. */
  readonly rivals: number[] = [];
  /** Called when more is vouched for. */
  onVouched: () => void = () => undefined;
  readonly #disk: LogStore;
  readonly #directory: KeyDirectory;
  readonly #rosters: RosterChain;
  readonly #decided: LoggedBatch[] = [];
  readonly #listeners = new Set<(node: NodeId) => void>();
  #state: DecisionState;
  #vouching: Vouching | undefined;
  #told = 0;

  private constructor(chain: MemberChain, disk: LogStore, rosters: RosterChain) {
    this.chain = chain;
    this.#disk = disk;
    this.#rosters = rosters;
    this.#directory = new KeyDirectory(nativeSuite, () => rosters);
    this.#state = initialState(nativeSuite, rosters.signedGenesis.statement);
  }

  /** With `certified` false, this member has no certificate of the chain's keys until `certify`. */
  static async open(chain: MemberChain, { gate, certified = true }: { gate?: CommitGate; certified?: boolean } = {}) {
    const fixture = new VouchingFixture(chain, await LogStore.open(gate), await rostersOf(chain));
    if (certified) fixture.certify();
    await fixture.#begin();
    return fixture;
  }

  get vouching(): Vouching {
    if (this.#vouching === undefined) throw new Error('closed');
    return this.#vouching;
  }

  /** The last batch that is vouched for; 0 for none. */
  get vouched(): number {
    return this.vouching.vouched().get(this.chain.node) ?? 0;
  }

  /** How often it was told that more is vouched for. */
  get told(): number {
    return this.#told;
  }

  /** Why the chain goes no further; null where it does. */
  get stuck(): readonly [batch: number, code: string] | null {
    const [underived] = this.vouching.underived;
    return underived === undefined ? null : [underived.batch, underived.code];
  }

  certify(): void {
    for (const certificate of this.chain.certificates) this.#directory.addCertificate(certificate);
    for (const listener of this.#listeners) listener(this.chain.node);
  }

  /** Stores a batch, as catching up does. */
  async hold({ envelope, groups }: ChainBatch): Promise<void> {
    const { store } = this.#disk;
    const tree = new TileTree(nativeSuite);
    for (const { signed, records } of groups) {
      const written = records.map(({ head, body }) => {
        const texts = { head, body: body ?? '' };
        return { texts, record: openRecord(nativeSuite, texts) };
      });
      await store.write(groupOperations({ group: groupStatement.parse(signed.statement), signed, records: written }));
    }
    const value = envelopeStatement.parse(envelope.statement);
    await store.write(batchOperations({ envelope: value, signed: envelope }, tree.tiles()));
    this.vouching.poke(this.chain.node);
  }

  /** Has the log decide a batch. */
  decide({ decided }: ChainBatch): void {
    const { node, batch, envelope, keyId, consensusTimestamp } = decided;
    const { federation } = this.#state;
    const named: BatchMessage = { v: 2, type: 'batch', federation, node, batch, envelope, keyId };
    const message = writeLedgerMessage(named);
    const index = this.#decided.length;
    const decision: Decision = {
      v: 1,
      type: 'decision',
      index,
      ...LEDGER,
      sequence: String(index + 1),
      consensusTimestamp,
      payer: ACCOUNT,
      message,
      runningHash: writeSha384(nativeSuite.sha384(message)),
    };
    this.#decided.push({ decision, named, text: decisionText.write(decision) });
    const member = this.#state.members[node];
    if (member === undefined) throw new Error(`${node} is no member`);
    const members = { ...this.#state.members, [node]: { ...member, last: { batch, envelope, index } } };
    this.#state = { ...this.#state, members };
    this.vouching.poke(node);
  }

  async holdAndDecide(batch: ChainBatch): Promise<void> {
    await this.hold(batch);
    this.decide(batch);
  }

  /** As after a crash. */
  async restart(): Promise<void> {
    await this.vouching[Symbol.asyncDispose]();
    await this.#disk.reopen();
    await this.#begin();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.vouching[Symbol.asyncDispose]();
    await this.#disk[Symbol.asyncDispose]();
  }

  async #begin(): Promise<void> {
    this.#vouching = await Vouching.open({
      self: nodeId('us'),
      store: this.#disk.store,
      keys: {
        directory: this.#directory,
        rosters: this.#rosters,
        onCertificate: (listener) => {
          this.#listeners.add(listener);
          return () => this.#listeners.delete(listener);
        },
      },
      federationLog: this.#log(),
      onVouched: () => {
        this.#told++;
        this.onVouched();
      },
      onRivalDecided: (_node, batch) => this.rivals.push(batch),
      log: pino({ level: 'silent' }),
    });
    this.#vouching.start();
  }

  #log(): VouchingOptions['federationLog'] {
    const state = () => this.#state;
    return {
      get state() {
        return state();
      },
      timeOf: async (index) => {
        throw new RangeError(`no roster was decided at ${index}`);
      },
      rosterText: async () => this.#rosters.signedGenesis.statement,
      batch: async (_node, batch) => this.#decided.find(({ named }) => named.batch === batch),
    };
  }
}

async function rostersOf(chain: MemberChain): Promise<RosterChain> {
  const statement = rosterStatement.write({
    v: 2,
    type: 'roster',
    name: 'test',
    version: 1,
    previous: null,
    issuedAt: ISSUED_AT,
    ledger: LEDGER,
    quorum: 0,
    revocationReach: DEFAULT_REVOCATION_REACH,
    members: [
      {
        node: chain.node,
        region: 'test',
        baseUrl: 'https://eu.example.org',
        peerId: '12D3KooWeu',
        multiaddrs: [],
        accounts: [ACCOUNT],
        identityKey: encodeSignature(chain.identity.publicKey),
      },
    ],
  });
  const { signature } = await signStatement(rosterStatement, rosterStatement.parse(statement), chain.identity);
  return RosterChain.open(nativeSuite, {
    genesis: { statement, signatures: [{ node: chain.node, signature }] },
    later: [],
  });
}
