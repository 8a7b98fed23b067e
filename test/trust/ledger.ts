import { nativeSuite } from '../../node/keys/native-suite.ts';
import { utf8 } from '../../protocol/bytes.ts';
import { hashText, type Sha256Hash, writeSha384 } from '../../protocol/hash.ts';
import { decide, type DecideOutcome, type Rival, type TopicMessage } from '../../protocol/log/decide.ts';
import { decisionText } from '../../protocol/log/decision.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { initialState } from '../../protocol/log/in-force.ts';
import { type LedgerMessage, writeLedgerMessage } from '../../protocol/log/message.ts';
import { type Revocation, revocationStatement } from '../../protocol/log/revocation.ts';
import { type Roster, rosterStatement } from '../../protocol/log/roster.ts';
import { signStatement } from '../../protocol/statement/statement.ts';
import { consensusOf, FederationLog, type LoggedRoster, type LogOptions } from '../fixtures/federation-log.ts';
import type { SealedBatch } from '../fixtures/federation-log-batch.ts';
import { newestKey } from '../fixtures/federation-log-member.ts';

/** A roster or revocation that exists, and is on the ledger only as far as it was named. */
export interface Hidden {
  readonly message: LedgerMessage;
  /** Puts it where the federation keeps what is in force, at the place where it was decided. */
  readonly enter: (index: number) => void;
}

/**
 * The ledger's topic of a test federation. What members pay for is decided by the federation's own rule, and by nothing
 * else: the decisions of `log` are those, in that order.
 */
export class Ledger {
  readonly log: FederationLog;
  readonly rivals: Rival[] = [];
  /** All that was paid for, in order: what a node reads. */
  readonly messages: TopicMessage[] = [];
  state: DecisionState;
  readonly #texts = new Map<Sha256Hash, string>();

  private constructor(log: FederationLog) {
    this.log = log;
    this.state = initialState(nativeSuite, log.roster(1).text);
  }

  static async create(options: LogOptions = {}): Promise<Ledger> {
    return new Ledger(await FederationLog.create(options));
  }

  /** A message of each of these members, one after another. True where the last one decides something. */
  say(message: LedgerMessage, ...nodes: readonly string[]): boolean {
    let kind: DecideOutcome['kind'] = 'undecided';
    for (const node of nodes) kind = this.#pay(node, message);
    return kind === 'decided';
  }

  /** Its own node names a batch. */
  name(sealed: SealedBatch): boolean {
    return this.say(this.log.messageOf(sealed), sealed.node);
  }

  /** Seals and names, which decides. */
  async record(...args: Parameters<FederationLog['seal']>): Promise<SealedBatch> {
    const sealed = await this.log.seal(...args);
    if (!this.name(sealed)) throw new Error('an honest batch was not decided');
    return sealed;
  }

  /** A roster that follows `after`, which is by default the one in force. Nobody has named it. */
  draftRoster(
    change: Partial<Roster>,
    after: LoggedRoster = this.log.roster(),
  ): Hidden & { readonly entry: LoggedRoster } {
    const { log } = this;
    const { roster: last, hash: previous } = after;
    const roster = { ...last, version: last.version + 1, previous, issuedAt: log.tick(), ...change };
    const text = rosterStatement.write(roster);
    const statement = hashText(nativeSuite, text);
    this.#texts.set(statement, text);
    const entry = { roster, text, hash: statement, index: null };
    return {
      message: { v: 2, type: 'roster', federation: log.genesis, previous, statement },
      enter: (index) => log.rosters.push({ ...entry, index }),
      entry,
    };
  }

  /** A revocation of a node's newest key that the node signed. Nobody has named it. */
  async draftRevocation(node: string, terms: Partial<Revocation> = {}): Promise<Hidden> {
    const { log } = this;
    const member = log.member(node);
    const revocation: Revocation = {
      v: 2,
      type: 'revocation',
      node: member.node,
      keyId: newestKey(member).signer.keyId,
      reason: 'rotated',
      compromisedSince: null,
      issuedAt: log.tick(),
      ...terms,
    };
    const signed = await signStatement(revocationStatement, revocation, member.identity);
    const statement = hashText(nativeSuite, signed.statement);
    const { keyId } = revocation;
    return {
      message: { v: 2, type: 'revocation', federation: log.genesis, node: member.node, keyId, statement },
      enter: (index) => log.revocations.push({ revocation, signed, index }),
    };
  }

  /** These members name it, and it comes into force. Returns its place in the log. */
  enforce({ message, enter }: Hidden, ...nodes: readonly string[]): number {
    if (!this.say(message, ...nodes)) throw new Error('no majority named it');
    const index = this.log.size - 1;
    enter(index);
    return index;
  }

  #pay(node: string, message: LedgerMessage): DecideOutcome['kind'] {
    const { log } = this;
    log.tick();
    const text = writeLedgerMessage(message);
    const sequence = this.messages.length + 1;
    const paid: TopicMessage = {
      sequence,
      consensusTimestamp: consensusOf(log.now),
      payer: log.account(node),
      message: utf8(text),
      runningHash: writeSha384(nativeSuite.sha384(`${sequence} ${text}`)),
    };
    this.messages.push(paid);
    const outcome = decide(nativeSuite, this.state, paid, (hash) => this.#texts.get(hash));
    if (outcome.kind === 'needs-roster') throw new Error('every roster is at hand');
    this.state = outcome.state;
    if (outcome.kind === 'decided') log.decisions.push(decisionText.write(outcome.decision));
    else if (outcome.rival !== undefined) this.rivals.push(outcome.rival);
    return outcome.kind;
  }
}
