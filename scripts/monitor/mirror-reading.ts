import { pino } from 'pino';
import type { EntityId, NodeId } from '../../protocol/ids.ts';
import type { TopicMessage } from '../../protocol/log/decide.ts';
import type { TopicHead } from '../../node/anchoring/topic/topic-links.ts';
import { PAGE_MESSAGES } from '../../node/anchoring/ledger/mirror-client.ts';
import { Agreement, CONSENSUS } from '../../node/anchoring/topic/agreement.ts';
import type { MessageSource } from '../../node/anchoring/topic/message-source.ts';
import { SourceReader } from '../../node/anchoring/topic/source-reader.ts';
import type { TopicPoint } from '../../node/anchoring/ledger/topic-point.ts';
import type { Alerts } from './alerts.ts';

export interface MirrorReadingOptions {
  /** One for each mirror; each counts as a source of its own. */
  readonly sources: readonly MessageSource[];
  readonly topicId: EntityId;
  /** The last message that was processed. */
  readonly head: TopicHead;
  readonly members: readonly NodeId[];
  readonly alerts: Alerts;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Messages of one round at most: between them the nodes are asked. */
const MESSAGES_PER_POLL = 5_000;
/** What the mirrors may take of one round: the nodes wait meanwhile. In milliseconds. */
const POLL_BUDGET_MS = 15_000;
/** A second source may be so much later than the first. In milliseconds. */
const UNCONFIRMED_MS = 60_000;

/**
 * Reads the federation's topic round by round from mirrors and from what members tell: what two mirrors say alike, or
 * one and a majority of members, is taken. A mirror alone is not believed, however long its chain of running hashes.
 */
export class MirrorReading {
  readonly #options: MirrorReadingOptions;
  readonly #agreement: Agreement;
  readonly #readers: readonly SourceReader[];
  #atEnd = false;
  /** Epoch milliseconds since when a mirror is further than a second source; null where none is. */
  #aloneSince: number | null = null;

  constructor(options: MirrorReadingOptions) {
    const { sources, topicId, head, members, now, signal } = options;
    this.#options = options;
    const names = sources.map(({ name }) => name);
    this.#agreement = new Agreement({ topicId, head, sources: names, self: null, members });
    const pace = {
      intervalMs: 0,
      isFast: () => true,
      random: () => 0,
      log: pino({ level: 'silent' }),
      onAnswer: () => undefined,
      onShown: () => undefined,
    };
    this.#readers = sources.map(
      (source) => new SourceReader({ agreement: this.#agreement, source, now, signal, ...pace }),
    );
  }

  /** The last message that was processed. */
  get position(): TopicHead {
    return this.#agreement.position;
  }

  /** Whether in the last round all that is agreed on was processed up to where a mirror said that the topic ends. */
  get atEnd(): boolean {
    return this.#atEnd;
  }

  /** Whether no mirror tells more than was processed. */
  get isWhole(): boolean {
    return this.#agreement.highestRead() <= this.position.sequence;
  }

  /** Another roster is in force. */
  setMembers(members: readonly NodeId[]): void {
    this.#agreement.setMembers(members);
  }

  /** What a member's node says that its own sources agree on. */
  noteTold(member: NodeId, point: TopicPoint): void {
    this.#agreement.noteTold(member, point);
  }

  /**
   * Reads what is new and hands it to `take`, in order; where that rejects, the same comes again in the next round.
   * Mirrors that fail are noted, and throw nothing.
   */
  async read(take: (messages: readonly TopicMessage[]) => Promise<void>): Promise<void> {
    const { signal } = this.#options;
    const began = performance.now();
    const until = began + POLL_BUDGET_MS;
    let reading = new Set(this.#readers);
    let taken = 0;
    this.#atEnd = false;
    do {
      const outcomes = await Promise.all([...reading].map(async (reader) => [reader, await reader.read()] as const));
      // One that waits for the others is asked again once their word is processed.
      reading = new Set(
        outcomes.filter(([, outcome]) => outcome === 'more' || outcome === 'paused').map(([reader]) => reader),
      );
      const before = taken;
      for (let page = this.#next(); page.length > 0 && taken < MESSAGES_PER_POLL; page = this.#next()) {
        await take(page);
        this.#agreement.advance(page);
        taken += page.length;
      }
      const isStuck = taken === before && outcomes.every(([, outcome]) => outcome !== 'more');
      if (isStuck) break;
    } while (reading.size > 0 && taken < MESSAGES_PER_POLL && performance.now() < until && !signal.aborted);
    this.#atEnd = this.#isAtEnd(began);
  }

  /** Lets a round pass without reading: there is enough to work on. */
  rest(): void {
    this.#atEnd = false;
  }

  /** Says which mirrors fail or lie, and what one alone says. */
  see(): void {
    const { alerts, now } = this.#options;
    for (const { name, failure } of this.#readers) {
      const contradiction = this.#agreement.contradictionOf(name);
      if (contradiction !== null) {
        const against = {
          final: 'what was taken before',
          agreed: 'what two others say',
          itself: 'what it said before',
        };
        alerts.see(
          'mirror-lies',
          name,
          `message ${contradiction.sequence} contradicts ${against[contradiction.kind]}`,
          now(),
        );
      } else if (failure !== null) alerts.see('mirror-failing', name, failure, now());
    }
    for (const { who, sequence } of this.#agreement.contradictions()) {
      const isMirror = this.#readers.some(({ name }) => name === who);
      if (!isMirror) {
        alerts.see(
          'node-lies',
          who === CONSENSUS ? 'a majority of members' : who,
          `tells another message ${sequence}`,
          now(),
        );
      }
    }
    const dispute = this.#agreement.dispute();
    if (dispute !== null) alerts.see('mirrors-disagree', 'mirrors', `message ${dispute} has two running hashes`, now());
    this.#seeAlone(dispute !== null);
  }

  #seeAlone(isDisputed: boolean): void {
    const { alerts, now } = this.#options;
    const [highest, agreed] = [this.#agreement.highestRead(), this.#agreement.agreedBySources().sequence];
    this.#aloneSince = highest > agreed && !isDisputed ? (this.#aloneSince ?? now()) : null;
    if (this.#aloneSince === null || now() - this.#aloneSince <= UNCONFIRMED_MS) return;
    alerts.see('mirror-unconfirmed', 'mirrors', `messages after ${agreed}, up to ${highest}, have one source`, now());
  }

  #next(): readonly TopicMessage[] {
    return this.#agreement.nextFinal(PAGE_MESSAGES);
  }

  /** `began` is of the monotonic clock, as the readers' ends are. */
  #isAtEnd(began: number): boolean {
    const { sequence } = this.position;
    return this.#readers.some(({ name, end }) => {
      const isHere = end !== null && end.askedAt >= began && end.sequence <= sequence;
      return isHere && this.#agreement.contradictionOf(name) === null;
    });
  }
}
