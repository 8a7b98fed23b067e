import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { encodeBase64url, utf8 } from '../../../protocol/bytes.ts';
import { hashText, type Sha256Hash, writeSha384 } from '../../../protocol/hash.ts';
import { type EntityId, entityId, nodeId } from '../../../protocol/ids.ts';
import { decide, type DecideOutcome, type Rival, type TopicMessage } from '../../../protocol/log/decide.ts';
import type { Decision } from '../../../protocol/log/decision.ts';
import { type DecisionState, rosterInForce } from '../../../protocol/log/decision-state.ts';
import { initialState } from '../../../protocol/log/in-force.ts';
import {
  type BatchMessage,
  type LedgerMessage,
  type RevocationMessage,
  type RosterMessage,
  writeLedgerMessage,
} from '../../../protocol/log/message.ts';
import { type Member, type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { isBase64url } from '../../../protocol/statement/statement.ts';
import { PUBLIC_KEY_BYTES } from '../../../protocol/suite/suite.ts';
import { isConsensusTimestamp, timestampOf } from '../../../protocol/time.ts';

export const FOUNDERS = ['us', 'eu', 'ca', 'sg', 'jp'];
export const STRANGER = entityId('0.0.666');

const FIRST_SECOND = 1_800_000_000;

/** A hash that a test names by a word. */
export function hashOf(word: string): Sha256Hash {
  return hashText(nativeSuite, word);
}

/** The ledger account of a member: its first, or another of its own. */
export function accountOf(name: string, which = 1): EntityId {
  return entityId(`0.0.${which}${name.charCodeAt(0)}${name.charCodeAt(1)}${name.slice(2)}`);
}

/** A member with two accounts. Its identity key has the right length and signs nothing. */
export function memberOf(name: string, change: Partial<Member> = {}): Member {
  return {
    node: nodeId(name),
    region: name,
    baseUrl: `https://${name}.example`,
    peerId: `peer-${name}`,
    multiaddrs: [],
    accounts: [accountOf(name), accountOf(name, 2)],
    identityKey: identityKeyOf(name),
    ...change,
  };
}

export function identityKeyOf(word: string): Member['identityKey'] {
  const bytes = new Uint8Array(PUBLIC_KEY_BYTES);
  bytes.set(utf8(word));
  const text = encodeBase64url(bytes);
  if (!isBase64url(text)) throw new Error('a key has base64url text');
  return text;
}

export function genesisOf(names: readonly string[] = FOUNDERS, change: Partial<Roster> = {}): Roster {
  return {
    v: 2,
    type: 'roster',
    name: 'test',
    version: 1,
    previous: null,
    quorum: names.length === 1 ? 0 : 1,
    members: names.map((name) => memberOf(name)),
    ledger: { network: 'testnet', topicId: entityId('0.0.5005') },
    revocationReach: 30 * 24 * 60 * 60,
    issuedAt: timestampOf(FIRST_SECOND * 1000),
    ...change,
  };
}

/** A federation's topic with one reader: what members say is decided at once. */
export class Topic {
  readonly messages: TopicMessage[] = [];
  readonly decisions: Decision[] = [];
  readonly rivals: Rival[] = [];
  /** Texts of rosters that are at hand, by hash. */
  readonly texts = new Map<Sha256Hash, string>();
  roster: Roster;
  state: DecisionState;

  constructor(roster: Roster = genesisOf()) {
    this.roster = roster;
    this.state = initialState(nativeSuite, rosterStatement.write(roster));
  }

  batch(node: string, batch: number, envelope = `${node}-${batch}`, keyId = `key-${node}`): BatchMessage {
    const { federation } = this.state;
    return {
      v: 2,
      type: 'batch',
      federation,
      node: nodeId(node),
      batch,
      envelope: hashOf(envelope),
      keyId: hashOf(keyId),
    };
  }

  revocation(node: string, keyId = `key-${node}`, statement = `revocation of ${keyId}`): RevocationMessage {
    const { federation } = this.state;
    return {
      v: 2,
      type: 'revocation',
      federation,
      node: nodeId(node),
      keyId: hashOf(keyId),
      statement: hashOf(statement),
    };
  }

  /** The message that names the roster in force with a change as its next. Its text is at hand from then on. */
  next(change: Partial<Roster>): RosterMessage {
    const previous = rosterInForce(this.state);
    const roster = { ...this.roster, version: this.state.rosters.length + 1, previous, ...change };
    const text = rosterStatement.write(roster);
    const statement = hashOf(text);
    this.texts.set(statement, text);
    return { v: 2, type: 'roster', federation: this.state.federation, previous, statement };
  }

  /** What a message does that this account pays for. */
  pay(payer: EntityId, said: LedgerMessage | string | Uint8Array): DecideOutcome {
    const sequence = this.messages.length + 1;
    const message = messageAt(sequence, payer, bytesOf(said));
    const outcome = decide(nativeSuite, this.state, message, (hash) => this.texts.get(hash));
    if (outcome.kind === 'needs-roster') return outcome;
    this.messages.push(message);
    this.state = outcome.state;
    if (outcome.kind === 'decided') {
      this.decisions.push(outcome.decision);
      if (outcome.named.type === 'roster') {
        this.roster = rosterStatement.parse(this.texts.get(outcome.named.statement) ?? '');
      }
    } else if (outcome.rival !== undefined) {
      this.rivals.push(outcome.rival);
    }
    return outcome;
  }

  /** Whether each of these members says it, one after another; true where the last one's message decides. */
  say(names: string | readonly string[], said: LedgerMessage): boolean {
    let kind: DecideOutcome['kind'] = 'undecided';
    for (const name of typeof names === 'string' ? [names] : names) kind = this.pay(accountOf(name), said).kind;
    return kind === 'decided';
  }
}

export function messageAt(sequence: number, payer: EntityId, message: Uint8Array): TopicMessage {
  const consensusTimestamp = `${FIRST_SECOND + sequence}.000000001`;
  if (!isConsensusTimestamp(consensusTimestamp)) throw new Error('a consensus time');
  const runningHash = writeSha384(new Uint8Array(48).fill(sequence));
  return { sequence, consensusTimestamp, payer, message, runningHash };
}

function bytesOf(said: LedgerMessage | string | Uint8Array): Uint8Array {
  if (said instanceof Uint8Array) return said;
  return utf8(typeof said === 'string' ? said : writeLedgerMessage(said));
}
