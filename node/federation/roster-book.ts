import { Compile } from 'typebox/compile';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import { type SignedRoster, SignedRosterShape } from '../../protocol/keys/signed-roster.ts';
import { type Roster, hashOfRoster, rosterStatement } from '../../protocol/log/roster.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { Lanes } from '../lanes.ts';
import type { Operation } from '../store/operation.ts';
import type { Store } from '../store/store.ts';
import { jsonCodec, Table } from '../store/table.ts';
import { PeerStatementError } from './peer-statement-error.ts';

const compiled = Compile(SignedRosterShape);
const rosterCodec = jsonCodec((value: unknown): value is SignedRoster => compiled.Check(value));

/** (version) → signed roster in force then. */
export const rosterTable = new Table('roster', rosterCodec);
/**
 * (version, hash) → a roster that a quorum signed beside the one in force, or one that followed such a roster. Kept as
 * proof: some members signed both.
 */
export const rivalRosterTable = new Table('rival-roster', rosterCodec);

/** What came of a roster that a peer or an operator showed. `rival`: a quorum signed it beside the one that is in force. */
export type RosterOutcome = 'added' | 'known' | 'rival';

/** Place on the ledger topic of the first message that names the roster of a text; undefined while none was read. */
export type RosterPlace = (text: string) => Promise<bigint | undefined>;

const LANE = 'rosters';

/**
 * The rosters that are in force, and those that were signed beside them. Of two that follow the same one, the one that
 * the ledger names first is in force, for every node alike; while the ledger names neither, the one seen first is.
 *
 * Ownership: everything here is moved in the one lane, after the write.
 */
export class RosterBook {
  readonly #store: Store;
  #chain: RosterChain;
  readonly #rivals = new Map<Sha256Hash, SignedRoster>();
  readonly #lanes = new Lanes<typeof LANE>();
  readonly #listeners = new Set<(roster: Roster) => void>();

  private constructor(store: Store, chain: RosterChain) {
    this.#store = store;
    this.#chain = chain;
  }

  /**
   * Opens with the rosters in the store, and takes those of the configuration that go further. Throws `RosterError`
   * where one does not hold, `RangeError` where the store belongs to another federation.
   */
  static async open(store: Store, configured: readonly SignedRoster[]): Promise<RosterBook> {
    const given = RosterChain.open(nativeSuite, configured);
    const stored: SignedRoster[] = [];
    for await (const [, roster] of rosterTable.under(store, [])) stored.push(roster);
    const chain = stored.length === 0 ? given : RosterChain.open(nativeSuite, stored);
    if (chain.genesis !== given.genesis) {
      throw new RangeError('the store belongs to another federation than the configured roster');
    }
    if (stored.length === 0) await store.write(chain.signed.map((roster, i) => rosterTable.put([i + 1], roster)));
    const book = new RosterBook(store, chain);
    for await (const [, rival] of rivalRosterTable.under(store, [])) {
      book.#rivals.set(hashOfRoster(nativeSuite, rival.statement), rival);
    }
    for (const roster of given.signed) {
      // What follows a rival is not to be judged before the ledger has decided.
      if ((await book.learn(roster)) === 'rival') break;
    }
    return book;
  }

  get chain(): RosterChain {
    return this.#chain;
  }

