import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { decodeUtf8 } from '../../protocol/bytes.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { RosterChain } from '../../protocol/keys/roster-chain.ts';
import { parseLedgerMessage } from '../../protocol/log/message.ts';
import { hasMember, majorityOf, type Member } from '../../protocol/log/roster.ts';
import { RosterError } from '../../protocol/log/roster-error.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { CurrentRosters } from '../log/members/current-rosters.ts';

/** Texts of rosters that a member shows to anyone: those in force there, from a version on, and those that it named. */
export interface ShownRosters {
  readonly rosters: readonly string[];
  readonly named: readonly string[];
}

/** Asks a member at its public address for rosters from a version on. */
export type AskRosters = (baseUrl: string, from: number, signal: AbortSignal) => Promise<ShownRosters>;

export interface RosterInquiryOptions {
  readonly self: NodeId;
  readonly currentRosters: Pick<CurrentRosters, 'chain'>;
  readonly askRosters: AskRosters;
  /** Whether any member is connected. */
  readonly hasMet: () => boolean;
  /** The members say that the roster does not name this node any more. */
  readonly onRemoved: () => void;
  readonly rosterPatienceMs?: number;
  readonly log: Logger;
}

/** How long members have to come, before they are asked at their public addresses. In milliseconds. */
const PATIENCE_MS = 3_000;
/** Pauses before each further round. In milliseconds. */
const PAUSES_MS = [30_000, 120_000] as const;

/**
 * Asks the members at their public addresses which rosters are in force. A node that was removed while it was off is
 * dialled by nobody and refused by all, so nothing becomes final at it; this is how it hears, and signs no more: by the
 * word of a majority of the newest roster that it knows. The ledger names a roster once, so a node that starts and
 * meets nobody asks too.
 */
export class RosterInquiry implements AsyncDisposable {
  readonly #options: RosterInquiryOptions;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #isDue = false;

  constructor(options: RosterInquiryOptions) {
    this.#options = options;
  }

  /** The ledger names rosters that may not be known here, or this node has just started. Returns at once. */
  note(): void {
    if (this.#closing.signal.aborted) return;
    this.#isDue = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isDue && !this.#closing.signal.aborted) {
      this.#isDue = false;
      await this.#inquire();
    }
  }

  async #inquire(): Promise<void> {
    const { rosterPatienceMs = PATIENCE_MS, hasMet, onRemoved, currentRosters, log, self } = this.#options;
    const { signal } = this.#closing;
    for (const pause of [rosterPatienceMs, ...PAUSES_MS]) {
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // Anyone who is let in reads the log with the others. It may be hung up by the next round.
      if (hasMet()) continue;
      const known = currentRosters.chain;
      const shown = await this.#askAll(known);
      const newest = newestShown(known, shown);
      if (newest === known) continue;
      const { current } = newest;
      const { version } = current;
      if (hasMember(current, self)) {
        log.warn({ version }, 'the members have gone on to a newer roster: give this node a roster file of today');
        return;
      }
      log.error({ version }, 'A MAJORITY OF THE MEMBERS SAYS THAT THIS NODE WAS REMOVED');
      onRemoved();
      return;
    }
  }

  /** What each other member shows as in force; one that does not answer shows nothing. */
  async #askAll({ current }: RosterChain): Promise<readonly (readonly string[])[]> {
    const others = current.members.filter(({ node }) => node !== this.#options.self);
    return Promise.all(others.map((member) => this.#ask(member, current.version + 1)));
  }

  async #ask({ node, baseUrl }: Member, from: number): Promise<readonly string[]> {
    const { askRosters, log } = this.#options;
    try {
      return (await askRosters(baseUrl, from, this.#closing.signal)).rosters;
    } catch (error) {
      log.debug({ err: error, node }, 'a member does not show its rosters');
      return [];
    }
  }
}

/**
 * The rosters as far as a majority of the members of the newest known one shows the same. Of two members nobody can
 * show a majority: there none is removed without its own name.
 */
function newestShown(known: RosterChain, shown: readonly (readonly string[])[]): RosterChain {
  const needed = majorityOf(known.current);
  let chain = known;
  for (let place = 0; ; place++) {
    const texts = shown.flatMap((rosters) => rosters[place] ?? []);
    const next = texts.find((text) => texts.filter((other) => other === text).length >= needed);
    if (next === undefined) return chain;
    try {
      chain = chain.follow(nativeSuite, next);
    } catch (error) {
      if (error instanceof RosterError) return chain;
      throw error;
    }
  }
}

/** Rosters that messages of the topic name for this federation, whoever wrote them. */
export function rostersNamed(
  federation: Sha256Hash,
  messages: readonly { readonly message: Uint8Array }[],
): readonly Sha256Hash[] {
  return messages.flatMap(({ message }) => {
    // Most messages are of batches: they are not parsed.
    if (!Buffer.from(message.buffer, message.byteOffset, message.length).includes('"type":"roster"')) return [];
    try {
      const named = parseLedgerMessage(decodeUtf8(message));
      return named.type === 'roster' && named.federation === federation ? [named.statement] : [];
    } catch {
      return [];
    }
  });
}
