import type { Logger } from 'pino';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { MAX_ROSTER_CHARACTERS } from '../../protocol/log/roster-rules.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { PageClient } from './page-client.ts';
import { decodeItem } from './page-forms.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import type { CurrentRosters } from '../log/members/current-rosters.ts';
import type { AskRosters } from './roster-inquiry.ts';
import type { Transport } from '../transport/contract.ts';

/** Members asked at once. Each may send as much as the longest roster. */
const ASKED_AT_ONCE = 4;

export interface RosterTextsOptions {
  readonly self: NodeId;
  readonly currentRosters: Pick<CurrentRosters, 'chain' | 'inForce'>;
  readonly transport: Pick<Transport, 'peers'>;
  readonly pages: Pick<PageClient, 'readAtOnce'>;
  readonly askRosters: AskRosters;
  readonly faults: PeerFaults;
  readonly log: Logger;
}

/**
 * Looks for the text of a roster that a majority has named and that is not here: at the members that are connected,
 * then at all members' public addresses. The hash says whether a text is the one; a wrong one is refused.
 */
export class RosterTexts implements Disposable {
  readonly #options: RosterTextsOptions;
  readonly #closing = new AbortController();

  constructor(options: RosterTextsOptions) {
    this.#options = options;
  }

  /** Asks each once, until one shows it. Undefined where nobody does: to be asked again later. */
  async find(hash: Sha256Hash): Promise<string | undefined> {
    const { self, transport, currentRosters } = this.#options;
    const peers = transport.peers().filter(({ connected }) => connected);
    const others = currentRosters.chain.current.members.filter(({ node }) => node !== self);
    return (
      (await this.#firstOf(peers, ({ node }) =>
        this.#unlessSilent(nodeId(node), () => this.#askPeer(nodeId(node), hash)),
      )) ??
      (await this.#firstOf(others, ({ node, baseUrl }) =>
        this.#unlessSilent(node, () => this.#askAddress(baseUrl, hash)),
      ))
    );
  }

  [Symbol.dispose](): void {
    this.#closing.abort();
  }

  /** Some at a time: one that keeps its answer back must not hold up all the others. */
  async #firstOf<Asked>(
    all: readonly Asked[],
    ask: (asked: Asked) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    for (let at = 0; at < all.length && !this.#closing.signal.aborted; at += ASKED_AT_ONCE) {
      const texts = await Promise.all(all.slice(at, at + ASKED_AT_ONCE).map(ask));
      const found = texts.find((text) => text !== undefined);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async #unlessSilent(node: NodeId, ask: () => Promise<string | undefined>): Promise<string | undefined> {
    try {
      return await ask();
    } catch (error) {
      this.#options.faults.noteError(node, error);
      this.#options.log.debug({ err: error, node }, 'a member does not show the text of a roster');
      return undefined;
    }
  }

  async #askPeer(peer: NodeId, hash: Sha256Hash): Promise<string | undefined> {
    const { pages } = this.#options;
    let text = '';
    // The log stands still until it has the text: it does not wait for pages of a chain.
    for await (const frame of pages.readAtOnce(peer, { want: 'roster', hash }, this.#closing.signal)) {
      const item = decodeItem(frame);
      if (item.kind !== 'roster') throw new PeerStatementError('malformed', `a ${item.kind} instead of a roster`);
      text += item.part;
      if (text.length > MAX_ROSTER_CHARACTERS) throw new PeerStatementError('malformed', 'a roster that is too long');
    }
    if (text === '') return undefined;
    if (hashText(nativeSuite, text) !== hash) throw new PeerStatementError('forged', 'the text of another roster');
    return text;
  }

  async #askAddress(baseUrl: string, hash: Sha256Hash): Promise<string | undefined> {
    const { askRosters, currentRosters } = this.#options;
    const { rosters, named } = await askRosters(
      baseUrl,
      currentRosters.inForce.rosters.length + 1,
      this.#closing.signal,
    );
    return [...rosters, ...named].find((text) => text.isWellFormed() && hashText(nativeSuite, text) === hash);
  }
}
