import { pino } from 'pino';
import { AccountVersions } from '../../../../node/accounts/elsewhere/account-versions.ts';
import { ForeignAccounts, type ForeignKey } from '../../../../node/accounts/elsewhere/foreign-accounts.ts';
import { heldStatementTable, wantedStatementTable } from '../../../../node/accounts/elsewhere/held-statement-tables.ts';
import {
  HeldStatements,
  STATEMENT_BOUNDS,
  type StatementBounds,
} from '../../../../node/accounts/elsewhere/held-statements.ts';
import { StatementFollower } from '../../../../node/accounts/elsewhere/statement-follower.ts';
import { keyDigest } from '../../../../node/accounts/key-text.ts';
import { dropRecords } from '../../../../node/federation/chain-assembler.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { batchOperations, envelopeTable } from '../../../../node/records/batch-tables.ts';
import type { OpenedPayload } from '../../../../node/records/payload/payload-cipher.ts';
import { groupOperations } from '../../../../node/records/record-tables.ts';
import { isKeyId, type KeyId } from '../../../../protocol/accounts/key-id.ts';
import { ACCOUNT_SOURCE, type AccountStatement, type StatedKey } from '../../../../protocol/accounts/statement.ts';
import { hashText, type Sha256Hash } from '../../../../protocol/hash.ts';
import { type NodeId, nodeId, type RecordId } from '../../../../protocol/ids.ts';
import { canonicalize } from '../../../../protocol/json/canonical.ts';
import { TileTree } from '../../../../protocol/merkle/tiles.ts';
import type { TestBatch } from '../../../fixtures/federation-batch.ts';
import type { RecordDraft } from '../../../fixtures/federation-record.ts';
import type { TestFederation } from '../../../fixtures/federation.ts';
import { MemoryRows } from '../../../fixtures/memory-rows.ts';
import { fastFederation } from '../../federation/member-fixture.ts';

export const [EU, US, SG] = [nodeId('eu'), nodeId('us'), nodeId('sg')];
export const ADA = 'acc_eu_ada';

/** Node `us`, which other nodes' records reach, and which asks the others for statements. */
export class ElsewhereFixture implements AsyncDisposable {
  readonly store = new MemoryRows();
  readonly federation: TestFederation;
  /** What was asked, of whom. */
  readonly asked: [id: RecordId, member: NodeId][] = [];
  readonly forged: NodeId[] = [];
  readonly log: string[] = [];
  readonly foreign: ForeignAccounts;
  /** Who is reached. */
  connected: readonly NodeId[] = [EU, SG];
  /** What a member answers. Default: what it would rightly give. */
  answer: (id: RecordId, member: NodeId) => OpenedPayload | undefined = (id) => this.payloads.get(id);
  readonly payloads = new Map<RecordId, OpenedPayload>();
  /** How often what is known of keys may have changed. */
  changes = 0;
  readonly #versions: AccountVersions;
  readonly #decided = new Map<string, Sha256Hash>();
  readonly #last = { held: new Map<NodeId, number>(), decided: new Map<NodeId, number>() };
  #follower: StatementFollower;

