import * as assert from 'uvu/assert';
import { mirrorSource } from '../../../../node/anchoring/topic/message-source.ts';
import { type EntityId, type NodeId, nodeId } from '../../../../protocol/ids.ts';
import { until } from '../../../fixtures/until.ts';
import { temporaryDirectory } from '../anchoring-node.ts';
import type { LedgerProcess } from '../ledger/ledger-process.ts';
import { type MemberOptions, ReadingMember } from './reading-member.ts';
import { ScriptedMirror, type Story } from './scripted-mirror.ts';
import { forkOf, texts } from './topic-chain.ts';
import { TopicWriter } from './topic-writer.ts';

export const SELF: NodeId = nodeId('eu');

/** A topic of its own on a running ledger, with mirrors in front of it, and members that read them. */
export class Scene implements AsyncDisposable {
  readonly topicId: EntityId;
  readonly writer: TopicWriter;
  readonly mirrors: Readonly<Record<string, ScriptedMirror>>;
  readonly directory: string;
  readonly #closing: AsyncDisposableStack;

  private constructor(
    base: Pick<Scene, 'topicId' | 'writer' | 'mirrors' | 'directory'>,
    closing: AsyncDisposableStack,
  ) {
    this.topicId = base.topicId;
    this.writer = base.writer;
    this.mirrors = base.mirrors;
    this.directory = base.directory;
    this.#closing = closing;
  }

  static async start(ledger: LedgerProcess, names: readonly string[]): Promise<Scene> {
    await using starting = new AsyncDisposableStack();
    const topicId = await ledger.createTopic();
    const directory = starting.use(await temporaryDirectory());
    const writer = starting.use(await TopicWriter.open(ledger.config(topicId)));
    const mirrors: Record<string, ScriptedMirror> = {};
    for (const name of names) mirrors[name] = starting.use(await ScriptedMirror.start(ledger.mirrorUrl, topicId));
    return new Scene({ topicId, writer, mirrors, directory: directory.path }, starting.move());
  }

  mirror(name: string): ScriptedMirror {
    const mirror = this.mirrors[name];
    if (mirror === undefined) throw new RangeError(`no mirror ${name}`);
    return mirror;
  }

  async open(options: Partial<MemberOptions> = {}, folder = 'member'): Promise<ReadingMember> {
    const sources = Object.entries(this.mirrors).map(([name, { url }]) => mirrorSource(name, [url], this.topicId));
    const { topicId } = this;
    const base = { topicId, sources, topicInfo: null, self: SELF, members: [SELF] };
    return ReadingMember.open(`${this.directory}/${folder}`, { ...base, ...options });
  }

  async write(count: number, name = 'message'): Promise<string[]> {
    const written = texts(count, name);
    for (const text of written) await this.writer.write(text);
    return written;
  }

  /** In any order, and faster. */
  async writeAtOnce(count: number, name = 'message'): Promise<void> {
    await Promise.all(texts(count, name).map((text) => this.writer.write(text)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#closing.disposeAsync();
  }
}

/** A mirror that invents what follows from a sequence number on, in messages that link. */
export const forged =
  ({ topicId }: Scene, from: number, name = 'never sent'): Story =>
  (messages) =>
    messages.length + 1 < from ? messages : forkOf(messages, from, name, { length: messages.length + 2, topicId });

/** Waits until a member has processed so many messages, and no more. */
export async function hasProcessed(member: ReadingMember, count: number): Promise<void> {
  await until(`${count} messages processed`, () => member.reading.state().position.sequence >= count);
  assert.is(member.reading.state().position.sequence, count);
}

/** What a mirror is named for. */
export function contradictionOf(member: ReadingMember, host: string): string | undefined {
  return member.reading.state().sources.find((source) => source.host === host)?.contradiction?.kind;
}
