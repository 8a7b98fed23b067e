import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { KeyDirectory } from '../../protocol/keys/key-directory.ts';
import { KeyError } from '../../protocol/keys/key-error.ts';
import { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import type { SignedRoster } from '../../protocol/keys/signed-roster.ts';
import { rosterStatement } from '../../protocol/log/roster.ts';
import { writeLedgerMessage } from '../../protocol/log/message.ts';
import { nameStatement } from '../../protocol/log/naming.ts';
import { type SignedStatement, StatementError } from '../../protocol/statement/statement.ts';
import type { Authorities } from '../../protocol/proof/judge.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { AwaitedStatement, MonitorState } from './state.ts';
import type { TopicEntry } from './topic-watch.ts';

type AuthorityState = Pick<
  MonitorState,
  'rosters' | 'rivals' | 'rosterPlaces' | 'certificates' | 'revocations' | 'awaited'
>;

/** What the ledger may name without any node showing it, before more is not noted. */
const MAX_AWAITED = 1_000;
/** Rosters and rivals whose first place on the ledger is kept. */
const MAX_PLACES = 4_096;
const MAX_RIVALS = 64;
/** Statements kept: what a federation of 256 members signs by in years. */
const MAX_STATEMENTS = 65_536;

/**
 * Who belongs to the federation and which keys speak for whom, as the nodes show it: all of it is signed up to the
 * genesis roster that the monitor was given. Of two rosters that follow the same one, the one that the ledger names first
 * is in force.
 */
export class AuthorityWatch implements Authorities {
  readonly suite = nativeSuite;
  readonly directory = new KeyDirectory(nativeSuite, () => this.#chain);
  #chain: RosterChain;
  readonly #rivals = new Map<Sha256Hash, SignedRoster>();
  readonly #places: Map<string, number>;
  readonly #certificates = new Map<Sha256Hash, SignedStatement>();
  readonly #revocations = new Map<Sha256Hash, SignedStatement>();
  #awaited: AwaitedStatement[];

  /** Throws `RosterError` where the given or stored rosters do not hold. */
  constructor(given: readonly SignedRoster[], state?: AuthorityState) {
    const [genesis, ...later] = state?.rosters ?? given;
    if (genesis === undefined) throw new RosterError('empty', 'no genesis roster');
    this.#chain = RosterChain.open(nativeSuite, { genesis, later: later.map(({ statement }) => statement) });
    this.#places = new Map(Object.entries(state?.rosterPlaces ?? {}));
    this.#awaited = [...(state?.awaited ?? [])];
    for (const rival of state?.rivals ?? []) this.#rivals.set(hashText(nativeSuite, rival.statement), rival);
    for (const signed of state?.certificates ?? []) this.learnCertificate(signed);
    for (const signed of state?.revocations ?? []) this.learnRevocation(signed);
    if (state !== undefined) for (const signed of given) this.learnRoster(signed);
  }

  get rosters(): RosterChain {
    return this.#chain;
  }

  get rivals(): readonly SignedRoster[] {
    return [...this.#rivals.values()];
  }

  /** Whether the roster is one of the chain, or beside it. */
  knowsRoster(hash: Sha256Hash): boolean {
    return this.#chain.hashes.includes(hash) || this.#rivals.has(hash);
  }

  /** Statements that the ledger names and no node has shown. */
  get awaited(): readonly AwaitedStatement[] {
    return this.#awaited;
  }

  /** Whether the statement holds. */
  learnCertificate(signed: SignedStatement): boolean {
    return this.#learn(this.#certificates, signed, () => this.directory.addCertificate(signed));
  }

  learnRevocation(signed: SignedStatement): boolean {
    return this.#learn(this.#revocations, signed, () => this.directory.addRevocation(signed));
  }

  /** Takes the next roster, or keeps one that was signed beside. Whether it holds. */
  learnRoster(signed: SignedRoster): boolean {
    const hash = hashText(nativeSuite, signed.statement);
    if (this.knowsRoster(hash)) return true;
    try {
      const { version, previous } = rosterStatement.parse(signed.statement);
      const before = this.#chain.hashes[version - 2];
      // What follows a rival cannot be judged before the ledger has decided.
      if (before === undefined || before !== previous) return this.#followsRival(previous);
      const longer = this.#chain.upTo(version - 1).follow(nativeSuite, signed.statement);
      if (version > this.#chain.current.version) this.#chain = longer;
      else if (this.#rivals.size < MAX_RIVALS) this.#rivals.set(hash, signed);
      this.#awaited = this.#awaited.filter(({ statement }) => statement !== hash);
      this.#settle();
      return true;
    } catch (error) {
      if (error instanceof RosterError || error instanceof StatementError) return false;
      throw error;
    }
  }

  /** Takes what the ledger says of revocations and rosters. A member's account paid for what somebody must show. */
  read({ anchor, payer, sequence, seen }: TopicEntry, now: number): void {
    if (anchor.type === 'batch') return;
    const { statement, type } = anchor;
    if (type === 'roster' && !this.#places.has(seen.message) && this.#places.size < MAX_PLACES) {
      this.#places.set(seen.message, sequence);
      this.#settle();
    }
    const isAwaited = this.#awaited.some((awaited) => awaited.statement === statement);
    if (isAwaited || this.#knows(statement) || this.#awaited.length >= MAX_AWAITED) return;
    const by = this.#chain.ownerOf(payer);
    if (by !== undefined) this.#awaited.push({ statement, type, by, sequence, seenAt: now });
  }

  state(): AuthorityState {
    return {
      rosters: signedOf(this.#chain),
      rivals: [...this.#rivals.values()],
      rosterPlaces: Object.fromEntries(this.#places),
      certificates: [...this.#certificates.values()],
      revocations: [...this.#revocations.values()],
      awaited: this.#awaited,
    };
  }

  /** Place of the first message that names a roster after the one that it follows. */
  #placeOf({ statement: text }: SignedRoster): number | undefined {
    const message = nameStatement(nativeSuite, this.#chain.genesis, { type: 'roster', text });
    return this.#places.get(hashText(nativeSuite, writeLedgerMessage(message)));
  }

  #knows(hash: Sha256Hash): boolean {
    return this.#certificates.has(hash) || this.#revocations.has(hash) || this.knowsRoster(hash);
  }

  #learn(known: Map<Sha256Hash, SignedStatement>, signed: SignedStatement, add: () => unknown): boolean {
    const hash = hashText(nativeSuite, signed.statement);
    if (known.has(hash)) return true;
    try {
      add();
    } catch (error) {
      if (error instanceof KeyError) return false;
      throw error;
    }
    if (known.size < MAX_STATEMENTS) known.set(hash, signed);
    this.#awaited = this.#awaited.filter(({ statement }) => statement !== hash);
    return true;
  }

  #followsRival(previous: Sha256Hash | null): boolean {
    return previous !== null && this.#rivals.has(previous);
  }

  /** Puts in force, of rosters that compete, the one that the ledger names first. */
  #settle(): void {
    for (const [hash, rival] of this.#rivals) {
      const { version, previous } = rosterStatement.parse(rival.statement);
      const held = signedOf(this.#chain)[version - 1];
      const place = this.#placeOf(rival);
      if (held === undefined || place === undefined || this.#chain.hashes[version - 2] !== previous) continue;
      if (place > (this.#placeOf(held) ?? Number.POSITIVE_INFINITY)) continue;
      const losers = signedOf(this.#chain).slice(version - 1);
      this.#chain = this.#chain.upTo(version - 1).follow(nativeSuite, rival.statement);
      this.#rivals.delete(hash);
      for (const loser of losers) this.#rivals.set(hashText(nativeSuite, loser.statement), loser);
      this.#settle();
      return;
    }
  }
}

/** Later rosters have no signatures. */
export function signedOf({ signedGenesis, texts }: RosterChain): SignedRoster[] {
  return [signedGenesis, ...texts.slice(1).map((statement) => ({ statement, signatures: [] }))];
}