  private constructor(federation: TestFederation, held: HeldStatements) {
    this.federation = federation;
    const { store } = this;
    this.#versions = new AccountVersions({
      store,
      envelopeOf: async (node, batch) => this.#decided.get(`${node}/${batch}`),
      lastDecided: (node) => this.#last.decided.get(node) ?? 0,
      lastHeld: (node) => this.#last.held.get(node) ?? 0,
    });
    const log = pino({ level: 'info' }, { write: (line: string) => void this.log.push(line) });
    this.foreign = new ForeignAccounts({ self: US, store, versions: this.#versions, foreignTier: 'professional', log });
    this.#follower = this.#follow(held);
  }

  static async open(bounds: StatementBounds = STATEMENT_BOUNDS): Promise<ElsewhereFixture> {
    const federation = await fastFederation(['eu', 'us', 'sg']);
    const rows = new MemoryRows();
    const fixture = new ElsewhereFixture(federation, await HeldStatements.open(rows, bounds));
    await fixture.restart(bounds);
    return fixture;
  }

  get follower(): StatementFollower {
    return this.#follower;
  }

  /** As a restart on the same rows. */
  async restart(bounds: StatementBounds = STATEMENT_BOUNDS): Promise<void> {
    await this.#follower[Symbol.asyncDispose]();
    this.#follower = this.#follow(await HeldStatements.open(this.store, bounds));
    this.#follower.start();
  }

  /** A batch of a home with a version of a statement; `claims` and `node` may be others than the statement says. */
  version(stated: AccountStatement, over: RecordDraft & { readonly node?: NodeId } = {}): Promise<TestBatch> {
    const { node = EU, ...draft } = over;
    const { account, nodes, version } = stated;
    const claims = { nodes: [...nodes], version };
    return this.make(node, {
      kind: 'account',
      account,
      sourceId: ACCOUNT_SOURCE,
      payload: { ...stated },
      claims,
      ...draft,
    });
  }

  /** A batch of one record, which is held nowhere yet. */
  async make(node: NodeId, draft: RecordDraft): Promise<TestBatch> {
    const batch = await this.federation.sealBatch(node, [draft]);
    for (const { record, salt, payload } of batch.records) {
      this.payloads.set(record.id, { salt, text: canonicalize(payload) });
    }
    return batch;
  }

  /** The batch arrives, as from a peer. */
  async hold({ groups, envelope, signed, records }: TestBatch): Promise<void> {
    const written = records.map(({ record }) => record);
    await this.store.write([...groups.flatMap(groupOperations), ...this.follower.rowsOf(written)]);
    this.follower.onWritten(written);
    const tree = new TileTree(nativeSuite);
    for (const { leaf } of records) tree.append(leaf);
    await this.store.write(batchOperations({ envelope, signed }, tree.tiles()));
    this.#last.held.set(envelope.node, envelope.batch);
    this.follower.noteMoved(envelope.node);
  }

  /** The batch is dropped, as where another one takes its place. */
  async drop({ envelope: { node, batch, first } }: TestBatch): Promise<void> {
    await this.store.write([...(await dropRecords(this.store, node, first)), envelopeTable.del(node, batch)]);
    this.#last.held.set(node, batch - 1);
    this.follower.noteMoved(node);
  }

  /** The log decides the batch, or another envelope in its place. */
  decide({ envelope, signed }: TestBatch, hash = hashText(nativeSuite, signed.statement)): void {
    this.#decided.set(`${envelope.node}/${envelope.batch}`, hash);
    this.#last.decided.set(envelope.node, envelope.batch);
    this.follower.noteMoved(envelope.node);
  }

  /** A version that arrives and is decided. */
  async take(stated: AccountStatement): Promise<TestBatch> {
    const batch = await this.version(stated);
    await this.hold(batch);
    this.decide(batch);
    return batch;
  }

  key(apiKey: string): Promise<ForeignKey | 'ended' | undefined> {
    return this.foreign.key(keyDigest(apiKey));
  }

  /** What a key is worth, in a word. */
  async word(apiKey: string): Promise<'valid' | 'refused' | 'ended' | 'unknown'> {
    const found = await this.key(apiKey);
    if (found === undefined) return 'unknown';
    if (found === 'ended') return found;
    return found.refusal === undefined ? 'valid' : 'refused';
  }

  /** Versions of an account that are held, by the numbers of their statements. */
  async held(account = ADA): Promise<number[]> {
    const versions: number[] = [];
    for await (const [[, of], { text }] of heldStatementTable.under(this.store, [])) {
      const { version }: { version: number } = JSON.parse(text);
      if (of === account) versions.push(version);
    }
    return versions;
  }

  async wanted(): Promise<number> {
    return (await Array.fromAsync(wantedStatementTable.under(this.store, []))).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#follower[Symbol.asyncDispose]();
  }

  #follow(held: HeldStatements): StatementFollower {
    const { store } = this;
    return new StatementFollower({
      self: US,
      store,
      versions: this.#versions,
      held,
      ask: async (id, member) => {
        this.asked.push([id, member]);
        return this.answer(id, member);
      },
      connected: () => this.connected,
      onForged: (member) => void this.forged.push(member),
      onChange: () => void this.changes++,
      random: () => 0,
      log: pino({ level: 'info' }, { write: (line: string) => void this.log.push(line) }),
    });
  }
}

export function keyId(name: string): KeyId {
  const id = `key_eu_01JA${name.toUpperCase().padStart(22, '0')}`;
  if (!isKeyId(id)) throw new RangeError(`${name} makes no key id`);
  return id;
}

/** A key as a statement has it. Its id and text are made of a name. */
export function statedKey(name: string, terms: Partial<StatedKey> = {}): StatedKey {
  const hash = hashText(nativeSuite, textOf(name));
  const limits = { addresses: null, expiresAt: null, from: null, sources: null, to: null };
  return { ...limits, hash, id: keyId(name), scopes: ['attest:write', 'keys:admin'], ...terms };
}

/** The text of such a key. */
export function textOf(name: string): string {
  return `mk_${name}_`.padEnd(40, '0');
}

export function statement(
  version: number,
  keys: readonly StatedKey[],
  terms: Partial<AccountStatement> = {},
): AccountStatement {
  return { account: ADA, keys: [...keys], nodes: [EU, SG, US].toSorted(), tier: 'standard', version, ...terms };
}
