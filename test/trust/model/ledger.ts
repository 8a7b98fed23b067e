import type { MirrorMessage } from '../../../node/anchoring/ledger/mirror-shapes.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { TopicPoint } from '../../../node/anchoring/ledger/topic-point.ts';
import { writeSha384 } from '../../../protocol/hash.ts';
import { type EntityId, entityId } from '../../../protocol/ids.ts';
import { entityParts } from '../../../protocol/ledger/entity.ts';
import { INITIAL_RUNNING_HASH, nextRunningHash } from '../../../protocol/ledger/running-hash.ts';
import { consensusOf } from '../../fixtures/federation-log.ts';

export const TOPIC = entityId('0.0.5005');
export const NETWORK = 'testnet';

/** Messages of one answer of a mirror. */
const PAGE_MESSAGES = 100;
const MS_PER_SECOND = 1000;

/** What somebody paid for, at a place of a topic. */
export interface Paid {
  readonly payer: EntityId;
  readonly message: Uint8Array;
  readonly at: number;
}

/** A topic: messages linked by running hashes. The true one is append only; a mirror that lies serves another. */
export class TopicLine {
  readonly messages: MirrorMessage[];
  readonly #paid: Paid[];

  constructor(paid: readonly Paid[] = [], messages: readonly MirrorMessage[] = []) {
    this.#paid = [...paid];
    this.messages = [...messages];
  }

  get length(): number {
    return this.messages.length;
  }

  append(paid: Paid): MirrorMessage {
    const { payer, message, at } = paid;
    const sequence = this.length + 1;
    const runningHash = nextRunningHash((data) => nativeSuite.sha384(data), {
      previous: this.messages.at(-1)?.runningHash ?? new Uint8Array(INITIAL_RUNNING_HASH),
      payer: entityParts(payer),
      topic: entityParts(TOPIC),
      seconds: BigInt(Math.floor(at / MS_PER_SECOND)),
      nanos: Number(consensusOf(at).split('.')[1]),
      sequence: BigInt(sequence),
      message,
    });
    const next = { sequence, consensusTimestamp: consensusOf(at), payer, message, runningHash };
    this.messages.push(next);
    this.#paid.push(paid);
    return next;
  }

  paidAfter(sequence: number): readonly Paid[] {
    return this.#paid.slice(sequence);
  }

  /** The same topic up to a sequence number, from where it goes its own way. */
  forkAt(sequence: number): TopicLine {
    return new TopicLine(this.#paid.slice(0, sequence), this.messages.slice(0, sequence));
  }

  /** The running hash after a message; 0 for before the first. */
  pointAt(sequence: number): TopicPoint {
    const digest = sequence === 0 ? new Uint8Array(INITIAL_RUNNING_HASH) : this.messages[sequence - 1]?.runningHash;
    if (digest === undefined) throw new RangeError(`the topic has ${this.length} messages, not ${sequence}`);
    return { sequence, runningHash: writeSha384(digest) };
  }
}

/**
 * A false topic: true up to `from`, then what was made up in the place of `dropped` messages, then the rest of the true
 * one.
 */
export class FalseTopic {
  readonly #truth: TopicLine;
  readonly #line: TopicLine;
  #followed: number;

  constructor(truth: TopicLine, from: number, madeUp: readonly Omit<Paid, 'at'>[], dropped: number) {
    this.#truth = truth;
    this.#line = truth.forkAt(from);
    this.#followed = Math.min(truth.length, from + dropped);
    const after = truth.paidAfter(0)[from - 1]?.at ?? Date.UTC(2025, 11, 31);
    for (const [i, paid] of madeUp.entries()) this.#line.append({ ...paid, at: after + i + 1 });
  }

  line(): TopicLine {
    const rest = this.#truth.paidAfter(this.#followed);
    for (const paid of rest) this.#line.append(paid);
    this.#followed += rest.length;
    return this.#line;
  }
}

export type MirrorMode =
  | { readonly kind: 'honest' }
  /** So many messages behind. */
  | { readonly kind: 'lagging'; readonly behind: number }
  /** Gives nothing past a sequence number. */
  | { readonly kind: 'withholding'; readonly after: number }
  | { readonly kind: 'lying'; readonly topic: FalseTopic };

export class Mirror {
  readonly name: string;
  readonly #truth: TopicLine;
  mode: MirrorMode = { kind: 'honest' };

  constructor(name: string, truth: TopicLine) {
    this.name = name;
    this.#truth = truth;
  }

  page(after: number): readonly MirrorMessage[] {
    return this.#shown().slice(after, after + PAGE_MESSAGES);
  }

  #shown(): readonly MirrorMessage[] {
    const { mode } = this;
    const { messages } = this.#truth;
    switch (mode.kind) {
      case 'honest':
        return messages;
      case 'lagging':
        return messages.slice(0, Math.max(0, messages.length - mode.behind));
      case 'withholding':
        return messages.slice(0, mode.after);
      case 'lying':
        return mode.topic.line().messages;
    }
  }
}
