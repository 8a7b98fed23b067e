import { FederationLog } from '../../../node/log/federation-log.ts';
import { takeFinal } from '../../../node/log/take-final.ts';
import { utf8 } from '../../../protocol/bytes.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { type Checkpoint, checkpointStatement, type SignedCheckpoint } from '../../../protocol/log/checkpoint.ts';
import { decisionText } from '../../../protocol/log/decision.ts';
import { encodeEntries } from '../../../protocol/log/entries-tile.ts';
import { parseLedgerMessage } from '../../../protocol/log/message.ts';
import { parseTilePath } from '../../../protocol/log/tile-path.ts';
import { TILE_WIDTH } from '../../../protocol/merkle/tiles.ts';
import { signStatement } from '../../../protocol/statement/statement.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import type { TestFederation } from '../../fixtures/federation.ts';
import { MemoryRows } from '../../fixtures/memory-rows.ts';
import type { PlacedMessage } from '../../fixtures/federation-topic.ts';

/** The log that every honest member of a test federation builds from its topic, and the checkpoints that it signs. */
export class HonestLog {
  readonly #federation: TestFederation;
  readonly #log: FederationLog;
  readonly #signed = new Map<string, Promise<SignedCheckpoint>>();
  #following: Promise<void> = Promise.resolve();

  private constructor(federation: TestFederation, log: FederationLog) {
    this.#federation = federation;
    this.#log = log;
  }

  static async open(federation: TestFederation): Promise<HonestLog> {
    return new HonestLog(federation, await FederationLog.open(new MemoryRows(), federation.genesis.statement));
  }

  get size(): number {
    return this.#log.size;
  }

  /** Hashes of the rosters that came into force. */
  get rosters(): readonly Sha256Hash[] {
    return this.#log.state.rosters.map(({ hash }) => hash);
  }

  rootAt(size: number): Promise<Sha256Hash> {
    return this.#log.rootAt(size);
  }

  /** Reads the topic as it is now. */
  follow(messages: readonly PlacedMessage[]): Promise<void> {
    this.#following = this.#following.then(() => this.#follow(messages));
    return this.#following;
  }

  /** Bytes of a tile by its path; undefined where the log has none. */
  async tile(path: string): Promise<Uint8Array | undefined> {
    const { level, index, width } = parseTilePath(path);
    if (level !== 'entries') return this.#log.tile(level, index, width);
    if (index * TILE_WIDTH + width > this.size) return undefined;
    return encodeEntries((await this.#log.entries(index * TILE_WIDTH, width)).map(utf8));
  }

  /** A member's checkpoint over the first decisions, vouching for all of them, or what a liar signs in its place. */
  checkpoint(
    node: string,
    size: number,
    change: (checkpoint: Checkpoint) => Partial<Checkpoint> = () => ({}),
  ): Promise<SignedCheckpoint> {
    const { signer } = this.#federation.member(node).key;
    const name = `${node} ${size} ${signer.keyId} ${change}`;
    const signed = this.#signed.get(name) ?? this.#sign(node, size, change);
    this.#signed.set(name, signed);
    return signed;
  }

  async #sign(
    node: string,
    size: number,
    change: (checkpoint: Checkpoint) => Partial<Checkpoint>,
  ): Promise<SignedCheckpoint> {
    const { signer } = this.#federation.member(node).key;
    const vouched: Checkpoint['vouched'] = {};
    for (const text of await this.#log.entries(0, size)) {
      const named = parseLedgerMessage(decisionText.parse(text).message);
      if (named.type === 'batch') vouched[named.node] = named.batch;
    }
    const checkpoint: Checkpoint = {
      v: 1,
      type: 'checkpoint',
      federation: this.#log.state.federation,
      node: nodeId(node),
      keyId: signer.keyId,
      size,
      root: await this.#log.rootAt(size),
      vouched,
    };
    const { statement: text, signature } = await signStatement(
      checkpointStatement,
      { ...checkpoint, ...change(checkpoint) },
      signer,
    );
    return { text, signature };
  }

  async #follow(messages: readonly PlacedMessage[]): Promise<void> {
    const unread = messages.filter(({ sequence }) => Number(sequence) > this.#log.state.sequence);
    const rosters = this.#federation.rosters.map((text) => [hashText(nobleSuite, text), text] as const);
    const texts = new Map(rosters);
    const topic = unread.map(({ sequence, consensusTimestamp, payer, message, runningHash }) => {
      return { sequence: Number(sequence), consensusTimestamp, payer, message: utf8(message), runningHash };
    });
    await takeFinal(this.#log, topic, { textOf: (hash) => texts.get(hash), onAdvance: () => Promise.resolve() });
  }
}