  /** Rosters that a quorum signed beside those in force. */
  get rivals(): readonly { readonly version: number; readonly hash: Sha256Hash }[] {
    return [...this.#rivals].map(([hash, { statement }]) => ({
      version: rosterStatement.parse(statement).version,
      hash,
    }));
  }

  /** Text of a roster that is in force, or that a quorum signed beside it. */
  textOf(hash: Sha256Hash): string | undefined {
    const place = this.#chain.hashes.indexOf(hash);
    return (this.#chain.signed[place] ?? this.#rivals.get(hash))?.statement;
  }

  knows(hash: Sha256Hash): boolean {
    return this.#rivals.has(hash) || this.#chain.hashes.includes(hash);
  }

  /** Calls `listener` with the newest roster whenever that is another. Returns what ends that. */
  onRoster(listener: (roster: Roster) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Checks the next roster against the one in force and takes it: it is in force once it is on the disk, with `besides`.
   * One of a version that is known changes nothing; a second one of that version is kept as proof. Throws
   * `PeerStatementError`: `unknown-member` where it follows a roster that is not known here.
   */
  learn(signed: SignedRoster, besides: readonly Operation[] = []): Promise<RosterOutcome> {
    return this.#lanes.exclusive(LANE, () => this.#learn(signed, besides));
  }

  /** Puts in force, of rosters that compete, the one that the ledger names first. Returns whether any took its place. */
  settle(placeOf: RosterPlace): Promise<boolean> {
    return this.#lanes.exclusive(LANE, async () => {
      let changed = false;
      for (let winner = await this.#earlier(placeOf); winner !== undefined; winner = await this.#earlier(placeOf)) {
        await this.#replace(winner);
        changed = true;
      }
      if (changed) this.#tell();
      return changed;
    });
  }

  async #learn(signed: SignedRoster, besides: readonly Operation[]): Promise<RosterOutcome> {
    const { version, previous } = rosterFault(() => rosterStatement.parse(signed.statement));
    const hash = hashOfRoster(nativeSuite, signed.statement);
    if (this.#chain.signed[version - 1]?.statement === signed.statement) return 'known';
    if (this.#rivals.has(hash)) return 'rival';
    if (version === 1) throw new PeerStatementError('forged', 'the genesis roster of another federation');
    if (this.#chain.hashes[version - 2] !== previous) {
      throw new PeerStatementError('unknown-member', `roster ${version} follows one that is not known here`);
    }
    const longer = rosterFault(() => this.#chain.upTo(version - 1).follow(nativeSuite, signed));
    if (version <= this.#chain.current.version) {
      await this.#store.write([rivalRosterTable.put([version, hash], signed)]);
      this.#rivals.set(hash, signed);
      return 'rival';
    }
    await this.#store.write([rosterTable.put([version], signed), ...besides]);
    this.#chain = longer;
    this.#tell();
    return 'added';
  }

  /** A rival that the ledger names before the roster in whose place it would stand. */
  async #earlier(placeOf: RosterPlace): Promise<SignedRoster | undefined> {
    for (const rival of this.#rivals.values()) {
      const { version, previous } = rosterStatement.parse(rival.statement);
      const held = this.#chain.signed[version - 1];
      if (held === undefined || this.#chain.hashes[version - 2] !== previous) continue;
      const place = await placeOf(rival.statement);
      if (place === undefined) continue;
      const heldPlace = await placeOf(held.statement);
      if (heldPlace === undefined || place < heldPlace) return rival;
    }
    return undefined;
  }

  /** Crash order: one write; the rosters that give way are rivals from then on. */
  async #replace(winner: SignedRoster): Promise<void> {
    const { version } = rosterStatement.parse(winner.statement);
    const chain = this.#chain.upTo(version - 1).follow(nativeSuite, winner);
    const losers = this.#chain.signed.slice(version - 1);
    await this.#store.write([
      ...losers.map((_, i) => rosterTable.del(version + i)),
      ...losers.map((loser, i) =>
        rivalRosterTable.put([version + i, hashOfRoster(nativeSuite, loser.statement)], loser),
      ),
      rosterTable.put([version], winner),
      rivalRosterTable.del(version, chain.hash),
    ]);
    this.#rivals.delete(chain.hash);
    for (const loser of losers) this.#rivals.set(hashOfRoster(nativeSuite, loser.statement), loser);
    this.#chain = chain;
  }

  #tell(): void {
    for (const listener of this.#listeners) listener(this.#chain.current);
  }
}

/** Faults of whoever put the roster together under the signatures; all others its signers signed themselves. */
const FORGED: ReadonlySet<RosterError['code']> = new Set(['broken-chain', 'too-few-signatures', 'empty']);

/** What the chain refuses, in the words that peers are judged by. */
function rosterFault<Result>(check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    const isForged = error instanceof RosterError && FORGED.has(error.code);
    throw new PeerStatementError(isForged ? 'forged' : 'malformed', error instanceof Error ? error.message : 'roster');
  }
}
