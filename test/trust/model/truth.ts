import * as assert from 'uvu/assert';
import { FederationLog } from '../../../node/log/federation-log.ts';
import { type Sha256Hash, writeSha384 } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { parseLedgerMessage } from '../../../protocol/log/message.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';
import { referenceDecisions } from '../../protocol/log/reference-decisions.ts';
import type { Setting } from './setting.ts';

/** What the true ledger decides: the log of somebody who reads it whole and misses no roster. */
export class Truth {
  readonly #setting: Setting;
  readonly #log: FederationLog;
  readonly #roots: Sha256Hash[] = [];
  readonly #decided = new Map<string, Sha256Hash>();

  private constructor(setting: Setting, log: FederationLog) {
    this.#setting = setting;
    this.#log = log;
  }

  static async of(setting: Setting): Promise<Truth> {
    const truth = new Truth(setting, await FederationLog.open(new MemoryRows(), setting.genesisText));
    truth.#roots.push(await truth.#log.rootAt(0));
    return truth;
  }

  get size(): number {
    return this.#log.size;
  }

  /** Root of the true log at a size; undefined where it is not as large. */
  rootAt(size: number): Sha256Hash | undefined {
    return this.#roots[size];
  }

  /** Hash of the envelope that was decided for a batch. */
  decided(node: NodeId, batch: number): Sha256Hash | undefined {
    return this.#decided.get(`${node}/${batch}`);
  }

  /** Reads what the ledger has by now. */
  async follow(): Promise<void> {
    const unread = this.#messages(this.#log.state.sequence);
    if (unread.length === 0) return;
    for (const text of this.#setting.rosters.values()) await this.#log.keepRoster(text);
    const { decided, needs } = await this.#log.take(unread);
    if (needs !== null) throw new Error('every roster of the model is signed by an operator');
    for (const { named } of decided) {
      if (named.type === 'batch') this.#decided.set(`${named.node}/${named.batch}`, named.envelope);
    }
    while (this.#roots.length <= this.#log.size) this.#roots.push(await this.#log.rootAt(this.#roots.length));
  }

  /** The log is what a naive reading of the whole ledger comes to. */
  async compareWithReference(): Promise<void> {
    const { genesis, federation, rosters } = this.#setting;
    const naive = referenceDecisions(genesis, federation, this.#messages(0), (hash) => rosters.get(hash) ?? null);
    const entries = await this.#log.entries(0, this.#log.size);
    const sequences = entries.map((text) => Number(decisionText.parse(text).sequence));
    assert.equal(sequences, naive, 'the log is not what the ledger says');
    for (const text of entries) parseLedgerMessage(decisionText.parse(text).message);
  }

  #messages(after: number): TopicMessage[] {
    const { messages } = this.#setting.truth;
    return messages.slice(after).map(({ sequence, consensusTimestamp, payer, message, runningHash }) => {
      return { sequence, consensusTimestamp, payer, message, runningHash: writeSha384(runningHash) };
    });
  }
}
