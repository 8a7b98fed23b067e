import { type DecisionState, rosterInForce } from '../../protocol/log/decision-state.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { Roster } from '../../protocol/log/roster.ts';
import type { ConsensusTimestamp } from '../../protocol/time.ts';
import type { TopicMessage } from '../../protocol/log/decide.ts';
import type { Advance, FederationLog } from '../../node/log/federation-log.ts';
import { RosterLackingError, takeFinal } from '../../node/log/take-final.ts';
import { nativeSuite } from '../../node/keys/native-suite.ts';
import type { MessageSource } from '../../node/anchoring/topic/message-source.ts';
import type { Alerts, NoticeCode } from './alerts.ts';
import { MirrorReading } from './mirror-reading.ts';
import type { NameWatch } from './name-watch.ts';
import type { StatementWatch } from './statement-watch.ts';
import type { AnsweringNode, WatchedNodes } from './watched-nodes.ts';

export interface LogWatchOptions {
  readonly log: FederationLog;
  readonly statements: StatementWatch;
  readonly names: NameWatch;
  readonly nodes: WatchedNodes;
  readonly sources: readonly MessageSource[];
  /** Of the last message that the log has read; null before the first. */
  readonly consensusTimestamp: ConsensusTimestamp | null;
  readonly alerts: Alerts;
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly onNotice: (code: NoticeCode, subject: string, detail: string) => void;
}

/** Pages of one node's rosters in one round at most. */
const MAX_PAGES = 16;
/** From the decision on a roster until every node goes by it. In milliseconds. */
const ROSTER_PATIENCE_MS = 60_000;

/**
 * Builds the federation's log from the ledger: what mirrors tell goes through `decide`, and nodes are asked for nothing
 * but the texts of rosters, which are known by their hashes.
 *
 * Crash order: decisions, tree and position land in one write, page by page; what was noted beside them of a page is
 * lost where the process dies before the end of the round.
 */
export class LogWatch {
  readonly #options: LogWatchOptions;
  readonly #mirrors: MirrorReading;
  #needsRoster: Sha256Hash | null = null;

  constructor(options: LogWatchOptions) {
    this.#options = options;
    const { log, statements, sources, consensusTimestamp } = options;
    const { sequence, runningHash, ledger } = log.state;
    this.#mirrors = new MirrorReading({
      ...options,
      sources,
      topicId: ledger.topicId,
      head: { sequence, runningHash, consensusTimestamp },
      members: statements.roster.members.map(({ node }) => node),
    });
  }

  get state(): DecisionState {
    return this.#options.log.state;
  }

  /** Of the last message that was read; null before the first. */
  get consensusTimestamp(): ConsensusTimestamp | null {
    return this.#mirrors.position.consensusTimestamp;
  }

  /** Whether the ledger was read to an end in this round, so that an absence counts. */
  get atEnd(): boolean {
    return this.#mirrors.atEnd && this.#needsRoster === null;
  }

  /** Whether no mirror tells more than was read. */
  get isWhole(): boolean {
    return this.atEnd && this.#mirrors.isWhole;
  }

  /** Reads what is new on the ledger. */
  async read(): Promise<void> {
    const { statements, nodes } = this.#options;
    for (const [member, { view }] of nodes.byMember(statements.roster.members)) {
      if (view.agreed !== null) this.#mirrors.noteTold(member, view.agreed);
    }
    this.#needsRoster = null;
    await this.#mirrors
      .read((messages) => this.#take(messages))
      .catch((error: unknown) => {
        if (!(error instanceof RosterLackingError)) throw error;
      });
  }

  /** Lets a round pass without reading: there is enough to work on. */
  rest(): void {
    this.#mirrors.rest();
  }

  /** Says what is wrong with the ledger as it is told. */
  async see(): Promise<void> {
    this.#mirrors.see();
    const { alerts, now } = this.#options;
    if (this.#needsRoster !== null) {
      alerts.see(
        'statement-withheld',
        this.#needsRoster,
        'the ledger put this roster in force; no node shows it',
        now(),
      );
    }
    if (this.isWhole && (await this.#isRosterOld())) this.#seeRosters();
  }

  #seeRosters(): void {
    const { alerts, now, nodes, statements } = this.#options;
    const inForce = rosterInForce(this.state);
    for (const [member, { node, view }] of nodes.byMember(statements.roster.members)) {
      if (view.roster === null || view.roster === inForce) continue;
      alerts.see(
        'roster-differs',
        node.url,
        `${member} goes by roster ${view.roster}, the ledger by ${inForce}`,
        now(),
      );
    }
  }

  /** Whether nodes had the time to read which roster is in force. */
  async #isRosterOld(): Promise<boolean> {
    const { log, now } = this.#options;
    const index = this.state.rosters.at(-1)?.index ?? null;
    if (index === null) return true;
    return now() - Date.parse(await log.timeOf(index)) > ROSTER_PATIENCE_MS;
  }

  async #take(messages: readonly TopicMessage[]): Promise<void> {
    const { log, names } = this.#options;
    const texts = new Map<Sha256Hash, string>();
    try {
      await takeFinal(log, messages, {
        textOf: (hash) => texts.get(hash),
        onAdvance: async (advance) => {
          await this.#noteAdvance(advance);
          const { needs } = advance;
          const text = needs === null ? null : await this.#fetchRoster(needs);
          if (needs !== null && text !== null) texts.set(needs, text);
        },
      });
    } finally {
      names.take(
        messages.filter(({ sequence }) => sequence <= log.state.sequence),
        log.state,
      );
    }
  }

  async #noteAdvance({ decided, needs }: Advance): Promise<void> {
    const { statements, onNotice } = this.#options;
    this.#needsRoster = needs;
    for (const { named, decision } of decided) {
      if (named.type !== 'revocation') continue;
      onNotice('key-revoked', `${named.node} ${named.keyId}`, `in force from ${decision.consensusTimestamp}`);
    }
    const added: readonly Roster[] = decided.length === 0 ? [] : await statements.followLog();
    for (const { version, members } of added) {
      onNotice('roster-in-force', `roster ${version}`, `members ${members.map(({ node }) => node).join(', ')}`);
    }
    if (added.length > 0) this.#mirrors.setMembers(statements.roster.members.map(({ node }) => node));
  }

  /** Its text, whoever shows it: the hash says that it is the one. Null where no node does. */
  async #fetchRoster(hash: Sha256Hash): Promise<string | null> {
    const { nodes } = this.#options;
    for (const { node } of nodes.answering) {
      const text = await nodes.ask(node, () => this.#askFor(node, hash));
      if (text !== undefined && text !== null) return text;
    }
    return null;
  }

  async #askFor(node: AnsweringNode['node'], hash: Sha256Hash): Promise<string | null> {
    let from: number | null = this.state.rosters.length + 1;
    for (let page = 0; from !== null && page < MAX_PAGES; page++) {
      const answer: Awaited<ReturnType<typeof node.rosters>> = await node.rosters(from);
      for (const text of [...answer.rosters, ...answer.named]) if (hashText(nativeSuite, text) === hash) return text;
      from = answer.nextFrom;
    }
    return null;
  }
}
